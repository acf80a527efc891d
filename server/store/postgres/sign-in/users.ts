// The users of the store on PostgreSQL. Their laws are in functions/sign-in/users.sql.
import { erasedKey } from '../../erased-key.ts'
import { namespaceOf, prefixOf } from '../../namespaces.ts'
import type { Audited, Credentials, Input, NewUser, Profile, PutUser, User } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { audited, auditText } from './audit-text.ts'
import { signalEndOfProofs } from './end-of-proofs.ts'
import { userColumns } from './user-columns.ts'

type Added = 'added' | 'username-taken' | 'external-id-taken'

const addUserText = audited('add_new_user($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)', {
  outcome: "'added'",
  entries: '$11',
})

export async function addUser(db: Database, user: NewUser & Audited): Promise<Added> {
  const { id, username, passwordHash, displayName, createdAt } = user
  const { externalId = null, locale = null, email = null, emailVerifiedAt = null } = user
  const values = [
    id,
    username,
    passwordHash,
    externalId,
    namespaceOf(user),
    displayName,
    locale,
    email,
    createdAt,
    emailVerifiedAt,
  ]
  const row = await db.one('addUser', addUserText, [...values, auditText(user.audit)])
  return row?.[0] as Added
}

/** One entry for each external id, with the later values, by the id that a new user gets. */
function byNewId(users: Input<'putUsers'>['users']): Record<string, unknown> {
  const merged = new Map<string, Input<'putUsers'>['users'][number]>()
  for (const user of users) merged.set(user.externalId, { ...user, ...merged.get(user.externalId), ...profileOf(user) })
  return Object.fromEntries(merged.values().map(({ newId, ...user }) => [newId, user]))
}

/** The fields that are given. */
function profileOf({ displayName, locale, email, emailVerifiedAt }: Profile): Profile {
  return {
    ...(displayName !== undefined && { displayName }),
    ...(locale !== undefined && { locale }),
    ...(email !== undefined && { email }),
    ...(emailVerifiedAt !== undefined && { emailVerifiedAt }),
  }
}

export async function putUsers(db: Database, { at, users, ...namespace }: Input<'putUsers'>): Promise<PutUser[]> {
  const text = `select ${userColumns}, changed from store_users($1, $2, $3) stored, lateral (select (stored.one).*) of_user`
  const rows = await db.objects<User & { changed: boolean }>('putUsers', text, [
    namespaceOf(namespace),
    at,
    JSON.stringify(byNewId(users)),
  ])
  const found = new Map(rows.map(({ changed, ...user }) => [user.externalId, { user, changed }]))
  const offered = new Set(users.map(({ newId }) => newId))
  return users.map(({ externalId, entry }) => {
    const { user, changed } = found.get(externalId) as { user: User; changed: boolean }
    // The id is one of the offered ones only if this call created the user.
    const created = offered.delete(user.id)
    return { user, created, ...(entry !== undefined && (created || changed) && { recorded: true as const }) }
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
  { externalId, ...namespace }: Input<'findUserByExternalId'>,
): Promise<User | undefined> {
  const text = `select ${userColumns} from "user" where external_id = $1 and issuer = $2`
  return (await db.objects<User>('userByExternalId', text, [externalId, namespaceOf(namespace)]))[0]
}

export async function findCredentials(db: Database, username: string): Promise<Credentials | undefined> {
  const text = `select ${userColumns}, password_hash as "passwordHash" from "user"
      where username = $1 and password_hash is not null`
  return (await db.objects<Credentials>('credentials', text, [username]))[0]
}

export async function findUsersByEmail(
  db: Database,
  { email, limit, canSignIn = false }: Input<'findUsersByEmail'>,
): Promise<User[]> {
  const text = `select ${userColumns} from "user" where lower(email collate "C") = lower($1 collate "C") and email is not null
      and username is not null and (not $3 or (email_verified_at is not null and strpos(issuer, chr(1)) = 0))
      order by strpos(issuer, chr(1)) > 0, id limit $2`
  return db.objects('usersByEmail', text, [email, limit, canSignIn])
}

// In the collation "C", lower() changes ASCII letters only, as on SQLite.
const contains = ['username', 'display_name', 'email', 'external_id']
  .map((column) => `strpos(lower(${column} collate "C"), lower($3 collate "C")) > 0`)
  .join(' or ')

export async function listUsers(db: Database, query: Input<'listUsers'>): Promise<User[]> {
  const { after, limit, search = '', externalId, issuer, application } = query
  const prefix = prefixOf(application)
  const namespace = issuer === undefined ? null : namespaceOf({ application, issuer })
  if (externalId === undefined) {
    if (prefix !== '') {
      const text = `select ${userColumns} from "user"
        where strpos(issuer, chr(1)) > 0 and substr(issuer, 1, strpos(issuer, chr(1))) = $4 and id > $1
          and ($3 = '' or ${contains}) order by id limit $2`
      return db.objects('usersOfApplication', text, [after, limit, search, prefix])
    }
    const text = `select ${userColumns} from "user" where id > $1 and ($3 = '' or ${contains}) order by id limit $2`
    return db.objects('users', text, [after, limit, search])
  }
  const text = `select ${userColumns} from "user"
      where external_id = $4 and ($5::text is null or issuer = $5) and starts_with(issuer, $6) and id > $1
        and ($3 = '' or ${contains}) order by id limit $2`
  return db.objects('usersByExternalId', text, [after, limit, search, externalId, namespace, prefix])
}

export async function updateUser(
  db: Database,
  { userId, username, audit, ...profile }: Input<'updateUser'>,
): Promise<'done' | 'absent' | 'username-taken'> {
  const text = audited('update_user($1, $2, $3)', { outcome: "'done'", entries: '$4' })
  const values = [userId, username ?? null, JSON.stringify(profileOf(profile)), auditText(audit)]
  const row = await db.one('updateUser', text, values)
  return row?.[0] as 'done' | 'absent' | 'username-taken'
}

export async function disableUser(db: Database, change: Input<'disableUser'>): Promise<'done' | 'absent'> {
  const { userId, at, revocationExpiresAt, audit } = change
  const text = audited('disable_user($1, $2, $3)', { outcome: 'true', entries: '$4' })
  const row = await db.one('disableUser', text, [userId, at, revocationExpiresAt, auditText(audit)])
  if (row?.[0] !== true) return 'absent'
  signalEndOfProofs(db, userId)
  return 'done'
}

export async function enableUser(db: Database, { userId, audit }: Input<'enableUser'>): Promise<'done' | 'absent'> {
  const text = audited('enable_user($1)', { outcome: 'true', entries: '$2' })
  const row = await db.one('enableUser', text, [userId, auditText(audit)])
  return row?.[0] === true ? 'done' : 'absent'
}

export async function setPassword(db: Database, change: Input<'setPassword'>): Promise<'done' | 'absent' | 'refused'> {
  const { userId, passwordHash, at, revocationExpiresAt } = change
  const spared = [change.exceptSignInId ?? null, change.exceptGeneration ?? null]
  const values = [userId, passwordHash, at, revocationExpiresAt, ...spared, auditText(change.audit)]
  const row = await db.one('setPassword', 'select change_password($1, $2, $3, $4, $5, $6, $7)', values)
  const outcome = row?.[0] as 'done' | 'absent' | 'refused'
  if (outcome === 'done') signalEndOfProofs(db, userId)
  return outcome
}

export async function resetFactors(db: Database, change: Input<'resetFactors'>): Promise<number | 'absent'> {
  const { userId, at, revocationExpiresAt, audit } = change
  const values = [userId, at, revocationExpiresAt, auditText(audit)]
  const removed = (await db.one('resetFactors', 'select reset_factors($1, $2, $3, $4)', values))?.[0] as number | null
  if (removed === null) return 'absent'
  signalEndOfProofs(db, userId)
  return removed
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
  const row = await db.one('deleteUser', 'select erase_user($1, $2, $3, $4, $5)', values)
  if (row?.[0] !== true) return 'absent'
  signalEndOfProofs(db, userId)
  db.changeSignals.send({ about: 'inbox', userId })
  return 'done'
}
