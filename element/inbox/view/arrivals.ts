// Arrivals move the list at most every 340 ms: one that moves more often cannot be read.
const insertMs = 340

export class Arrivals {
  #newest = 0
  #pause: ReturnType<typeof setTimeout> | undefined

  /** `first`: the sequence number at the top of the list. `onEnd`: something may have waited. */
  isTooEarly(first: number, onEnd: () => void): boolean {
    const isArrival = first > this.#newest
    if (isArrival && this.#pause) return true
    this.#newest = first
    if (isArrival)
      this.#pause = setTimeout(() => {
        this.end()
        onEnd()
      }, insertMs)
    return false
  }

  end(): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
  }
}
