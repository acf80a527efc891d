// Arrivals move the list at most every 300 ms: one that moves more often cannot be read.
const insertMs = 300

export class Arrivals {
  #newest = 0
  #pause: ReturnType<typeof setTimeout> | undefined

  /** `first`: the sequence number at the top of the list. */
  isTooEarly(first: number): boolean {
    return first > this.#newest && this.#pause !== undefined
  }

  /** The pause begins when the list has moved. `onEnd`: something may have waited. */
  displayed(first: number, onEnd: () => void): void {
    const isArrival = first > this.#newest
    this.#newest = first
    if (!isArrival) return
    this.#pause = setTimeout(() => {
      this.end()
      onEnd()
    }, insertMs)
  }

  end(): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
  }
}
