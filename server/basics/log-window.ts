// A period in which events of one kind are counted, from the first one on, so that the log gets one line per period instead of one per event.
export class LogWindow {
  readonly #ms: number
  readonly #onEnd: () => void
  #timer: NodeJS.Timeout | undefined

  /** `onEnd` is called `ms` after the first `begin()`, or earlier by `end()`. */
  constructor(ms: number, onEnd: () => void) {
    this.#ms = ms
    this.#onEnd = onEnd
  }

  get isOpen(): boolean {
    return this.#timer !== undefined
  }

  /** Does nothing if the period has begun already. */
  begin(): void {
    this.#timer ??= setTimeout(() => this.end(), this.#ms).unref()
  }

  /** Ends the period now if it has begun, so that a shutdown loses no counts. */
  end(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#onEnd()
  }
}
