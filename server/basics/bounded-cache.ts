// A cache of at most twice its bound. A used entry moves to the young of two Maps. When that is
// full, the old Map is dropped.
type Entry<Value> = { value: Value; weight: number }

export class BoundedCache<Value> {
  readonly #maxWeight: number
  #young = new Map<string, Entry<Value>>()
  #old = new Map<string, Entry<Value>>()
  #weight = 0

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young.value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old.value, old.weight)
    return old?.value
  }

  /** `weight`: in the bound's unit. Keeps no heavier entry. */
  set(key: string, value: Value, weight: number): void {
    if (weight > this.#maxWeight) return
    this.#weight += weight - (this.#young.get(key)?.weight ?? 0)
    this.#young.set(key, { value, weight })
    this.#old.delete(key)
    if (this.#weight <= this.#maxWeight) return
    this.#old = this.#young
    this.#young = new Map()
    this.#weight = 0
  }

  delete(key: string): void {
    this.#weight -= this.#young.get(key)?.weight ?? 0
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
