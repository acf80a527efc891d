// The entry point of `carillon-client/react`: the inbox of the signed-in user as a hook. It contains no JSX, so that it needs no
// build step, and of React only what has no document, so that a server can render it.
'use client'
import { createContext, createElement, type ReactNode, useContext, useMemo, useSyncExternalStore } from 'react'
import { type Carillon, createCarillon, type NotificationPage } from '../carillon-client.ts'
import type { InboxList, InboxSnapshot, OpenOptions } from '../store/inbox-list.ts'
import { nameOf, viewOf } from './inbox-view.ts'

export type CarillonProviderProps = {
  /** Default: one for the origin of the page, which all components without a provider share. Create it outside of components. */
  carillon?: Carillon | undefined
  /** The first page of the list without a filter, from server-side rendering: the same on the server and in the browser. */
  initial?: NotificationPage | undefined
  children?: ReactNode
}

export type UseInbox = InboxSnapshot &
  Omit<InboxList, 'getSnapshot' | 'subscribe' | 'unread' | 'close'> & {
    /** `unread` is the number of unread notifications, so the act has this name. */
    markUnread: InboxList['unread']
  }

type Provided = Pick<CarillonProviderProps, 'carillon' | 'initial'>

const ProvidedContext = createContext<Provided>({})
let shared: Carillon | undefined

/** The components below use this client. */
export function CarillonProvider({ carillon, initial, children }: CarillonProviderProps) {
  const value = useMemo(() => ({ carillon, initial }), [carillon, initial])
  return createElement(ProvidedContext.Provider, { value }, children)
}

/**
 * An open list, and what its reader does with it. Components with the same options share one list, and all lists of a client
 * share one stream. The list is requested after the first render, and closed when the last component that uses it is removed. If the
 * options change, the component gets another list; `initial` counts once only.
 */
export function useInbox(options: OpenOptions = {}): UseInbox {
  shared ??= createCarillon()
  const { carillon = shared, initial } = useContext(ProvidedContext)
  const name = nameOf(options)
  const view = useMemo(() => viewOf(carillon, options, initial), [carillon, name])
  const snapshot = useSyncExternalStore(view.subscribe, view.getSnapshot, view.getServerSnapshot)
  return useMemo(() => ({ ...snapshot, ...view.acts }), [snapshot, view])
}
