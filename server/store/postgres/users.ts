// The users of the store on PostgreSQL. Their laws are in functions/users.sql.
import { erasedKey } from '../erased-key.ts'
import type { Credentials, Input, NewUser, Profile, User } from '../store.ts'
import { auditText } from './audit-text.ts'
import type { Database, Row } from './connection/connection.ts'
import { userColumns } from './user-columns.ts'

export async function addUser(db: Database, user: NewUser): Promise<'added' | 'username-taken' | 'external-id-taken'> {
  const { id, username, passwordHash, displayName, createdAt } = user
  const { externalId = null, issuer = '', locale = null, email = null } = user
  const values = [id, username, passwordHash, externalId, issuer, displayName, locale, email, createdAt]
  const row = await db.one('addUser', 'select add_user($1, $2, $3, $4, $5, $6, $7, $8, $9)', values)
  return row?.[0] as 'added' | 'username-taken' | 'external-id-taken'
}

/** One entry for each external id, with the later values, by the id that a new user gets. */
function byNewId(users: Input<'putUsers'>['users']): Record<string, unknown> {
  const merged = new Map<string, Input<'putUsers'>['users'][number]>()
  for (const user of users) merged.set(user.externalId, { ...user, ...merged.get(user.externalId), ...profileOf(user) })
  return Object.fromEntries(merged.values().map(({ newId, ...user }) => [newId, user]))
}

/** The fields that are given. */
function profileOf({ displayName, locale, email }: Profile): Profile {
  return {
    ...(displayName !== undefined && { displayName }),
    ...(locale !== undefined && { locale }),
    ...(email !== undefined && { email }),
  }
}

export async function putUsers(
  db: Database,
  { issuer, at, users }: Input<'putUsers'>,
): Promise<{ user: User; created: boolean }[]> {
  const text = `select ${userColumns} from put_users($1, $2, $3)`
  const rows = await db.objects<User>('putUsers', text, [issuer, at, JSON.stringify(byNewId(users))])
  const found = new Map(rows.map((user) => [user.externalId, user]))
  const offered = new Set(users.map(({ newId }) => newId))
  return users.map(({ externalId }) => {
    const user = found.get(externalId) as User
    // The id is one of the offered ones only if this call created the user.
    return { user, created: offered.delete(user.id) }
  })
}

export async function findUser(db: Database, userId: string): Promise<User | undefined> {
  return (await db.objects<User>('user', `select ${userColumns} from "user" where id = $1`, [userId]))[0]
}

export async function findUserByUsername(db: Database, username: string): Promise<User | undefined> {
  return (
    await db.objects<User>('userByUsername', `select ${userColumns} from "user" where username = $1`, [username])
  )[0]
}

export async function findUserByExternalId(
  db: Database,
  { issuer, externalId }: Input<'findUserByExternalId'>,
): Promise<User | undefined> {
  const text = `select ${userColumns} from "user" where external_id = $1 and issuer = $2`
  return (await db.objects<User>('userByExternalId', text, [externalId, issuer]))[0]
}

export async function findCredentials(db: Database, username: string): Promise<Credentials | undefined> {
  const text = `select ${userColumns}, password_hash as "passwordHash" from "user"
      where username = $1 and password_hash is not null`
  return (await db.objects<Credentials>('credentials', text, [username]))[0]
}

// In the collation "C", lower() changes ASCII letters only, as on SQLite.
const contains = ['username', 'display_name', 'email', 'external_id']
  .map((column) => `strpos(lower(${column} collate "C"), lower($3 collate "C")) > 0`)
  .join(' or ')

export async function listUsers(db: Database, query: Input<'listUsers'>): Promise<User[]> {
  const { after, limit, search = '', externalId, issuer = null } = query
  if (externalId === undefined) {
    const text = `select ${userColumns} from "user" where id > $1 and ($3 = '' or ${contains}) order by id limit $2`
    return db.objects('users', text, [after, limit, search])
  }
  const text = `select ${userColumns} from "user"
      where external_id = $4 and ($5::text is null or issuer = $5) and id > $1 and ($3 = '' or ${contains})
      order by id limit $2`
  return db.objects('usersByExternalId', text, [after, limit, search, externalId, issuer])
}

export async function updateUser(
  db: Database,
  { userId, username, ...profile }: Input<'updateUser'>,
): Promise<'done' | 'absent' | 'username-taken'> {
  const values = [userId, username ?? null, JSON.stringify(profileOf(profile))]
  const row = await db.one('updateUser', 'select update_user($1, $2, $3)', values)
  return row?.[0] as 'done' | 'absent' | 'username-taken'
}

export async function disableUser(db: Database, change: Input<'disableUser'>): Promise<'done' | 'absent'> {
  const { userId, at, revocationExpiresAt } = change
  const row = await db.one('disableUser', 'select disable_user($1, $2, $3)', [userId, at, revocationExpiresAt])
  return signalEndOfProofs(db, userId, row)
}

export async function enableUser(db: Database, { userId }: Input<'enableUser'>): Promise<'done' | 'absent'> {
  const row = await db.one('enableUser', 'select enable_user($1)', [userId])
  return row?.[0] === true ? 'done' : 'absent'
}

export async function setPassword(db: Database, change: Input<'setPassword'>): Promise<'done' | 'absent'> {
  const { userId, passwordHash, at, revocationExpiresAt } = change
  const values = [userId, passwordHash, at, revocationExpiresAt]
  return signalEndOfProofs(db, userId, await db.one('setPassword', 'select set_password($1, $2, $3, $4)', values))
}

export async function resetFactors(db: Database, change: Input<'resetFactors'>): Promise<number | 'absent'> {
  const { userId, at, revocationExpiresAt, audit } = change
  const values = [userId, at, revocationExpiresAt, auditText(audit)]
  const removed = (await db.one('resetFactors', 'select reset_factors($1, $2, $3, $4)', values))?.[0] as number | null
  signalEndOfProofs(db, userId, [removed !== null])
  return removed ?? 'absent'
}

export async function rehashPassword(db: Database, change: Input<'rehashPassword'>): Promise<'done' | 'refused'> {
  const { userId, checkedPasswordHash, passwordHash } = change
  const values = [userId, checkedPasswordHash, passwordHash]
  const row = await db.one('rehashPassword', 'select rehash_password($1, $2, $3)', values)
  return row?.[0] === true ? 'done' : 'refused'
}

export async function deleteUser(db: Database, change: Input<'deleteUser'>): Promise<'done' | 'absent'> {
  const { userId, at, revocationExpiresAt } = change
  const values = [userId, erasedKey(userId), at, revocationExpiresAt, auditText(change.audit)]
  const outcome = signalEndOfProofs(
    db,
    userId,
    await db.one('deleteUser', 'select erase_user($1, $2, $3, $4, $5)', values),
  )
  if (outcome === 'done') db.changeSignals.send({ about: 'inbox', userId })
  return outcome
}

function signalEndOfProofs(db: Database, userId: string, row: Row | undefined): 'done' | 'absent' {
  if (row?.[0] !== true) return 'absent'
  db.changeSignals.send({ about: 'session', userId })
  db.changeSignals.send({ about: 'token-revocation' })
  return 'done'
}
