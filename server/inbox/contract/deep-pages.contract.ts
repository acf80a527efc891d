// In these inboxes many sequence numbers are missing.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  at,
  maxAtOnce,
  newId,
  type Person,
  type PromiseOf,
  runs,
  type Seen,
  type World,
} from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { undo } from '../bulk/undo.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import type { Page } from '../inbox-state.ts'
import { markRead, markUnread } from '../marks.store.ts'

const limit = 20
/** In the soak, SQLite passes over so many in several turns of the event loop. */
const many = runs(600, 16_000)

export function deepPagePromises(promise: PromiseOf): void {
  promise(
    'a deep page of all or of unread notifications is correct after every change, for any pattern of gaps (I6)',
    async (world) => {
      const inbox = await InboxWithGaps.fill(world, {
        count: many,
        isRead: (index) => index % 3 === 1,
      })
      await inbox.check(pagesOf(many * (2 / 3)))
      await inbox.checkAll(pagesOf(many))
      await inbox.perform({ readThrough: many * 0.75 })
      await inbox.perform({
        read: Array.from({ length: many / 8 }, (_, index) => many * 0.6 + index),
      })
      await inbox.perform({ undo: true })
      await inbox.check(pagesOf(inbox.unread.length))
      const again = Array.from({ length: 50 }, (_, index) => index * 7)
      await inbox.perform({ renotify: [0, 0, 1, ...again] })
      await inbox.checkAll([2, ...pagesOf(many)])
      const some = fc.array(fc.nat(many), { maxLength: 12 })
      const act = fc.oneof(
        { weight: 3, arbitrary: fc.record({ read: some }) },
        { weight: 2, arbitrary: fc.record({ unread: some }) },
        { weight: 2, arbitrary: fc.record({ arrive: fc.nat(60) }) },
        { weight: 2, arbitrary: fc.record({ renotify: fc.array(fc.nat(many), { maxLength: 4 }) }) },
        { weight: 1, arbitrary: fc.record({ readThrough: fc.nat(200) }) },
        { weight: 1, arbitrary: fc.constant({ undo: true as const }) },
      )
      const acts = fc.array(fc.tuple(act, fc.nat(1_000)), { maxLength: 6, minLength: 1 })
      await fc.assert(
        fc.asyncProperty(acts, async (all) => {
          for (const [one, place] of all) {
            await inbox.perform(one)
            const unreadPages = Math.max(1, Math.ceil(inbox.unread.length / limit))
            await inbox.check([1 + (place % unreadPages), Math.ceil(unreadPages / 2), unreadPages])
            const { total } = await world.store.read(readInbox, inbox.ann.id)
            const pages = Math.ceil(total / limit)
            await inbox.checkAll([1 + (place % pages), Math.ceil(pages / 2), pages])
          }
        }),
        // To fill an inbox takes long, so all runs use one, and shrinking cannot work.
        { numRuns: runs(4, 240), endOnFailure: true },
      )
    },
  )

  promise(
    'a deep page of unread notifications shows one version while others arrive and are read',
    async (world) => {
      const inbox = await InboxWithGaps.fill(world, {
        count: many,
        isRead: (index) => index % 4 === 3,
      })
      const { ann } = inbox
      let { version } = await world.store.read(readInbox, ann.id)
      let unread = inbox.unread
      const unreadAt = new Map([[version, unread]])
      const change = async (after: string[], act: () => Promise<unknown>) => {
        unread = after
        unreadAt.set(++version, unread)
        await act()
      }
      let isWriting = true
      const lastPage = Math.ceil(unread.length / limit)
      const writing = (async () => {
        for (let round = 0; round < runs(20, 60); round++) {
          const id = newId()
          await change([id, ...unread], () => world.send(ann, 'Hi', { ids: [id] }))
          const read =
            unread[(round * 97) % unread.length] ?? assert.fail('every notification is read')
          await change(
            unread.filter((one) => one !== read),
            () => world.store.write(markRead, { userId: ann.id, id: read, at: at(3) }),
          )
        }
      })().finally(() => {
        isWriting = false
      })
      const readPages = async (first: number) => {
        for (let page = first; isWriting; page = page === lastPage ? 1 : page + 1) {
          const found = await world.page({ userId: ann.id, page, limit, status: 'unread' })
          const expected =
            unreadAt.get(found.inbox.version) ?? assert.fail(`version ${found.inbox.version}`)
          assert.deepEqual(idsIn(found), expected.slice((page - 1) * limit, page * limit))
          await new Promise(setImmediate)
        }
      }
      const readers = [1, 2, 3].map((part) => readPages(Math.floor((lastPage * part) / 4)))
      await Promise.all([...readers, writing])
    },
  )

  promise('lists the arrivals among many other changes, from any version on', async (world) => {
    const inbox = await InboxWithGaps.fill(world, {
      count: 600,
      isRead: (index) => index % 2 === 0,
    })
    await inbox.perform({ arrive: 250 })
    await inbox.perform({ read: Array.from({ length: 300 }, (_, index) => index) })
    await inbox.perform({ renotify: Array.from({ length: 90 }, (_, index) => index * 5) })
    const all = await changesFrom(world, inbox.ann, { version: 0, limit: 2_000 })
    assert.equal(all.filter(({ type }) => type === 'created').length, 850 - 90)
    assert.equal(all.filter(({ type }) => type === 'replaced').length, 90)
    const versions = [
      0, 1, 299, 599, 600, 601, 899, 900, 901, 1_000, 1_149, 1_150, 1_151, 1_299, 1_300, 1_301,
      1_389,
    ]
    for (const version of versions) {
      const expected = all.filter((change) => change.version > version)
      for (const size of [1, 7, 100])
        assert.deepEqual(
          await changesFrom(world, inbox.ann, { version, limit: size }),
          expected.slice(0, size),
          `${size} changes after version ${version}`,
        )
    }
  })
}

/** The first pages, some in the middle, the last ones and one past the end. */
function pagesOf(count: number): number[] {
  const last = Math.ceil(count / limit)
  const middle = Math.floor(last / 2)
  return [1, middle - 1, middle, middle + 1, last - 1, last, last + 1]
}

async function changesFrom(world: World, ann: Person, of: { version: number; limit: number }) {
  const found = await world.store.read(changesSince, { userId: ann.id, ...of })
  return found === 'reset' ? assert.fail('reset') : found.changes
}

function idsIn({ items }: Page): string[] {
  return (JSON.parse(items) as Seen[]).map(({ id }) => id)
}

type Act =
  | { read: number[] }
  | { unread: number[] }
  | { undo: true }
  | { arrive: number }
  | { readThrough: number }
  | { renotify: number[] }

class InboxWithGaps {
  readonly #world: World
  readonly ann: Person
  /** The newest last. */
  #ids: string[]
  readonly #read = new Set<string>()
  readonly #byReadAll = new Set<string>()

  private constructor(world: World, ann: Person, ids: string[]) {
    this.#world = world
    this.ann = ann
    this.#ids = ids
  }

  static async fill(
    world: World,
    { count, isRead }: { count: number; isRead: (index: number) => boolean },
  ) {
    const ann = await world.addUser('ann')
    const inbox = new InboxWithGaps(world, ann, [])
    await inbox.perform({ arrive: count })
    await inbox.perform({ read: Array.from({ length: count }, (_, index) => index).filter(isRead) })
    return inbox
  }

  /** Newest first. */
  get unread(): string[] {
    return this.#ids.filter((id) => !this.#read.has(id)).toReversed()
  }

  async perform(act: Act): Promise<void> {
    const { store } = this.#world
    const userId = this.ann.id
    const idOf = (index: number) =>
      this.#ids[index % this.#ids.length] ?? assert.fail('the inbox is empty')
    if ('arrive' in act)
      this.#ids.push(...(await this.#world.sendTimes(act.arrive, this.ann, { isKeyed: true })))
    if ('renotify' in act)
      for (const id of act.renotify.map(idOf)) {
        this.#ids = await this.#world.sendAgain(this.ann, id, this.#ids)
        this.#changeAlone(id, false)
      }
    if ('read' in act) {
      const ids = [...new Set(act.read.map(idOf))]
      for (let from = 0; from < ids.length; from += maxAtOnce)
        await Promise.all(
          ids
            .slice(from, from + maxAtOnce)
            .map((id) => store.write(markRead, { userId, id, at: at(1) })),
        )
      for (const id of ids) this.#changeAlone(id, true)
    }
    if ('unread' in act) {
      const ids = [...new Set(act.unread.map(idOf))]
      await Promise.all(ids.map((id) => store.write(markUnread, { userId, id })))
      for (const id of ids) this.#changeAlone(id, false)
    }
    if ('undo' in act) await this.#undo()
    if ('readThrough' in act) await this.#readThrough(act.readThrough)
  }

  async #readThrough(index: number): Promise<void> {
    const through = this.#ids.slice(0, index + 1)
    await this.#world.bulk(markAllRead, {
      userId: this.ann.id,
      throughId: through.at(-1) ?? null,
      at: at(2),
    })
    const unread = through.filter((id) => !this.#read.has(id))
    // One that changes nothing leaves the last one to be taken back.
    if (unread.length > 0) this.#byReadAll.clear()
    for (const id of unread) {
      this.#read.add(id)
      this.#byReadAll.add(id)
    }
  }

  async #undo(): Promise<void> {
    await this.#world.bulk(undo, { userId: this.ann.id, at: at(3) })
    for (const id of this.#byReadAll) this.#read.delete(id)
    this.#byReadAll.clear()
  }

  /** An undo leaves it as it is from now on. */
  #changeAlone(id: string, isRead: boolean): void {
    this.#byReadAll.delete(id)
    if (isRead) this.#read.add(id)
    else this.#read.delete(id)
  }

  async check(pages: readonly number[]): Promise<void> {
    const { unread } = this
    for (const page of pages) {
      const found = await this.#world.page({ userId: this.ann.id, page, limit, status: 'unread' })
      assert.deepEqual(
        idsIn(found),
        unread.slice((page - 1) * limit, page * limit),
        `page ${page} of ${unread.length}`,
      )
      assert.equal(found.inbox.unread, unread.length)
      assert.equal(found.next !== null, page * limit < unread.length)
    }
  }

  /** Each page by its number, and by the cursor before it. */
  async checkAll(pages: readonly number[]): Promise<void> {
    const all = this.#ids.toReversed()
    const query = { userId: this.ann.id, limit, status: 'all' as const }
    for (const page of pages) {
      const expected = all.slice((page - 1) * limit, page * limit)
      const found = await this.#world.page({ ...query, page })
      assert.deepEqual(idsIn(found), expected, `page ${page} of ${all.length}`)
      assert.equal(found.next !== null, page * limit < all.length)
      const { next } =
        page === 1 ? { next: null } : await this.#world.page({ ...query, page: page - 1 })
      if (next !== null) assert.deepEqual(await this.#world.page({ ...query, before: next }), found)
    }
  }
}
