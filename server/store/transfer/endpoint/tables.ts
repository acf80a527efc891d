// Every table of the schema and its columns, the same in both engines: what a backup, a restore and a move copy. A test
// compares this list with the schema of each engine.
import { knownMigrations } from '../../migrations.ts'

/** The names of the migrations. They are the same in both engines; a test checks this. */
export const currentMigrations = knownMigrations(new URL('../../sqlite/schema/', import.meta.url))
export const newestMigration = currentMigrations.at(-1) ?? ''

type ColumnType = 'text' | 'integer'
/** The first `key` columns are the primary key. */
export type Table = { name: string; key: number; columns: Readonly<Record<string, ColumnType>> }

export type Value = string | number | null
/** The values of a row, in the order of the table's columns. */
export type Row = readonly Value[]
/** One or more rows of one table, in the order of its key. */
export type Batch = { table: Table; rows: readonly Row[] }

export const tables: readonly Table[] = [
  {
    name: 'user',
    key: 1,
    columns: {
      id: 'text',
      username: 'text',
      display_name: 'text',
      password_hash: 'text',
      created_at: 'integer',
      disabled_at: 'integer',
      credential_generation: 'integer',
      external_id: 'text',
      issuer: 'text',
      locale: 'text',
      email: 'text',
      issued_generation: 'integer',
      email_verified_at: 'integer',
      device_generation: 'integer',
      password_reported_at: 'integer',
    },
  },
  {
    name: 'session',
    key: 2,
    columns: {
      user_id: 'text',
      secret_hash: 'text',
      username: 'text',
      created_at: 'integer',
      last_seen_at: 'integer',
      sign_in_id: 'text',
      device: 'text',
      address: 'text',
      confirmed_at: 'integer',
      has_tokens: 'integer',
      old_hash_1: 'text',
      old_hash_2: 'text',
      old_hash_3: 'text',
      secret_used_at: 'integer',
    },
  },
  {
    name: 'token_cutoff',
    key: 2,
    columns: {
      user_id: 'text',
      sign_in_id: 'text',
      expires_at: 'integer',
      first_generation: 'integer',
      except_sign_in_id: 'text',
    },
  },
  {
    name: 'signing_key',
    key: 1,
    columns: {
      kid: 'text',
      public_jwk: 'text',
      sealed_private_jwk: 'text',
      created_at: 'integer',
      starts_at: 'integer',
      retired_at: 'integer',
    },
  },
  {
    name: 'producer',
    key: 1,
    columns: {
      id: 'text',
      name: 'text',
      secret_hash: 'text',
      scopes: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
      last_used_at: 'integer',
      previous_secret_hash: 'text',
      previous_until: 'integer',
      application: 'text',
    },
  },
  {
    name: 'delivery',
    key: 2,
    columns: { producer_id: 'text', idempotency_key: 'text', body_hash: 'text', answer: 'text', at: 'integer' },
  },
  {
    name: 'inbox',
    key: 1,
    columns: {
      user_id: 'text',
      version: 'integer',
      first_seq: 'integer',
      last_seq: 'integer',
      total: 'integer',
      unread: 'integer',
      read_through: 'integer',
      read_version: 'integer',
      marked_unread: 'integer',
      undo_version: 'integer',
      reset_version: 'integer',
      category_through: 'integer',
    },
  },
  {
    name: 'inbox_category',
    key: 2,
    columns: { user_id: 'text', category: 'text', total: 'integer', unread: 'integer', made_read: 'integer' },
  },
  {
    name: 'notification',
    key: 2,
    columns: {
      user_id: 'text',
      seq: 'integer',
      id: 'text',
      version: 'integer',
      content: 'text',
      category: 'text',
      key: 'text',
      read_at: 'text',
      changed_version: 'integer',
      replaced_version: 'integer',
      count: 'integer',
      updated_at: 'text',
      unread_version: 'integer',
    },
  },
  {
    name: 'read_mark',
    key: 2,
    columns: {
      user_id: 'text',
      version: 'integer',
      through_seq: 'integer',
      at: 'text',
      before_through: 'integer',
      before_version: 'integer',
      made_read: 'integer',
      categories: 'text',
    },
  },
  {
    name: 'category_read_mark',
    key: 4,
    columns: { user_id: 'text', category: 'text', through_seq: 'integer', version: 'integer', at: 'text' },
  },
  {
    name: 'known_device',
    key: 3,
    columns: {
      user_id: 'text',
      label: 'text',
      network: 'text',
      first_seen_at: 'integer',
      last_seen_at: 'integer',
    },
  },
  {
    name: 'guess_count',
    key: 1,
    columns: { key: 'text', failures: 'integer', at: 'integer', expires_at: 'integer' },
  },
  {
    name: 'one_time_link',
    key: 3,
    columns: {
      user_id: 'text',
      purpose: 'text',
      token_hash: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      email: 'text',
    },
  },
  {
    name: 'factor',
    key: 2,
    columns: {
      user_id: 'text',
      id: 'text',
      kind: 'text',
      label: 'text',
      sealed_secret: 'text',
      last_step: 'integer',
      credential_id: 'text',
      public_key: 'text',
      sign_count: 'integer',
      transports: 'text',
      created_at: 'integer',
      confirmed_at: 'integer',
      last_used_at: 'integer',
    },
  },
  {
    name: 'recovery_code',
    key: 2,
    columns: { user_id: 'text', code_hash: 'text', created_at: 'integer', used_at: 'integer' },
  },
  {
    name: 'challenge',
    key: 2,
    columns: { user_id: 'text', hash: 'text', purpose: 'text', data: 'text', expires_at: 'integer' },
  },
  {
    name: 'provider_account',
    key: 2,
    columns: {
      issuer: 'text',
      subject: 'text',
      owner_id: 'text',
      email: 'text',
      created_at: 'integer',
      last_used_at: 'integer',
    },
  },
  {
    name: 'audit',
    key: 2,
    columns: {
      user_id: 'text',
      id: 'text',
      at: 'integer',
      event: 'text',
      actor: 'text',
      address: 'text',
      user_agent: 'text',
      request_id: 'text',
      sign_in_id: 'text',
      name_hash: 'text',
      detail: 'text',
      count: 'integer',
    },
  },
]

export function columnsOf(table: Table): string[] {
  return Object.keys(table.columns)
}
