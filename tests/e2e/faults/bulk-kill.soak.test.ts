// A kill interrupts a mark of a large inbox as read, or its undo: counts, lists, events and the
// open list of a client agree afterwards, and the repeated request completes the act. SOAK=1 kills
// 100 times on each engine, in five inboxes.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { createCarillon } from '../../../client/carillon-client.ts'
import { Follower } from '../../../server/contract/random/follower.ts'
import { at } from '../../../server/contract/world.ts'
import { readCounts } from '../../../server/inbox/inbox.store.ts'
import { findUserByUsername } from '../../../server/users/users.store.ts'
import { freePort } from '../../support/network/free-port.ts'
import { openWorld } from '../../support/open-world.ts'
import { hasNoClients, newDatabase } from '../../support/postgres.ts'
import {
  CarillonProcess,
  Folder,
  firstSignInOf,
  settingsFor,
} from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

const inboxes = process.env.SOAK === undefined ? 1 : 5
const rounds = process.env.SOAK === undefined ? 4 : 20
const size = process.env.SOAK === undefined ? 5_000 : 100_000

/** `areGone`: whether the connections of a killed process have ended. */
type Place = {
  folder: Folder
  url: string
  env: Record<string, string>
  areGone: () => Promise<boolean>
}

async function newPlace(t: TestContext, engine: 'SQLite' | 'PostgreSQL'): Promise<Place> {
  const folder = new Folder()
  t.after(() => folder[Symbol.dispose]())
  const port = String(await freePort())
  const env = { CARILLON_PORT: port, CARILLON_SECRET: 'the same at each start, and long enough' }
  if (engine === 'SQLite')
    return {
      folder,
      url: settingsFor(folder).CARILLON_DATABASE_URL ?? '',
      env,
      areGone: async () => true,
    }
  const { url, drop } = await newDatabase()
  t.after(drop)
  const areGone = () => hasNoClients(url)
  return { folder, url, env: { ...env, CARILLON_DATABASE_URL: url }, areGone }
}

async function fill(url: string, username: string): Promise<void> {
  await using opened = await openWorld(url)
  const { world, store } = opened
  const { id } =
    (await store.read(findUserByUsername, username)) ?? assert.fail('there is no first user')
  const ann = { id, username, passwordHash: '' }
  for (let sent = 0; sent < size; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        world.send(ann, 'Hi', { category: n % 2 === 0 ? 'even' : 'odd', at: at(0) }),
      ),
    )
}

/**
 * Checks that the counters equal the lists, and that changes lead a copy of before the kill to the
 * pages. Returns how many are unread.
 */
async function examine(
  { url }: Place,
  username: string,
  copy?: Follower,
): Promise<{ unread: number; copy: Follower }> {
  await using opened = await openWorld(url)
  const { world, store } = opened
  const { id } = (await store.read(findUserByUsername, username)) ?? assert.fail()
  const ann = { id, username, passwordHash: '' }
  const follower = copy?.on(world) ?? (await Follower.of(world, ann))
  await follower.catchUp(100)
  const { inbox, categories } = await store.read(readCounts, id)
  const listed = await world.list(ann, { status: 'unread' })
  assert.equal(inbox.unread, listed.length)
  for (const [name, { unread }] of Object.entries(categories))
    assert.equal(unread, listed.filter(({ category }) => category === name).length, name)
  return { unread: inbox.unread, copy: follower }
}

async function killDuringBulkActs(place: Place): Promise<void> {
  const { folder, url, env } = place
  const first = await CarillonProcess.ready(folder, { env })
  const baseUrl = first.url
  const signIn = { ...firstSignInOf(folder), key: '' }
  const user = new UserOfService(baseUrl, signIn, { connections: 2 })
  let proof: Proof = await user.signIn('stateless')
  await first.end('SIGTERM')
  await fill(url, signIn.username)
  const auth = async () => proof.authorization?.replace('Bearer ', '') ?? ''
  const carillon = createCarillon({ baseUrl, auth })
  const list = carillon.inbox.open({ limit: 20 })
  let { copy } = await examine(place, signIn.username)
  for (let round = 0; round < rounds; round++) {
    const act = round % 2 === 0 ? 'read-all' : 'undo'
    const send = () => user.post(`/api/notifications/${act}`, undefined, proof)
    const running = await CarillonProcess.ready(folder, { env })
    // All rounds can take longer than the 15 minutes of a token.
    if (round % 10 === 9) proof = await user.signIn('stateless')
    await untilSo(async () => list.getSnapshot().state === 'live')
    send().catch(() => {})
    await sleep(randomInt(0, size / 40))
    await running.end('SIGKILL')
    await untilSo(place.areGone)
    ;({ copy } = await examine(place, signIn.username, copy))
    await using again = await CarillonProcess.ready(folder, { env })
    const response = await send()
    assert.ok(response.status === 204 || (act === 'undo' && response.status === 409), response.text)
    const { data } = (
      await user.request({ path: '/api/notifications?limit=20', headers: proof })
    ).json()
    if (act === 'read-all') assert.equal(data.unread, 0)
    const expected = data.items.map(({ id, read }: { id: string; read: boolean }) => [id, read])
    await untilSo(async () => {
      const { unread, items } = list.getSnapshot()
      return (
        unread === data.unread &&
        isDeepStrictEqual(
          items.map(({ id, read }) => [id, read]),
          expected,
        )
      )
    })
    await again.end('SIGTERM')
  }
  list.close()
  user.close()
}

for (const engine of ['SQLite', 'PostgreSQL'] as const)
  for (let inbox = 1; inbox <= inboxes; inbox++)
    test(`killed ${rounds} times during a read-all of ${size} and its undo, the service and its clients agree, on ${engine}, inbox ${inbox}`, async (t) => {
      await killDuringBulkActs(await newPlace(t, engine))
    })
