// Replaces what was sealed with another secret. The write runs in the writer thread's transaction.
import type { Input } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

export function resealFactors(context: WriteContext, { factors, audit }: Input<'resealFactors'>): number {
  let replaced = 0
  for (const { userId, id, from, to } of factors) {
    const { changes } = context.sql.run`
      update factor set sealed_secret = ${to} where user_id = ${userId} and id = ${id} and sealed_secret = ${from}`
    replaced += Number(changes)
  }
  if (replaced > 0) recordAudit(context, audit)
  return replaced
}
