// What was sealed with another secret, on PostgreSQL. The write is in functions/sign-in/sealed-texts.sql.
import type { Input, SealedFactor } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'

export async function factorsSealedOtherwise(
  db: Database,
  { prefix, after, limit }: Input<'factorsSealedOtherwise'>,
): Promise<SealedFactor[]> {
  const text = `
    select user_id as "userId", id, sealed_secret as "sealedSecret" from factor
    where (user_id, id) > ($1, $2) and sealed_secret is not null and not starts_with(sealed_secret, $3)
    order by user_id, id limit $4`
  return db.objects('factorsSealedOtherwise', text, [after.userId, after.id, prefix, limit])
}

export async function resealFactors(db: Database, { factors, audit }: Input<'resealFactors'>): Promise<number> {
  const values = [JSON.stringify(factors), auditText(audit)]
  const row = await db.one('resealFactors', 'select reseal_factors($1, $2)', values)
  return Number(row?.[0] ?? 0)
}
