// The last lists of one user and the acts that wait for a connection, kept in this browser until sign-out. If storage is full,
// forbidden or damaged, nothing is kept, and no method rejects because of that.
import type { Me, NotificationPage } from '../../transport/types.ts'
import { type Change, changeRecord, type KeptRecord, type WaitingAct } from './record.ts'

export type { WaitingAct } from './record.ts'

export type KeptInboxOptions = {
  /** The address of Carillon. */
  server: string
  /** What another name has kept here is deleted and never shown. */
  name: string
  /** The signed-in user; null if there is none. */
  me(): Promise<Me | null>
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
  /** Acts that storage has refused. They wait in this tab only. */
  #unkept: WaitingAct[] = []

  constructor(options: KeptInboxOptions) {
    this.#options = options
  }

  /** The last page of one list, and the acts that wait, oldest first. The caller chooses the name of each list. */
  async load(list: string): Promise<Loaded | undefined> {
    const kept = await this.#change((found) => found)
    this.#user ??= kept?.user
    return kept && { user: kept.user, page: kept.lists[list], acts: kept.acts }
  }

  /**
   * Requests who is signed in: at the start, and again after each `hello` and `resync`, before acts are sent. Resolves to the id of
   * the user, undefined if there is none, and deletes what another user has left here. Rejects if the server does not respond.
   */
  async confirm(): Promise<string | undefined> {
    const user = (await this.#options.me())?.user.id
    await this.#change((kept) => (kept?.user === user ? kept : undefined))
    if (this.#user !== user) this.#forget()
    this.#user = user
    return user
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

  /** Keeps an act that could not be sent. */
  async add(act: WaitingAct): Promise<void> {
    const kept = await this.#change((found) => found && { ...found, acts: [...found.acts, act] })
    if (!kept) this.#unkept.push(act)
  }

  /**
   * Sends the acts that wait in all tabs, oldest first, each from one tab. `transmit` resolves to true if the server has accepted
   * or refused the act, and to false if the act has to wait longer, which ends the call.
   */
  async send(transmit: (act: WaitingAct) => Promise<boolean>): Promise<void> {
    let hasBegun = false
    const sendAll = async () => {
      hasBegun = true
      for (let act = await this.#next(); act && (await transmit(act)); ) act = await this.#next(act)
    }
    try {
      // Undefined on a page without TLS, and outside a browser.
      await (globalThis.navigator?.locks?.request(`carillon kept ${this.#options.server}`, sendAll) ?? sendAll())
    } catch (error) {
      // A page in a frame without an origin may not use locks.
      if (hasBegun) throw error
      await sendAll()
    }
  }

  /** Deletes everything that is kept of this server: at sign-out, and when the session has ended. */
  async clear(): Promise<void> {
    this.#forget()
    await this.#change(() => undefined)
  }

  #forget(): void {
    this.#user = undefined
    this.#unsaved.clear()
    this.#unkept = []
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

  /** The oldest act, after `done` has been removed. */
  async #next(done?: WaitingAct): Promise<WaitingAct | undefined> {
    const withoutDone = (acts: WaitingAct[]) => acts.filter(({ key }) => key !== done?.key)
    const kept = await this.#change((found) => found && { ...found, acts: withoutDone(found.acts) })
    this.#unkept = withoutDone(this.#unkept)
    return (kept?.user === this.#user ? kept?.acts[0] : undefined) ?? this.#unkept[0]
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
