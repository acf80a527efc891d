// For tests, inside a page of the browser: what one tab keeps and sends.

import { CarillonError } from '../../../transport/errors.ts'
import type { NotificationPage } from '../../../transport/types.ts'
import { isRefusal } from '../../acts.ts'
import { KeptInbox } from '../kept-inbox.ts'
import type { Act } from '../record.ts'

class KeptTab {
  #inbox = new KeptInbox({ server: '', name: '', isRefusal })
  #keys: string[] = []
  readonly #acts = new Map<string, Act>()

  /** As on a new visit. */
  open(server: string, name = ''): void {
    this.#inbox = new KeptInbox({ server, name, isRefusal })
    this.#keys = []
  }

  /** Null if nothing is kept. */
  async load(list: string): Promise<{ user: string; page: NotificationPage | undefined; acts: Act[] } | null> {
    const loaded = await this.#inbox.load(list)
    for (const act of loaded?.acts ?? []) this.#wait(act.key, act)
    return loaded ? { ...loaded, acts: loaded.acts.map(({ key, ...act }) => act as Act) } : null
  }

  confirm(user: string | null): Promise<void> {
    return this.#inbox.confirm(user)
  }

  save(list: string, page: NotificationPage): void {
    this.#inbox.save(list, page)
  }

  add(...acts: Act[]): void {
    for (const act of acts) this.#wait(this.#inbox.add(act), act)
  }

  /** Sends what this tab added or loaded. Resolves to the types of the acts that were sent, and to the codes of failures. */
  async send(failure?: { act: Act['type']; code: 'NETWORK' | 'NOT_FOUND'; status?: number }): Promise<string[]> {
    const sent: string[] = []
    const transmit = async (key: string) => {
      const { type } = this.#acts.get(key) as Act
      await new Promise((resolve) => setTimeout(resolve, 10))
      if (type === failure?.act) throw new CarillonError(failure.code, '', { status: failure.status })
      sent.push(type)
    }
    for (const key of this.#keys) await this.#inbox.once(key, () => transmit(key)).catch(({ code }) => sent.push(code))
    return sent
  }

  clear(): Promise<void> {
    return this.#inbox.clear()
  }

  #wait(key: string, act: Act): void {
    this.#keys.push(key)
    this.#acts.set(key, act)
  }
}

declare global {
  var kept: KeptTab
}
globalThis.kept = new KeptTab()
