// The list behind one `useInbox()`. A render must have no effect outside of it, so the list is opened when React subscribes.
import type { Carillon, NotificationPage } from '../carillon-client.ts'
import { firstSnapshot, type InboxList, type InboxSnapshot, type OpenOptions } from '../store/inbox-list.ts'

type Opened = { list: InboxList; subscribers: number }

/** The lists that components have open, by name. Here, so that another component shows the same from its first render on. */
const openedOf = new WeakMap<Carillon, Map<string, Opened>>()

/** Equal for options of the same list. */
export function nameOf({ status, category = [], limit }: OpenOptions): string {
  return JSON.stringify([status, [category].flat(), limit])
}

export class InboxView {
  readonly #carillon: Carillon
  readonly #options: OpenOptions
  readonly #name: string
  readonly #first: InboxSnapshot

  /** `initial` is the first page of the list without a filter. */
  constructor(carillon: Carillon, options: OpenOptions, initial: NotificationPage | undefined) {
    const { status, category = [] } = options
    const isWhole = !status && category.length === 0
    this.#carillon = carillon
    this.#options = isWhole ? { ...options, initial: options.initial ?? initial } : options
    this.#name = nameOf(options)
    this.#first = firstSnapshot(this.#options.initial)
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const lists = this.#lists
    const opened = lists.get(this.#name) ?? { list: this.#open(), subscribers: 0 }
    lists.set(this.#name, opened)
    opened.subscribers++
    const unsubscribe = opened.list.subscribe(listener)
    return () => {
      unsubscribe()
      // Later: StrictMode subscribes again at once, and so does a component that moves.
      queueMicrotask(() => {
        if (--opened.subscribers > 0) return
        lists.delete(this.#name)
        opened.list.close()
      })
    }
  }

  readonly getSnapshot = (): InboxSnapshot => this.#lists.get(this.#name)?.list.getSnapshot() ?? this.#first

  /** While a server renders, and while the browser adopts what it has rendered: both have to render the same. */
  readonly getServerSnapshot = (): InboxSnapshot => this.#first

  readonly acts = {
    more: () => this.#act((list) => list.more()),
    hold: (isHeld: boolean) => this.#lists.get(this.#name)?.list.hold(isHeld),
    showNewer: () => this.#lists.get(this.#name)?.list.showNewer(),
    read: (id: string) => this.#act((list) => list.read(id)),
    markUnread: (id: string) => this.#act((list) => list.unread(id)),
    archive: (id: string) => this.#act((list) => list.archive(id)),
    unarchive: (id: string) => this.#act((list) => list.unarchive(id)),
    snooze: (id: string, until: string) => this.#act((list) => list.snooze(id, until)),
    remove: (id: string) => this.#act((list) => list.remove(id)),
    readAll: () => this.#act((list) => list.readAll()),
    archiveRead: () => this.#act((list) => list.archiveRead()),
    seen: () => this.#act((list) => list.seen()),
    undo: () => this.#act((list) => list.undo()),
  }

  get #lists(): Map<string, Opened> {
    const lists = openedOf.get(this.#carillon) ?? new Map<string, Opened>()
    openedOf.set(this.#carillon, lists)
    return lists
  }

  #open(): InboxList {
    return this.#carillon.inbox.open(this.#options)
  }

  /** Opens the list once more: a component that is removed before the server responds must not abort the act. */
  #act(act: (list: InboxList) => Promise<void>): Promise<void> {
    const list = this.#open()
    const done = act(list).finally(() => list.close())
    // The list shows what has failed. A component that ignores the promise causes no unhandled rejection.
    done.catch(() => {})
    return done
  }
}
