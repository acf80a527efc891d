// For tests, inside a page or in Node: the open lists of one device, by name, and their state as plain data.
import type { Carillon, InboxList, InboxSnapshot, OpenOptions } from '../carillon-client.ts'

export type ListAct = 'read' | 'unread' | 'readAll' | 'undo' | 'more' | 'hold' | 'release' | 'showNewer' | 'close'
export type HeldList = { name: string; options: OpenOptions; snapshot: InboxSnapshot; snapshots: number }

export class ListHolder {
  readonly #carillon: Carillon
  readonly #lists = new Map<string, { list: InboxList; options: OpenOptions; snapshots: number }>()

  constructor(carillon: Carillon) {
    this.#carillon = carillon
  }

  open(name: string, options: OpenOptions): void {
    const list = this.#carillon.inbox.open(options)
    const entry = { list, options, snapshots: 0 }
    list.subscribe(() => entry.snapshots++)
    this.#lists.set(name, entry)
  }

  /** `index` chooses the notification of the list, `random` from 0 to 1. */
  act(name: string, act: ListAct, random: number): void {
    const { list } = this.#lists.get(name) ?? {}
    if (!list) return
    const { items } = list.getSnapshot()
    const id = items[Math.floor(random * items.length)]?.id
    if (act === 'read' || act === 'unread') void (id && list[act](id))
    else if (act === 'hold' || act === 'release') list.hold(act === 'hold')
    else if (act === 'more') list.more().catch(() => {})
    else void list[act]()
    if (act === 'close') this.#lists.delete(name)
  }

  state(): HeldList[] {
    return [...this.#lists].map(([name, { list, options, snapshots }]) => ({
      name,
      options,
      snapshot: list.getSnapshot(),
      snapshots,
    }))
  }
}
