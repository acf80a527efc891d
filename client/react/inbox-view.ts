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

/** `whole` is the first page of the list without a filter. */
export function viewOf(carillon: Carillon, options: OpenOptions, whole: NotificationPage | undefined) {
  const name = nameOf(options)
  const { status, category = [] } = options
  const initial = options.initial ?? (status || category.length > 0 ? undefined : whole)
  const first = firstSnapshot(initial)
  const lists = openedOf.get(carillon) ?? new Map<string, Opened>()
  openedOf.set(carillon, lists)
  const open = () => carillon.inbox.open({ ...options, initial })

  /** Opens the list once more: a component that is removed before the server responds must not abort the act. */
  const act = (send: (list: InboxList) => Promise<void>): Promise<void> => {
    const list = open()
    const done = send(list).finally(() => list.close())
    // The list shows what has failed. A component that ignores the promise causes no unhandled rejection.
    done.catch(() => {})
    return done
  }
  const acts = {
    more: () => act((list) => list.more()),
    hold: (isHeld: boolean) => lists.get(name)?.list.hold(isHeld),
    showNewer: () => lists.get(name)?.list.showNewer(),
    read: (id: string) => act((list) => list.read(id)),
    markUnread: (id: string) => act((list) => list.unread(id)),
    archive: (id: string) => act((list) => list.archive(id)),
    unarchive: (id: string) => act((list) => list.unarchive(id)),
    snooze: (id: string, until: string) => act((list) => list.snooze(id, until)),
    remove: (id: string) => act((list) => list.remove(id)),
    readAll: () => act((list) => list.readAll()),
    archiveRead: () => act((list) => list.archiveRead()),
    seen: () => act((list) => list.seen()),
    undo: () => act((list) => list.undo()),
  }

  return {
    acts,
    subscribe(listener: () => void): () => void {
      const opened = lists.get(name) ?? { list: open(), subscribers: 0 }
      lists.set(name, opened)
      opened.subscribers++
      const unsubscribe = opened.list.subscribe(listener)
      return () => {
        unsubscribe()
        // Later: StrictMode subscribes again at once, and so does a component that moves.
        queueMicrotask(() => {
          if (--opened.subscribers > 0) return
          lists.delete(name)
          opened.list.close()
        })
      }
    },
    getSnapshot: (): InboxSnapshot => lists.get(name)?.list.getSnapshot() ?? first,
    /** While a server renders, and while the browser adopts what it has rendered: both have to render the same. */
    getServerSnapshot: (): InboxSnapshot => first,
  }
}
