// Adds users, disables them and sets their passwords. Each write runs in the writer thread's transaction.
import type { Input, NewUser } from '../../store.ts'
import type { WriteContext } from './context.ts'
import { revokeTokens } from './tokens.ts'

export function addUser({ sql }: WriteContext, user: NewUser): 'added' | 'taken' {
  const { changes } = sql.run`
    insert into user (id, username, display_name, password_hash, created_at)
    values (${user.id}, ${user.username}, ${user.displayName}, ${user.passwordHash}, ${user.createdAt})
    on conflict (username) do nothing`
  return changes === 1 ? 'added' : 'taken'
}

export function disableUser(context: WriteContext, change: Input<'disableUser'>): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update user set disabled_at = coalesce(disabled_at, ${change.at}), credential_generation = credential_generation + 1
    where id = ${change.userId}`
  if (changes === 0) return 'absent'
  endSessionsAndTokens(context, change)
  return 'done'
}

export function setPassword(context: WriteContext, change: Input<'setPassword'>): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update user set password_hash = ${change.passwordHash}, disabled_at = null,
      credential_generation = credential_generation + 1
    where id = ${change.userId}`
  if (changes === 0) return 'absent'
  endSessionsAndTokens(context, change)
  return 'done'
}

function endSessionsAndTokens(context: WriteContext, change: Input<'disableUser'>): void {
  const { userId, at, revocationExpiresAt } = change
  context.sql.run`delete from session where user_id = ${userId}`
  context.signal({ about: 'session', userId })
  revokeTokens(context, { userId, signInId: null, notBefore: at, expiresAt: revocationExpiresAt })
  context.sql.run`
    update token_cutoff set first_generation = (select credential_generation from user where id = ${userId})
    where user_id = ${userId} and sign_in_id = ''`
}
