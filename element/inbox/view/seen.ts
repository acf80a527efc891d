import type { CarillonInbox } from '../carillon-inbox.ts'

export class Seen {
  #newest: number | undefined

  /** The list is at its top. The page has to be visible, and the panel open. */
  look(host: CarillonInbox): void {
    const { source } = host
    const { items, unseen, state } = source.snapshot() ?? {}
    const newest = items?.[0]?.seq
    if (state !== 'live' || !unseen || newest === undefined || newest === this.#newest) return
    if (document.visibilityState === 'hidden' || !host.checkVisibility()) return
    this.#newest = newest
    // After a failure, the next rendering sends it again.
    source.client?.inbox.seen(newest).catch(() => (this.#newest = undefined))
  }
}
