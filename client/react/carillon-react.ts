// The entry point of `carillon-client/react`: the inbox as a hook. It has no JSX, so it needs no
// build step, and uses no document, so a server can render it.
'use client'
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'
import { type Carillon, createCarillon, type NotificationPage } from '../carillon-client.ts'
import {
  firstSnapshot,
  type InboxList,
  type InboxSnapshot,
  type OpenList,
  type OpenOptions,
} from '../store/inbox-list.ts'

export type CarillonProviderProps = {
  /**
   * Default: one for the origin of the page, which all components without a provider share. Create
   * your own outside of components.
   */
  carillon?: Carillon | undefined
  /**
   * The first page of the list without a filter, from server-side rendering: the same on the server
   * and in the browser.
   */
  initial?: NotificationPage | undefined
  children?: ReactNode
}

export type UseInbox = InboxSnapshot & Omit<InboxList, 'getSnapshot' | 'subscribe' | 'close'>

type Sent = Exclude<keyof UseInbox & keyof InboxList, 'hold' | 'showNewer'>

type Opened = { list: OpenList; subscribers: number }

/** The lists live here, so that a second component shows the list in its first render. */
const openedOf = new WeakMap<Carillon, Map<string, Opened>>()
const ProvidedContext = createContext<Pick<CarillonProviderProps, 'carillon' | 'initial'>>({})
let shared: Carillon | undefined

export function CarillonProvider({ carillon, initial, children }: CarillonProviderProps) {
  const value = useMemo(() => ({ carillon, initial }), [carillon, initial])
  return createElement(ProvidedContext.Provider, { value }, children)
}

/**
 * An open list, and what its reader does with it. Components with the same options share one list,
 * which is requested after the first render and closed with the last of them. If the options
 * change, the component gets another list; `initial` counts once only.
 *
 * @example const { items, unread, read } = useInbox({ category: 'builds' })
 */
export function useInbox(options: OpenOptions = {}): UseInbox {
  shared ??= createCarillon()
  const { carillon = shared, initial } = useContext(ProvidedContext)
  const name = nameOf(options)
  const view = useMemo(() => viewOf(carillon, options, initial), [carillon, name])
  const snapshot = useSyncExternalStore(view.subscribe, view.getSnapshot, view.getServerSnapshot)
  return useMemo(() => view.inboxOf(snapshot), [snapshot, view])
}

function nameOf({ status, category = [], limit }: OpenOptions): string {
  return JSON.stringify([status, [category].flat(), limit])
}

/** A render must have no effect, so only a subscription opens the list. */
function viewOf(carillon: Carillon, options: OpenOptions, whole: NotificationPage | undefined) {
  const name = nameOf(options)
  const { status, category = [] } = options
  const initial = options.initial ?? (status || category.length > 0 ? undefined : whole)
  const first = firstSnapshot(initial)
  const lists = openedOf.get(carillon) ?? new Map<string, Opened>()
  openedOf.set(carillon, lists)
  const open = () => carillon.inbox.open({ ...options, initial })

  /** Opens the list once more: a component that is removed before the server responds must not abort the act. */
  const sent =
    (method: Sent) =>
    (...given: string[]): Promise<void> => {
      const list = open()
      const done = list[method](...(given as [string, string])).finally(() => list.close())
      // The list shows the failure, so a component may ignore the promise.
      done.catch(() => {})
      return done
    }
  const acts = {
    more: sent('more'),
    hold: (isHeld: boolean) => lists.get(name)?.list.hold(isHeld),
    showNewer: () => lists.get(name)?.list.showNewer(),
    read: sent('read'),
    markUnread: sent('markUnread'),
    archive: sent('archive'),
    unarchive: sent('unarchive'),
    snooze: sent('snooze'),
    remove: sent('remove'),
    readAll: sent('readAll'),
    archiveRead: sent('archiveRead'),
    seen: sent('seen'),
    undo: sent('undo'),
  }

  let usesCategories = false

  return {
    inboxOf: (snapshot: InboxSnapshot): UseInbox => ({
      ...snapshot,
      ...acts,
      get categories() {
        usesCategories = true
        return (lists.get(name)?.list ?? snapshot).categories
      },
    }),
    subscribe(listener: () => void): () => void {
      const opened = lists.get(name) ?? { list: open(), subscribers: 0 }
      lists.set(name, opened)
      opened.subscribers++
      if (usesCategories) opened.list.categories
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
    /** The server renders this, and the browser has to render the same first. */
    getServerSnapshot: (): InboxSnapshot => first,
  }
}
