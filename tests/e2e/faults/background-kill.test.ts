// A kill interrupts removals without a request and a sender's change by key: each state it leaves
// is sound, the next start continues, and nothing happens twice. SOAK=1 kills 100 times on each
// engine.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId, newOrderedId } from '../../../server/basics/ids.ts'
import { recount } from '../../../server/contract/random/random.ts'
import { at, isoAt, type Person, type World } from '../../../server/contract/world.ts'
import { beginKeyChange, findKeyChange } from '../../../server/delivery/by-key.store.ts'
import { changesSince } from '../../../server/inbox/inbox.store.ts'
import { snooze } from '../../../server/inbox/marks.store.ts'
import { contentOf } from '../../../server/inbox/notification-json.ts'
import { openWorld } from '../../support/open-world.ts'
import { hasNoClients, newDatabase } from '../../support/postgres.ts'
import { CarillonProcess, Folder, settingsFor } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'

const rounds = process.env.SOAK === undefined ? 2 : 100
/** The service runs today; the notifications are of January, so they are old. */
const limits = {
  CARILLON_FIRST_START: 'off',
  CARILLON_RETENTION: '30d',
  CARILLON_INBOX_MAX: '40',
  CARILLON_SECRET: 'the same at each start, and long enough',
}

/** `areGone`: whether the connections of a killed process have ended. */
type Place = { folder: Folder; url: string; inboxes: number; areGone?: () => Promise<boolean> }
type Sent = { person: Person; ids: Map<string, string> }

/**
 * Each person gets 20 expired ones, 20 old ones, 60 new ones, one with a key, and one whose snooze
 * is over.
 */
async function fill(world: World, inboxes: number): Promise<Sent[]> {
  const people = await world.addUsers(inboxes)
  const key = newOrderedId(Date.now())
  const sent = people.map((person) => ({ person, ids: new Map<string, string>() }))
  const now = (Date.now() - at(0)) / 1_000
  const send = async (title: string, seconds: number, more: Parameters<World['send']>[2] = {}) => {
    const ids = people.map(() => newId(at(seconds)))
    await world.deliver({ to: people, title, at: at(seconds), ids, ...more })
    for (const [n, { ids: known }] of sent.entries()) known.set(ids[n] ?? '', title)
  }
  for (let n = 0; n < 20; n++)
    await send('expired', now, { content: contentOf({ title: 'expired', expiresAt: isoAt(n) }) })
  for (let n = 0; n < 20; n++) await send('old', n)
  for (let n = 0; n < 60; n++) await send('new', now)
  await send('keyed', now, { key })
  await send('snoozed', now)
  for (const { person, ids } of sent)
    for (const [id, title] of ids)
      if (title === 'snoozed')
        await world.store.write(snooze, { userId: person.id, id, until: at(1), at: at(0) })
  const change = { key, application: '', kind: 'update' as const, given: '{"category":"a"}' }
  const begun = {
    ...change,
    id: newOrderedId(Date.now()),
    at: Date.now(),
    producerId: world.producerId,
    inboxes: 1_001,
  }
  assert.equal(await world.store.write(beginKeyChange, begun), false)
  return sent
}

/** Checks that each one is in the inbox or was removed once. */
async function isSound(world: World, { person, ids }: Sent): Promise<void> {
  const { items } = await recount(world, person)
  const found = await world.store.read(changesSince, {
    userId: person.id,
    version: 0,
    limit: 100_000,
  })
  assert.ok(found !== 'reset')
  const removed = found.changes.flatMap((change) => (change.type === 'removed' ? [change.id] : []))
  assert.deepEqual([...items.map(({ id }) => id), ...removed].sort(), [...ids.keys()].sort())
}

async function isDone(world: World, sent: readonly Sent[]): Promise<boolean> {
  const pages = await Promise.all(
    sent.map(({ person }) => world.page({ userId: person.id, page: 1, limit: 1, status: 'all' })),
  )
  const areDone = pages.every(
    ({ total, items }) => total === 40 && JSON.parse(items)[0].title === 'snoozed',
  )
  return areDone && (await world.store.read(findKeyChange)) === undefined
}

/** Checks each inbox, and puts new ones in place of those that are done. */
async function examine({ url, inboxes }: Place, sent: readonly Sent[]): Promise<readonly Sent[]> {
  await using opened = await openWorld(url)
  const { world } = opened
  await Promise.all(sent.map((one) => isSound(world, one)))
  return (await isDone(world, sent)) ? await fill(world, inboxes) : sent
}

async function killAndExamine(place: Place): Promise<void> {
  const { folder, url, areGone = async () => true } = place
  const env = { ...limits, CARILLON_DATABASE_URL: url }
  let sent = await examine(place, [])
  for (let round = 0; round < rounds; round++) {
    await using running = await CarillonProcess.ready(folder, { env })
    // The work takes half a second in all, some of it in the first turn after a second.
    await sleep(randomInt(0, round % 2 === 0 ? 100 : 1_200))
    await running.end('SIGKILL')
    await untilSo(areGone)
    sent = await examine(place, sent)
  }
  await using opened = await openWorld(url)
  await using running = await CarillonProcess.ready(folder, { env })
  await untilSo(() => isDone(opened.world, sent))
  await running.end('SIGTERM')
  for (const one of sent) await isSound(opened.world, one)
  for (const { person } of sent) {
    const items = await opened.world.list(person)
    assert.deepEqual(
      items.slice(0, 3).map(({ title, read, category }) => [title, read, category]),
      [
        ['snoozed', false, null],
        ['keyed', false, 'a'],
        ['new', false, null],
      ],
    )
    assert.deepEqual(
      [items[0]?.seq, new Set(items.slice(2).map(({ title }) => title))],
      [103, new Set(['new'])],
    )
  }
}

const promised = `killed ${rounds} times during its background work, the service removes and changes each notification once`

test(`${promised}, on SQLite`, async () => {
  using folder = new Folder()
  await killAndExamine({
    folder,
    url: settingsFor(folder).CARILLON_DATABASE_URL ?? '',
    inboxes: 70,
  })
})

test(`${promised}, on PostgreSQL`, async (t) => {
  using folder = new Folder()
  const { url, drop } = await newDatabase()
  t.after(drop)
  const areGone = () => hasNoClients(url)
  await killAndExamine({ folder, url, inboxes: 12, areGone })
})
