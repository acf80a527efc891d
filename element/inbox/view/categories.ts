// The labels and mutes of categories, requested when the list displays an unknown category.
import type { Carillon, Notification, Preferences } from 'carillon-client'

export class Categories {
  /** A new object after each change. An unknown category is displayed by its name. */
  known: ReadonlyMap<string, Preferences['categories'][string]> = new Map()
  readonly #onChange: () => void
  #client: Carillon | undefined
  #requested = new Set<unknown>()
  #saved: Promise<unknown> = Promise.resolve()

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  need(items: readonly Notification[], client: Carillon): void {
    if (client !== this.#client) this.#requested = new Set([null])
    this.#client = client
    const before = this.#requested.size
    for (const { category } of items) this.#requested.add(category)
    // A failure leaves the names.
    if (this.#requested.size > before) this.#load().catch(() => {})
  }

  isMuted(name: string, now: number): boolean | undefined {
    const { mandatory, mutedUntil } = this.known.get(name) ?? {}
    return mandatory === false
      ? mutedUntil === 'forever' || Date.parse(mutedUntil ?? '') > now
      : undefined
  }

  /** Displayed at once. A change waits for the one before, so that an undo is the last. */
  async mute(name: string, mutedUntil: 'forever' | null): Promise<void> {
    const known = this.known.get(name)
    if (known) this.#display(new Map(this.known).set(name, { ...known, mutedUntil }))
    const save = () =>
      this.#client?.inbox.setPreferences({ categories: { [name]: { mutedUntil } } })
    this.#saved = this.#saved.then(save, save)
    await this.#saved.catch((error) => {
      if (known) this.#display(new Map(this.known).set(name, known))
      throw error
    })
  }

  async #load(): Promise<void> {
    const saved = this.#saved
    await saved.catch(() => {})
    const { categories = {} } = (await this.#client?.inbox.preferences()) ?? {}
    // A change has begun meanwhile.
    if (saved !== this.#saved) return this.#load()
    this.#display(new Map(Object.entries(categories)))
  }

  #display(known: typeof this.known): void {
    this.known = known
    this.#onChange()
  }
}
