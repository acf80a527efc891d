// What the user's preferences say about categories: their labels in the user's language, and until when they are muted. Requested when
// the list displays a category whose label is not known.
import type { Carillon, Preferences } from 'carillon-client'

type Known = Preferences['categories']

export class Categories {
  /** A new object after each change. A category that is not here is displayed by its name. */
  known: ReadonlyMap<string, Known[string]> = new Map()
  readonly #onChange: () => void
  #client: Carillon | undefined
  readonly #requested = new Set<string>()

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  need(names: readonly (string | null)[], client: Carillon): void {
    if (client !== this.#client) this.#requested.clear()
    this.#client = client
    const unknown = names.filter((name) => typeof name === 'string' && !this.#requested.has(name)) as string[]
    if (!unknown.length) return
    for (const name of unknown) this.#requested.add(name)
    // A failure leaves the names.
    this.#load().catch(() => {})
  }

  /** Undefined if the category cannot be muted. */
  isMuted(name: string | null, now: number): boolean | undefined {
    const { mandatory, mutedUntil } = this.known.get(name ?? '') ?? {}
    if (name === null || mandatory !== false) return undefined
    return mutedUntil === 'forever' || Date.parse(mutedUntil ?? '') > now
  }

  async mute(name: string, mutedUntil: 'forever' | null): Promise<void> {
    await this.#client?.inbox.setPreferences({ categories: { [name]: { mutedUntil } } })
    await this.#load()
  }

  async #load(): Promise<void> {
    const { categories = {} } = (await this.#client?.inbox.preferences()) ?? {}
    this.known = new Map(Object.entries(categories))
    this.#onChange()
  }
}
