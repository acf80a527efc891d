// Counts events of a period, which get one log line.
export class LogWindow {
  readonly #ms: number
  readonly #onEnd: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number, onEnd: () => void) {
    this.#ms = ms
    this.#onEnd = onEnd
  }

  get isOpen(): boolean {
    return this.#timer !== undefined
  }

  begin(): void {
    this.#timer ??= setTimeout(() => this.end(), this.#ms).unref()
  }

  end(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#onEnd()
  }
}
