// The last lists of one user and the acts that wait for a connection, kept in this browser until sign-out. If storage is full,
// forbidden or damaged, nothing is kept, and no method rejects because of that.

import type { NotificationPage } from '../../transport/types.ts'
import type { InboxSnapshot } from '../inbox-list.ts'
import { type Act, type Change, changeRecord, type KeptRecord, type WaitingAct } from './record.ts'

export type { WaitingAct } from './record.ts'

export type KeptInboxOptions = {
  /** The address of Carillon. */
  server: string
  /** What another name has kept here is deleted and never shown. */
  name: string
  /** Has the server refused the request? An argument, so that this module can be loaded without the rest of the client. */
  isRefusal(error: unknown): boolean
}

/** `user` is the id of the user who saw it, whom the server has not confirmed yet. */
export type Loaded = { user: string; page: NotificationPage | undefined; acts: readonly WaitingAct[] }

const maxItems = 100
const maxLists = 5
const saveEveryMs = 500

export class KeptInbox {
  readonly #options: KeptInboxOptions
  /** Loaded or confirmed last. */
  #user: string | undefined
  readonly #unsaved = new Map<string, NotificationPage>()
  #saveTimer: ReturnType<typeof setTimeout> | undefined
  /** The keys of the waiting acts that this tab loaded or stored. */
  readonly #stored = new Set<string>()

  constructor(options: KeptInboxOptions) {
    this.#options = options
  }

  /** The last page of one list, and the acts that wait, oldest first. The caller chooses the name of each list. */
  async load(list: string): Promise<Loaded | undefined> {
    const kept = await this.#change((found) => found)
    this.#user ??= kept?.user
    for (const { key } of kept?.acts ?? []) this.#stored.add(key)
    return kept && { user: kept.user, page: kept.lists[list], acts: kept.acts }
  }

  /**
   * The server has said who is signed in, null if no user is. Deletes what another user has left here. Lists are saved and kept acts
   * are sent for the confirmed user only.
   */
  async confirm(user: string | null): Promise<void> {
    if (this.#user !== user) this.#forget()
    this.#user = user ?? undefined
    await this.#change((kept) => (kept?.user === user ? kept : undefined))
  }

  /** Keeps an open list, up to `version`. */
  saveList({ key, snapshot, end }: { key: string; snapshot: InboxSnapshot; end: number }, version: number): void {
    const { items, newer, unread, total, hasMore } = snapshot
    const next = hasMore ? `${end}` : null
    this.save(key, { items: [...newer, ...items], unread, total, hasMore, version, next })
  }

  /** Keeps the first items of a list of the confirmed user. Writes at most twice a second. */
  save(list: string, page: NotificationPage): void {
    this.#unsaved.set(list, { ...page, items: page.items.slice(0, maxItems) })
    if (this.#saveTimer !== undefined) return
    this.#write()
    this.#saveTimer = setTimeout(() => {
      this.#saveTimer = undefined
      this.#write()
    }, saveEveryMs)
  }

  /** Keeps an act until `once` has sent it. Returns its key. */
  add(act: Act): string {
    const key = `${Date.now()} ${Math.random()}`
    void this.#add({ ...act, key })
    return key
  }

  async #add(act: WaitingAct): Promise<void> {
    let isStored = false
    await this.#change((kept) => {
      isStored = kept !== undefined && (this.#user === undefined || this.#user === kept.user)
      return kept && isStored ? { ...kept, acts: [...kept.acts, act] } : kept
    })
    if (isStored) this.#stored.add(act.key)
  }

  /**
   * Sends a waiting act, unless another tab has sent it. Throws what `send` throws. An act that the server has refused no longer
   * waits.
   */
  async once(key: string, send: () => Promise<void>): Promise<void> {
    let hasBegun = false
    const attempt = () => {
      hasBegun = true
      return this.#once(key, send)
    }
    try {
      // Undefined on a page without TLS, and outside a browser.
      await (globalThis.navigator?.locks?.request(`carillon kept ${this.#options.server}`, attempt) ?? attempt())
    } catch (error) {
      // A page in a frame without an origin may not use locks.
      if (hasBegun) throw error
      await attempt()
    }
  }

  async #once(key: string, send: () => Promise<void>): Promise<void> {
    const kept = await this.#change((found) => found)
    if (this.#stored.has(key) && !kept?.acts.some((act) => act.key === key)) return
    try {
      await send()
    } catch (error) {
      if (this.#options.isRefusal(error)) await this.#remove(key)
      throw error
    }
    await this.#remove(key)
  }

  async #remove(key: string): Promise<void> {
    await this.#change((kept) => kept && { ...kept, acts: kept.acts.filter((act) => act.key !== key) })
  }

  /** Deletes everything that is kept of this server: at sign-out, and when the session has ended. */
  async clear(): Promise<void> {
    this.#forget()
    await this.#change(() => undefined)
  }

  #forget(): void {
    this.#user = undefined
    this.#unsaved.clear()
  }

  #write(): void {
    const user = this.#user
    const pages = [...this.#unsaved]
    this.#unsaved.clear()
    if (user === undefined || pages.length === 0) return
    void this.#change((kept) => {
      // Another tab has found another user, and this one will too.
      if (kept && kept.user !== user) return kept
      const lists = new Map(Object.entries(kept?.lists ?? {}))
      for (const [list, page] of pages) {
        lists.delete(list)
        lists.set(list, page)
      }
      const newest = Object.fromEntries([...lists].slice(-maxLists))
      return { name: this.#options.name, user, lists: newest, acts: kept?.acts ?? [] }
    })
  }

  /** Undefined if nothing is kept, or storage fails. */
  async #change(change: Change): Promise<KeptRecord | undefined> {
    const { server, name } = this.#options
    try {
      return await changeRecord(server, (found) => change(found?.name === name ? found : undefined))
    } catch {
      return undefined
    }
  }
}
