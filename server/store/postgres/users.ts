// The users of the store on PostgreSQL. Their laws are in functions/users.sql.
import { columns, type Row, toCredentials, toUser } from '../rows.ts'
import type { NewUser, User } from '../store.ts'
import type { Database } from './connection/connection.ts'

export async function addUser(db: Database, user: NewUser): Promise<'added' | 'taken'> {
  const added = await db.change(
    'addUser',
    `insert into "user" (id, username, display_name, password_hash, created_at) values ($1, $2, $3, $4, $5)
      on conflict (username) do nothing`,
    [user.id, user.username, user.displayName, user.passwordHash, user.createdAt],
  )
  return added === 1 ? 'added' : 'taken'
}

export async function findUser(db: Database, userId: string): Promise<User | undefined> {
  const row = await db.one('user', `select ${columns.user} from "user" where id = $1`, [userId])
  return row && toUser(row)
}

export async function findCredentials(
  db: Database,
  username: string,
): Promise<(User & { passwordHash: string }) | undefined> {
  const text = `select ${columns.user}, password_hash from "user" where username = $1`
  const row = await db.one('credentials', text, [username])
  return row && toCredentials(row)
}

export async function listUsers(db: Database, { after, limit }: { after: string; limit: number }): Promise<User[]> {
  const text = `select ${columns.user} from "user" where username > $1 order by username limit $2`
  return (await db.all('users', text, [after, limit])).map(toUser)
}

export async function disableUser(
  db: Database,
  { userId, at, revocationExpiresAt }: { userId: string; at: number; revocationExpiresAt: number },
): Promise<'done' | 'absent'> {
  const row = await db.one('disableUser', 'select disable_user($1, $2, $3)', [userId, at, revocationExpiresAt])
  return signalEndOfProofs(db, userId, row)
}

export async function setPassword(
  db: Database,
  change: { userId: string; passwordHash: string; at: number; revocationExpiresAt: number },
): Promise<'done' | 'absent'> {
  const { userId, passwordHash, at, revocationExpiresAt } = change
  const values = [userId, passwordHash, at, revocationExpiresAt]
  return signalEndOfProofs(db, userId, await db.one('setPassword', 'select set_password($1, $2, $3, $4)', values))
}

function signalEndOfProofs(db: Database, userId: string, row: Row | undefined): 'done' | 'absent' {
  if (row?.[0] !== true) return 'absent'
  db.changeSignals.send({ about: 'session', userId })
  db.changeSignals.send({ about: 'token-revocation' })
  return 'done'
}
