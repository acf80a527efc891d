// The open lists of one device, by name, and their state as plain data.
import type { Carillon, InboxList, InboxSnapshot, OpenOptions } from '../carillon-client.ts'

type OneAct = 'read' | 'markUnread' | 'archive' | 'unarchive' | 'snooze' | 'remove'
export type ListAct =
  | OneAct
  | 'readAll'
  | 'archiveRead'
  | 'seen'
  | 'undo'
  | 'more'
  | 'hold'
  | 'release'
  | 'showNewer'
  | 'close'
export type HeldList = {
  name: string
  options: OpenOptions
  snapshot: InboxSnapshot
  snapshots: number
}

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

  /** `random`, from 0 to 1, chooses the notification. */
  act(
    name: string,
    act: ListAct,
    { random, until = '' }: { random: number; until?: string },
  ): void {
    const { list } = this.#lists.get(name) ?? {}
    if (!list) return
    const { items } = list.getSnapshot()
    const id = items[Math.floor(random * items.length)]?.id
    if (['read', 'markUnread', 'archive', 'unarchive', 'snooze', 'remove'].includes(act))
      void (id && list[act as OneAct](id, until))
    else if (act === 'hold' || act === 'release') list.hold(act === 'hold')
    else if (act === 'more') list.more().catch(() => {})
    else void list[act as 'undo']()
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
