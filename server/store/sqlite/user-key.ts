// The user_id in the tables of inboxes: the 16 bytes of the UUID (schema.sql).
export type UserKey = Uint8Array

export function userKey(userId: string): UserKey {
  return Buffer.from(userId.replaceAll('-', ''), 'hex')
}

export function userIdOf(key: UserKey): string {
  return Buffer.from(key)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
