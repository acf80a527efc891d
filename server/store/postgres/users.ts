// The users of the store on PostgreSQL. Their laws are in functions/users.sql.
import type { Credentials, Input, NewUser, User } from '../store.ts'
import type { Database, Row } from './connection/connection.ts'

const columns = `id, username, display_name as "displayName", created_at as "createdAt", disabled_at as "disabledAt",
  credential_generation as "credentialGeneration", external_id as "externalId", issuer, locale, email,
  issued_generation as "issuedGeneration"`

export async function addUser(db: Database, user: NewUser): Promise<'added' | 'taken'> {
  const text = `insert into "user" (id, username, display_name, password_hash, created_at) values ($1, $2, $3, $4, $5)
      on conflict (username) do nothing`
  const values = [user.id, user.username, user.displayName, user.passwordHash, user.createdAt]
  return (await db.change('addUser', text, values)) === 1 ? 'added' : 'taken'
}

export async function findUser(db: Database, userId: string): Promise<User | undefined> {
  return (await db.objects<User>('user', `select ${columns} from "user" where id = $1`, [userId]))[0]
}

export async function findCredentials(db: Database, username: string): Promise<Credentials | undefined> {
  const text = `select ${columns}, password_hash as "passwordHash" from "user" where username = $1`
  return (await db.objects<Credentials>('credentials', text, [username]))[0]
}

export async function listUsers(db: Database, { after, limit }: Input<'listUsers'>): Promise<User[]> {
  const text = `select ${columns} from "user" where username > $1 order by username limit $2`
  return db.objects('users', text, [after, limit])
}

export async function disableUser(db: Database, change: Input<'disableUser'>): Promise<'done' | 'absent'> {
  const { userId, at, revocationExpiresAt } = change
  const row = await db.one('disableUser', 'select disable_user($1, $2, $3)', [userId, at, revocationExpiresAt])
  return signalEndOfProofs(db, userId, row)
}

export async function setPassword(db: Database, change: Input<'setPassword'>): Promise<'done' | 'absent'> {
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
