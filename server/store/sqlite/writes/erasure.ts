// Erases a user: every row of the user, and the user in the outcomes of deliveries. One write, so that nothing is left half done.
import { erasedKey } from '../../erased-key.ts'
import type { DeliveryOutcome, Input } from '../../store.ts'
import type { WriteContext } from './context.ts'
import { recordAudit } from './sign-in/audit.ts'
import { forgetGuesses } from './sign-in/guesses.ts'
import { revokeTokens } from './sign-in/tokens.ts'

export function deleteUser(context: WriteContext, change: Input<'deleteUser'>): 'done' | 'absent' {
  const { sql, signal } = context
  const { userId, at, revocationExpiresAt } = change
  const erased = sql.get`delete from user where id = ${userId} returning number`
  if (erased === undefined) return 'absent'
  const user = erased.number as number
  sql.run`delete from session where user_id = ${userId}`
  sql.run`delete from inbox where user_number = ${user}`
  sql.run`delete from notification where user_number = ${user}`
  sql.run`delete from category_read_mark where user_number = ${user}`
  sql.run`delete from read_mark where user_number = ${user}`
  sql.run`delete from token_cutoff where user_id = ${userId}`
  sql.run`delete from known_device where user_id = ${userId}`
  sql.run`delete from one_time_link where user_id = ${userId}`
  sql.run`delete from factor where user_id = ${userId}`
  sql.run`delete from recovery_code where user_id = ${userId}`
  sql.run`delete from challenge where user_id = ${userId}`
  sql.run`delete from audit where user_id = ${userId}`
  sql.run`delete from provider_account where owner_id = ${userId}`
  forgetGuesses(context, { prefix: `user ${userId} ` })
  removeFromOutcomes(sql, userId)
  revokeTokens(context, { userId: erasedKey(userId), signInId: null, at, expiresAt: revocationExpiresAt })
  recordAudit(context, change.audit)
  signal({ about: 'session', userId })
  signal({ about: 'inbox', userId })
  return 'done'
}

function removeFromOutcomes(sql: WriteContext['sql'], userId: string): void {
  const found = sql.all`
    select producer_id, idempotency_key, answer from delivery where instr(answer, ${userId}) > 0`
  for (const { producer_id, idempotency_key, answer } of found) {
    const { deliveryId, results } = JSON.parse(answer as string) as DeliveryOutcome
    const others = results.map((result) =>
      result.userId === userId ? { userId: null, id: null, status: 'unknown_recipient' } : result,
    )
    sql.run`
      update delivery set answer = ${JSON.stringify({ deliveryId, results: others })}
      where producer_id = ${producer_id as string} and idempotency_key = ${idempotency_key as string}`
  }
}
