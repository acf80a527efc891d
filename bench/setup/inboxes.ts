// Fills the database before the service starts: users and proofs, created by the service's own modules, and inboxes with as
// many rows as hours of deliveries would leave, written by SQL in one transaction.
import { readDatabaseUrl } from '../../server/config/database-url.ts'
import { newId } from '../../server/ids.ts'
import { ProducerKeys } from '../../server/sign-in/producer-key.ts'
import { Sealing } from '../../server/sign-in/sealing.ts'
import { Sessions } from '../../server/sign-in/session.ts'
import { AccessTokens } from '../../server/sign-in/token/access-token.ts'
import { TokenRevocations } from '../../server/sign-in/token/revocations.ts'
import { SigningKeys } from '../../server/sign-in/token/signing-keys.ts'
import { openStore } from '../../server/store/open.ts'
import { connect, type Database } from '../../server/store/sqlite/database.ts'
import type { Store } from '../../server/store/store.ts'
import type { ProofLine } from '../load/requests.ts'
import { databaseIn, publicUrl, secret } from './service.ts'

export type Reader = { userId: string; username: string; cookies: ProofLine[]; tokens: ProofLine[] }
export type Prepared = { readers: Reader[]; producer: ProofLine }

const dayMs = 86_400_000
const now = Date.now
/** Users created in parallel: few enough that each call gets a PostgreSQL connection in time on a busy machine. */
const maxAtOnce = 50

type Preparation = { users: number; proofs: number; passwordHash?: string }

/** Creates users with `proofs` proofs of each variant. `passwordHash` matters only if they sign in by password. */
export function prepareReaders(dir: string, preparation: Preparation): Promise<Prepared> {
  return prepareReadersAt(`sqlite:${databaseIn(dir)}`, preparation)
}

/** As `prepareReaders`, in any database. */
export async function prepareReadersAt(
  url: string,
  { users, proofs, passwordHash = 'unused' }: Preparation,
): Promise<Prepared> {
  const { store } = await openStore(readDatabaseUrl(url))
  try {
    const issue = await issuers(store)
    const names = Array.from({ length: users }, (_, i) => `reader-${i + 1}`)
    const readers: Reader[] = []
    for (let at = 0; at < names.length; at += maxAtOnce)
      readers.push(
        ...(await Promise.all(
          names.slice(at, at + maxAtOnce).map(async (username) => {
            const user = { id: newId(now()), username, displayName: null, createdAt: now(), passwordHash }
            await store.addUser(user)
            const times = Array.from({ length: proofs })
            const cookies = await Promise.all(times.map(() => issue.cookie({ ...user, credentialGeneration: 0 })))
            const tokens = await Promise.all(times.map(() => issue.token(user)))
            return { userId: user.id, username, cookies, tokens }
          }),
        )),
      )
    return { readers, producer: await issue.producer() }
  } finally {
    await store.close()
  }
}

/** `count` access tokens of the readers in turn, which expired a quarter of an hour ago. */
export async function expiredTokens(dir: string, readers: readonly Reader[], count: number): Promise<ProofLine[]> {
  const { store } = await openStore(readDatabaseUrl(`sqlite:${databaseIn(dir)}`))
  try {
    const issue = await issuers(store, () => Date.now() - 30 * 60_000)
    const tokens = Array.from({ length: count }, (_, i) => {
      const { userId, username } = readers[i % readers.length] as Reader
      return issue.token({ id: userId, username })
    })
    return await Promise.all(tokens)
  } finally {
    await store.close()
  }
}

async function issuers(store: Store, clock: () => number = now) {
  const keys = await SigningKeys.open({
    store,
    sealing: new Sealing({ current: secret }),
    now,
    lifetimeMs: Number.POSITIVE_INFINITY,
    onFailure: () => {},
  })
  keys.end()
  const revocations = await TokenRevocations.load({ store, now, wall: now, keepMs: 0 }, () => {})
  const accessTokens = new AccessTokens({
    keys,
    revocations,
    now: clock,
    issuer: () => publicUrl,
    lifetimeMs: 15 * 60_000,
    chainMs: dayMs,
  })
  const sessions = new Sessions({ store, revocations, now, idleMs: dayMs, lifetimeMs: dayMs })
  const producers = new ProducerKeys({ store, now })
  type User = Parameters<Sessions['issue']>[0]
  const signIn = () => ({ replaces: [], signInId: newId(clock()), device: null, address: null })
  return {
    cookie: async (user: User) => `Cookie: carillon=${(await sessions.issue(user, signIn())).secret}`,
    token: async (user: { id: string; username: string }) =>
      `Authorization: Bearer ${(await accessTokens.issue({ ...user, credentialGeneration: 0 }, newId(clock()))).token}`,
    producer: async () =>
      `Authorization: Bearer ${(await producers.issue({ name: 'bench', scopes: ['send', 'users'], expiresAt: null })).key}`,
  }
}

/** Fills inboxes as deliveries and one read-all would have done; `readThrough` is the highest sequence number read. */
export function fillInboxes(
  dir: string,
  { userIds, count, readThrough = 0 }: { userIds: readonly string[]; count: number; readThrough?: number },
): Promise<void> {
  return withDatabase(dir, (database) => {
    // Only here: a crash would lose nothing but this preparation.
    database.exec('pragma synchronous = off; begin immediate')
    for (const userId of userIds) fillInbox(database, { userId, count, readThrough })
    database.exec('commit; pragma wal_checkpoint(truncate)')
  })
}

/** Opens the database for what no route does, such as to undo a read-all. Commits as the service does. */
export async function withDatabase<Result>(
  dir: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  const database = connect(databaseIn(dir))
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

type Filling = { userId: string; count: number; readThrough: number }

const categories = ['orders', 'payments', 'deliveries', 'messages', 'account'] as const

function fillInbox(database: Database, { userId, count, readThrough }: Filling): void {
  const insert = database.prepare(
    'insert into notification (user_id, seq, id, version, content, category) values (?, ?, ?, ?, ?, ?)',
  )
  for (const { seq, id, version, content, category } of notificationsOf({ count, readThrough }))
    insert.run(userId, seq, id, version, content, category)
  const state = [userId, count + 1, count, count, count - readThrough, readThrough, readThrough + 1]
  const columns = 'user_id, version, first_seq, last_seq, total, unread, read_through, read_version'
  database.prepare(`insert into inbox (${columns}) values (?, ?, 1, ?, ?, ?, ?, ?)`).run(...state)
  const insertMark = database.prepare('insert into read_mark (user_id, version, through_seq, at) values (?, ?, ?, ?)')
  insertMark.run(userId, readThrough + 1, readThrough, iso(now()))
  const countIn = database.prepare('insert into inbox_category (user_id, category, total, unread) values (?, ?, ?, ?)')
  for (const { category, total, unread } of categoriesOf({ count, readThrough }))
    countIn.run(userId, category, total, unread)
}

/** The rows of an inbox, equal on both engines. */
export function notificationsOf({ count, readThrough }: { count: number; readThrough: number }) {
  const firstAt = now() - count * 1_000
  return Array.from({ length: count }, (_, i) => {
    const seq = i + 1
    const at = firstAt + seq * 1_000
    const category = categories[seq % categories.length] as string
    // The read-all has the version after that of the last notification it covers.
    const version = seq <= readThrough ? seq : seq + 1
    return { seq, id: newId(at), version, content: contentOf(seq, at, category), category }
  })
}

export function categoriesOf({ count, readThrough }: { count: number; readThrough: number }) {
  // Categories alternate, so the first n notifications are spread evenly over them.
  const among = (n: number, turn: number) => Math.floor((n - turn) / categories.length) + Number(turn > 0)
  return categories.map((category, turn) => ({
    category,
    total: among(count, turn),
    unread: among(count, turn) - among(readThrough, turn),
  }))
}

/** About 300 bytes, in the form that a delivery stores: members in this order, without the braces. */
function contentOf(seq: number, at: number, category: string): string {
  return JSON.stringify({
    title: `Your order ${100_000 + seq} is on its way`,
    body: 'It left our warehouse this morning and should reach you within two working days.',
    url: `/orders/${100_000 + seq}`,
    category,
    data: { order: 100_000 + seq, parcels: 1 },
    key: null,
    createdAt: iso(at),
  }).slice(1, -1)
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}
