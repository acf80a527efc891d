// Every table of the schema and its columns, the same in both engines: what a backup, a restore and a move copy. A test
// compares this list with the schema of each engine. Rows of an older backup get the columns that they lack.
import { knownMigrations } from '../../migrations.ts'

/** The names of the migrations. They are the same in both engines; a test checks this. */
export const currentMigrations = knownMigrations(new URL('../../sqlite/migrations/', import.meta.url))
export const newestMigration = currentMigrations.at(-1) ?? ''

type ColumnType = 'text' | 'integer'
/** The first `key` columns are the primary key. `since`: the migration that made it, if not the first. */
export type Table = { name: string; since?: string; key: number; columns: Readonly<Record<string, ColumnType>> }

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
      not_before: 'integer',
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
    since: '0007-repairs',
    key: 4,
    columns: { user_id: 'text', category: 'text', through_seq: 'integer', version: 'integer', at: 'text' },
  },
  {
    name: 'known_device',
    since: '0005-safe-sign-in',
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
    since: '0005-safe-sign-in',
    key: 1,
    columns: { key: 'text', failures: 'integer', at: 'integer', expires_at: 'integer' },
  },
  {
    name: 'one_time_link',
    since: '0005-safe-sign-in',
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
    since: '0005-safe-sign-in',
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
    since: '0005-safe-sign-in',
    key: 2,
    columns: { user_id: 'text', code_hash: 'text', created_at: 'integer', used_at: 'integer' },
  },
  {
    name: 'challenge',
    since: '0005-safe-sign-in',
    key: 2,
    columns: { user_id: 'text', hash: 'text', purpose: 'text', data: 'text', expires_at: 'integer' },
  },
  {
    name: 'provider_account',
    since: '0005-safe-sign-in',
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
    since: '0005-safe-sign-in',
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

/**
 * By migration and table: the columns that it added, always as the last of their table, and the value that existing
 * rows got. A migration that changes more than that needs code here; a test compares this with the migrations.
 */
const addedColumns: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Value>>>>>> = {
  '0002-credential-generation': { user: { credential_generation: 0 }, token_cutoff: { first_generation: 0 } },
  '0003-users-and-seq': {
    user: { external_id: null, issuer: '', locale: null, email: null, issued_generation: 0 },
    session: { sign_in_id: null },
    notification: { count: 1, updated_at: null },
  },
  '0004-unread-and-undo': {
    notification: { unread_version: null },
    inbox: { read_version: 0, marked_unread: 0, undo_version: null, reset_version: 0 },
    read_mark: { before_through: 0, before_version: 0, made_read: 0 },
    inbox_category: { made_read: 0 },
  },
  '0005-safe-sign-in': {
    user: { email_verified_at: null, device_generation: 0, password_reported_at: null },
    session: { device: null, address: null, confirmed_at: null, has_tokens: null },
    token_cutoff: { except_sign_in_id: null },
    signing_key: { starts_at: 0, retired_at: null },
    producer: { previous_secret_hash: null, previous_until: null },
  },
  '0007-repairs': {
    session: { old_hash_1: null, old_hash_2: null, old_hash_3: null, secret_used_at: null },
    producer: { application: '' },
    inbox: { category_through: 0 },
    read_mark: { categories: null },
  },
}

export function columnsOf(table: Table): string[] {
  return Object.keys(table.columns)
}

function laterColumns(table: Table, schema: string): [name: string, value: Value][] {
  return Object.entries(addedColumns)
    .filter(([migration]) => migration > schema)
    .flatMap(([, added]) => Object.entries(added[table.name] ?? {}))
}

/** The tables that a database had when `schema` was the newest migration. */
export function tablesAt(schema: string): readonly Table[] {
  return tables.filter(({ since = '' }) => since <= schema)
}

/** The names of the columns that a table had when `schema` was the newest migration. */
export function columnsAt(table: Table, schema: string): string[] {
  return columnsOf(table).slice(0, columnsOf(table).length - laterColumns(table, schema).length)
}

/** Rows of `schema` as rows of this program's schema. */
export function upgraded({ table, rows }: Batch, schema: string): readonly Row[] {
  const values = laterColumns(table, schema).map(([, value]) => value)
  return values.length === 0 ? rows : rows.map((row) => [...row, ...values])
}

/** The reverse of `upgraded`. A row with other values in later columns was changed after that schema, and stays as it is. */
export async function* asOf(batches: AsyncIterable<Batch>, schema: string): AsyncGenerator<Batch> {
  for await (const { table, rows } of batches) {
    if ((table.since ?? '') > schema) continue
    const length = columnsAt(table, schema).length
    const values = laterColumns(table, schema).map(([, value]) => value)
    const isUpgraded = (row: Row) => values.every((value, i) => row[length + i] === value)
    yield { table, rows: rows.map((row) => (isUpgraded(row) ? row.slice(0, length) : row)) }
  }
}
