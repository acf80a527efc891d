// Connects an element to the store of the client. Elements with the same settings share a client,
// so one stream and one request.
import {
  type Auth,
  type Carillon,
  createCarillon,
  type InboxList,
  type InboxSnapshot,
} from 'carillon-client'
import type { ReactiveController } from 'lit'
import { Announcer } from './announcer.ts'
import type { CarillonElement } from './carillon-element.ts'
import type { Strings } from './languages/en/inbox.ts'
import { englishStrings, stringsFor } from './languages/languages.ts'
import { retriedImport } from './retried-import.ts'

/** Undefined, for the origin of the page, in an application's bundle. */
export const defaultServer: string | undefined =
  /^(https?:.*\/)carillon-scripts\/carillon-inbox-[0-9a-f]+\.js$/i.exec(import.meta.url)?.[1]

const clients = new WeakMap<object, Map<string | undefined, Carillon>>()
const cookie = {}

let badge: Promise<typeof import('./title-badge.ts')> | undefined

export type Tab = 'inbox' | 'unread' | 'archived' | 'snoozed'

/** The highest `seq` that a client announced: the elements of a page announce it once. */
const announced = new WeakMap<Carillon, number>()

export class InboxSource implements ReactiveController {
  strings: Strings = englishStrings
  /** The list in the panel of a bell has the announcer of the bell: one live region. */
  announcer: Announcer
  client: Carillon | undefined
  readonly #host: CarillonElement
  readonly #lists = new Map<Tab, InboxList>()
  readonly #unsubscribes: (() => void)[] = []
  #settings: readonly unknown[] = []
  readonly #languages = new MutationObserver(() => this.#host.requestUpdate())
  #language = ''
  #loaded = englishStrings
  #unread: number | undefined
  #tidied = ''
  #tidying = Promise.resolve()

  constructor(host: CarillonElement) {
    this.#host = host
    this.announcer = new Announcer(host)
    host.addController(this)
  }

  hostConnected(): void {
    this.#languages.observe(document, { subtree: true, attributeFilter: ['lang'] })
    this.#host.requestUpdate()
  }

  hostUpdate(): void {
    const { isConnected, server, auth, carillon, limit, category, strings } = this.#host
    if (!isConnected) return
    this.#chooseLanguage()
    this.strings = strings ? { ...this.#loaded, ...strings } : this.#loaded
    this.#showBadge()
    const settings = [server, auth, carillon, limit, category]
    if (this.client && settings.every((value, index) => value === this.#settings[index])) return
    this.#close()
    this.#settings = settings
    this.client = carillon ?? sharedClient(server || undefined, auth)
  }

  /** An element that is moved is removed first: its lists stay open if the page still has it. */
  hostDisconnected(): void {
    this.#languages.disconnect()
    queueMicrotask(() => this.#host.isConnected || this.#close())
  }

  /** Undefined for an element that is not in the page. */
  list(tab: Tab): InboxList | undefined {
    const opened = this.#lists.get(tab)
    if (opened || !this.client) return opened
    const { limit, category } = this.#host
    const status = tab === 'inbox' ? undefined : tab
    const categories = category?.split(/\s/).filter(Boolean)
    const list = this.client.inbox.open({ status, limit: limit || undefined, category: categories })
    this.#lists.set(tab, list)
    this.#unsubscribes.push(list.subscribe((snapshot) => this.#changed(tab, snapshot)))
    this.#changed(tab, list.getSnapshot())
    return list
  }

  snapshot(tab: Tab = 'inbox'): InboxSnapshot | undefined {
    return this.list(tab)?.getSnapshot()
  }

  openTotal(tab: Tab): number | undefined {
    return this.#lists.get(tab)?.getSnapshot().total
  }

  /** The store reports at most one change per frame. */
  #changed(tab: Tab, snapshot: InboxSnapshot): void {
    const { unread, state } = snapshot
    this.#host.requestUpdate()
    if (state === 'loading') return
    if (state === 'live') this.#tidy(snapshot)
    // The list was empty before, so what it gets has not arrived just now.
    if (tab === 'inbox' && state === 'live') this.#announceArrivals(snapshot)
    if (unread === this.#unread) return
    this.#unread = unread
    const change = { bubbles: true, composed: true, detail: { unread } }
    this.#host.dispatchEvent(new CustomEvent('carillon-change', change))
  }

  /** Closes notifications of the system about what was read elsewhere. */
  #tidy(snapshot: InboxSnapshot): void {
    if (globalThis.Notification?.permission !== 'granted') return
    const { push } = this.client ?? {}
    const { unread, items } = snapshot
    // The number can change before the items.
    const tidied = `${unread} ${items.filter(({ read }) => read).length}`
    if (!push || tidied === this.#tidied) return
    this.#tidied = tidied
    // One after the other, so that the newest number stays on the icon.
    this.#tidying = this.#tidying
      .then(() => push.tidy(snapshot, this.#host.pushOptions))
      .catch(() => {})
  }

  /** The client ends the wait for its next attempt at this event. */
  retry(): void {
    dispatchEvent(new Event('online'))
  }

  #announceArrivals({ items, newer }: InboxSnapshot): void {
    const client = this.client as Carillon
    const newest = (newer[0] ?? items[0])?.seq ?? 0
    const before = announced.get(client)
    if (before !== undefined && newest <= before) return
    announced.set(client, newest)
    if (before === undefined) return
    for (const { seq, read, title } of [...newer, ...items]) {
      if (seq <= before) return
      if (!read) this.announcer.say(title, true)
    }
  }

  #chooseLanguage(): void {
    const tags = [languageAround(this.#host), ...navigator.languages].filter((tag) => tag !== '')
    const language = tags.join()
    if (language === this.#language) return
    this.#language = language
    void stringsFor(tags).then((strings) => {
      if (language !== this.#language) return
      this.#loaded = strings
      this.#host.requestUpdate()
    })
  }

  #showBadge(): void {
    const { titleBadge, appBadge } = this.#host
    if (titleBadge || appBadge) badge ??= retriedImport(() => import('./title-badge.ts'))
    void badge?.then(({ showBadge }) => {
      const unread = this.#unread ?? 0
      const title = titleBadge && unread ? this.strings.badge(unread) : undefined
      showBadge(this.#host, { title, app: appBadge ? unread : undefined })
    })
  }

  #close(): void {
    void badge?.then(({ hideBadge }) => hideBadge(this.#host))
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe()
    for (const list of this.#lists.values()) list.close()
    this.#lists.clear()
    this.client = undefined
    this.#unread = undefined
    this.#tidied = ''
  }
}

function sharedClient(server = defaultServer, auth?: Auth): Carillon {
  const proof = typeof auth === 'function' ? auth : cookie
  const byServer = clients.get(proof) ?? new Map<string | undefined, Carillon>()
  clients.set(proof, byServer)
  const client = byServer.get(server) ?? createCarillon({ baseUrl: server, auth })
  byServer.set(server, client)
  return client
}

/** The search leaves shadow roots. */
function languageAround(element: Element): string {
  const nearest = element.closest<HTMLElement>('[lang]')
  if (nearest) return nearest.lang
  const root = element.getRootNode()
  return root instanceof ShadowRoot ? languageAround(root.host) : ''
}
