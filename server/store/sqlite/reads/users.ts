// Reads users, alone or with the password hash.
import type { Credentials, Input, User } from '../../store.ts'
import type { Reader } from '../connection.ts'

const columns = `id, username, display_name as "displayName", created_at as "createdAt", disabled_at as "disabledAt",
  credential_generation as "credentialGeneration", external_id as "externalId", issuer, locale, email,
  issued_generation as "issuedGeneration"`

export const userById = `select ${columns} from user where id = ?`

export async function findUser(reader: Reader, userId: string): Promise<User | undefined> {
  return reader.objects<User>(userById, userId)[0]
}

export const credentialsByUsername = `select ${columns}, password_hash as "passwordHash" from user where username = ?`

export async function findCredentials(reader: Reader, username: string): Promise<Credentials | undefined> {
  return reader.objects<Credentials>(credentialsByUsername, username)[0]
}

export const usersAfter = `select ${columns} from user where username > ? order by username limit +?`

export async function listUsers(reader: Reader, { after, limit }: Input<'listUsers'>): Promise<User[]> {
  return reader.objects(usersAfter, after, limit)
}
