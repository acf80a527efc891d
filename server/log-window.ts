// A stretch of time in which events of one kind are counted, so that the log gets a line for each stretch and not for each
// event. It begins with the first event and costs nothing while there is none.

export class LogWindow {
  readonly #ms: number
  readonly #onEnd: () => void
  #timer: NodeJS.Timeout | undefined

  /** `onEnd` is called `ms` after the first `begin()`, or earlier by `end()`. */
  constructor(ms: number, onEnd: () => void) {
    this.#ms = ms
    this.#onEnd = onEnd
  }

  /** Changes nothing if it has begun. */
  begin(): void {
    this.#timer ??= setTimeout(() => this.end(), this.#ms).unref()
  }

  /** Ends it now, if it has begun: at a shutdown nothing that was counted is lost. */
  end(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#onEnd()
  }
}
