// Reads users: one by id or external id, one with the password hash, or a list.

import { namespaceOf, prefixOf } from '../../../namespaces.ts'
import type { Credentials, Input, User } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

const namespaceColumns = `substr(issuer, 1, max(instr(issuer, char(1)) - 1, 0)) as application,
  substr(issuer, instr(issuer, char(1)) + 1) as issuer`
const columns = `id, username, display_name as "displayName", created_at as "createdAt", disabled_at as "disabledAt",
  credential_generation as "credentialGeneration", external_id as "externalId", ${namespaceColumns}, locale, email,
  issued_generation as "issuedGeneration", email_verified_at as "emailVerifiedAt", device_generation as "deviceGeneration",
  password_reported_at as "passwordReportedAt"`

export const userById = `select ${columns} from user where id = ?`

export async function findUser(reader: Reader, userId: string): Promise<User | undefined> {
  return reader.objects<User>(userById, userId)[0]
}

export const userByUsername = `select ${columns} from user where username = ?`

export async function findUserByUsername(reader: Reader, username: string): Promise<User | undefined> {
  return reader.objects<User>(userByUsername, username)[0]
}

export const userByExternalId = `select ${columns} from user where external_id = ? and issuer = ?`

export async function findUserByExternalId(
  reader: Reader,
  { externalId, ...namespace }: Input<'findUserByExternalId'>,
): Promise<User | undefined> {
  return reader.objects<User>(userByExternalId, externalId, namespaceOf(namespace))[0]
}

export const credentialsByUsername = `select ${columns}, password_hash as "passwordHash" from user
  where username = ? and password_hash is not null`

export async function findCredentials(reader: Reader, username: string): Promise<Credentials | undefined> {
  return reader.objects<Credentials>(credentialsByUsername, username)[0]
}

export const usersByEmail = `select ${columns} from user where lower(email) = lower(?1) and email is not null
  and username is not null and (?3 = 0 or (email_verified_at is not null and instr(issuer, char(1)) = 0))
  order by instr(issuer, char(1)) > 0, id limit +?2`

export async function findUsersByEmail(
  reader: Reader,
  { email, limit, canSignIn = false }: Input<'findUsersByEmail'>,
): Promise<User[]> {
  return reader.objects<User>(usersByEmail, email, limit, Number(canSignIn))
}

// lower() of SQLite changes ASCII letters only.
const contains = `(?3 = '' or instr(lower(username), lower(?3)) > 0 or instr(lower(display_name), lower(?3)) > 0
  or instr(lower(email), lower(?3)) > 0 or instr(lower(external_id), lower(?3)) > 0)`

export const usersAfter = `select ${columns} from user where id > ?1 and ${contains} order by id limit +?2`

export const usersByExternalId = `select ${columns} from user
  where external_id = ?4 and (?5 is null or issuer = ?5) and instr(issuer, ?6) = 1 and id > ?1 and ${contains}
  order by id limit +?2`

export const usersOfApplication = `select ${columns} from user
  where instr(issuer, char(1)) > 0 and substr(issuer, 1, instr(issuer, char(1))) = ?4 and id > ?1 and ${contains}
  order by id limit +?2`

export async function listUsers(reader: Reader, query: Input<'listUsers'>): Promise<User[]> {
  const { after, limit, search = '', externalId, issuer, application } = query
  const prefix = prefixOf(application)
  const namespace = issuer === undefined ? null : namespaceOf({ application, issuer })
  if (externalId !== undefined)
    return reader.objects(usersByExternalId, after, limit, search, externalId, namespace, prefix)
  if (prefix !== '') return reader.objects(usersOfApplication, after, limit, search, prefix)
  return reader.objects(usersAfter, after, limit, search)
}
