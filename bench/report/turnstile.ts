// Lets two runs of the same scenario, one for each checkout, alternate: only one of them works at a time. What the other one has
// started stays, without requests.

export class Turnstile {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Resolves when no other run works. */
  async enter(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isTaken = true
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isTaken = false
    else next()
  }

  /** Lets the one that waits longest work, and resolves when it is this one's turn again; at once if no other waits. */
  async turn(): Promise<void> {
    if (this.#waiting.length === 0) return
    const again = this.enter()
    this.leave()
    await again
  }
}
