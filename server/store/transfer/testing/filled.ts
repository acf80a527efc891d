// Databases that have rows in every table, and empty ones of either engine.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { newDatabase } from '../../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { at, newId, type Person, World } from '../../../contract/world.ts'
import { markAllRead } from '../../../inbox/bulk/bulk.store.ts'
import { markRead } from '../../../inbox/marks.store.ts'
import { openStore } from '../../../open-store.ts'
import { touchProducer } from '../../../producers/producers.store.ts'
import { addSession } from '../../../sessions/sessions.store.ts'
import { signingKey } from '../../../tokens/contract/signing-keys.contract.ts'
import { addSigningKey, retireSigningKeys } from '../../../tokens/signing-keys.store.ts'
import { revokeTokens } from '../../../tokens/tokens.store.ts'
import { disableUser } from '../../../users/access/user-changes.store.ts'
import { addUser } from '../../../users/users.store.ts'
import { connect } from '../../sqlite/database.ts'
import { newFolder } from '../../sqlite/testing/folder.ts'
import type { Store } from '../../store.ts'
import { openEndpoint, sourceAt } from '../endpoint/endpoint.ts'
import { type Checksum, checksumsOf, type Endpoint } from '../rows.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

/** Nothing is displayed. */
export const report = () => () => {}

/** Two engines might store or sort them differently. */
const words = [
  'a',
  'Z',
  'é',
  'ß',
  'ﬀ',
  '～',
  '😀',
  'a\u2028b',
  "o'clock",
  'back\\slash',
  '{a,"b"}',
  'null',
  ' ',
  '%s $1',
]
const hour = 3_600_000

export async function emptyPlace(t: TestContext, engine: Engine): Promise<string> {
  if (engine === 'sqlite') return `sqlite:${join(await newFolder(t), 'carillon.db')}`
  const { url, drop } = await newDatabase({ isBare: true })
  t.after(drop)
  return url
}

export function sqliteFile(url: string): string {
  return url.replace(/^sqlite:/, '')
}

/** At least `notifications` of them are notifications. */
export async function filledPlace(t: TestContext, { notifications = 0 } = {}): Promise<string> {
  const path = join(await newFolder(t), 'carillon.db')
  const original = originals.get(notifications) ?? makeOriginal(notifications)
  originals.set(notifications, original)
  await writeFile(path, await original, { mode: 0o600 })
  return `sqlite:${path}`
}

/** By the number of notifications; made once for a test file. */
const originals = new Map<number, Promise<Buffer>>()

async function makeOriginal(notifications: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-'))
  const path = join(folder, 'carillon.db')
  const { store } = await openStore({ engine: 'sqlite', path })
  await fillEveryTable(store, notifications)
  // The last connection to close copies the log into the file.
  await store.close()
  fillWithWords(path)
  const content = await readFile(path)
  await rm(folder, { recursive: true })
  return content
}

/** Tables whose rows no store operation makes here. A transfer does not know what a row means. */
const filledWithWords = [
  ...'known_device guess_count one_time_link factor recovery_code challenge provider_account audit'.split(
    ' ',
  ),
  ...'removal preference category key_change erased_id sealed_key reminder outbox hourly webhook'.split(
    ' ',
  ),
  ...['push_subscription', 'factor_rule'],
]

function fillWithWords(path: string): void {
  const database = connect(path)
  database.exec('pragma synchronous = off; begin')
  for (const name of filledWithWords) {
    const types = database.prepare('select type from pragma_table_info(?)').all(name)
    const insert = database.prepare(
      `insert into ${name} values (${types.map(() => '?').join(', ')})`,
    )
    for (const [n, word] of words.entries()) {
      const byType: Record<string, string | Buffer> = { TEXT: word, BLOB: Buffer.alloc(16, n) }
      insert.run(...types.map(({ type }) => byType[String(type)] ?? n))
    }
  }
  database.exec('commit')
  database.close()
}

async function fillEveryTable(store: Store, notifications: number): Promise<void> {
  const world = await World.on(store)
  const people: Person[] = []
  for (const word of words) people.push(await world.addUser(word))
  const [ann, ben, cid] = people as [Person, Person, Person]
  await store.write(addUser, {
    ...ann,
    id: newId(),
    username: 'of the shop',
    application: 'shop',
    externalId: 'x',
    displayName: null,
    createdAt: 0,
  })
  for (const [n, word] of words.entries()) {
    await world.send(ann, word, { category: word, key: word })
    const content = { category: word, data: { category: word, data: n } }
    await world.deliver({
      to: [ben],
      ...content,
      idempotency: { key: word, bodyHash: `${n}` },
      producerId: newId(),
    })
    await store.write(revokeTokens, {
      userId: ann.id,
      signInId: word,
      at: at(n),
      expiresAt: at(n) + hour,
    })
    await startSession(store, ann, word)
  }
  await world.sendTimes(12, ben)
  const ids = await world.ids(ben)
  for (const id of ids.slice(0, 9)) await store.write(markRead, { userId: ben.id, id, at: at(1) })
  // The words are categories: every text has to survive in the JSON of the act.
  await store.write(markAllRead, { userId: ann.id, throughId: null, categories: words, at: at(2) })
  await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(2) })
  await store.write(markAllRead, { userId: cid.id, throughId: null, at: at(3) })
  await store.write(disableUser, { userId: cid.id, at: at(4) })
  await store.write(addSigningKey, { key: signingKey('k1', { startsAt: 1 }), after: null })
  await store.write(addSigningKey, {
    key: signingKey('k2', { createdAt: 3, startsAt: 9 }),
    after: 'k1',
  })
  await store.write(retireSigningKeys, { kids: ['k1'], at: at(10) })
  await store.write(touchProducer, { producerId: world.producerId, at: at(5) })
  const rounds = Math.ceil(notifications / people.length)
  for (let n = 0; n < rounds; n += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, rounds - n) }, (_, i) =>
        world.deliver({ to: people, title: `no. ${n + i}`, category: `c${i % 3}` }),
      ),
    )
}

async function startSession(store: Store, { id }: Person, secretHash: string): Promise<void> {
  await store.write(addSession, {
    userId: id,
    familyHash: `family of ${secretHash}`,
    secretHash,
    checkedGeneration: 0,
    signInId: newId(),
    device: null,
    address: null,
    at: Date.now(),
    replaces: [],
  })
}

export async function onEndpoint<Result>(
  url: string,
  work: (endpoint: Endpoint) => Promise<Result>,
): Promise<Result> {
  await using endpoint = await openEndpoint(readDatabaseUrl(url))
  return await work(endpoint)
}

export function checksumsAt(url: string): Promise<Checksum[]> {
  return onEndpoint(url, async (endpoint) => checksumsOf(await sourceAt(endpoint)))
}

export async function emptyTables(t: TestContext, engine: Engine): Promise<string> {
  const url = await emptyPlace(t, engine)
  await (await openStore(readDatabaseUrl(url))).store.close()
  return url
}

export function rowsAt(url: string): Promise<number> {
  return onEndpoint(url, async (endpoint) => (await sourceAt(endpoint)).total)
}
