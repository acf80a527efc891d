// The text of the live region of an element. Screen readers read what appears in it, so texts that come fast are collected, and
// arrivals are counted: at most one text in three seconds.
import type { CarillonElement } from './carillon-element.ts'

const pauseMs = 3_000

export class Announcer {
  /** What the live region contains now. It is emptied afterwards, so that the same text can be announced again. */
  text = ''
  readonly #host: CarillonElement
  readonly #texts: string[] = []
  #arrivals = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(host: CarillonElement) {
    this.#host = host
  }

  say(text: string): void {
    this.#texts.push(text)
    if (!this.#timer) this.#next()
  }

  arrived(): void {
    this.#arrivals++
    if (!this.#timer) this.#next()
  }

  #next(): void {
    const texts = this.#texts.splice(0)
    if (this.#arrivals) texts.push(this.#host.source.strings.arrived(this.#arrivals))
    this.#arrivals = 0
    this.text = texts.join(' ')
    this.#timer = this.text ? setTimeout(() => this.#next(), pauseMs) : undefined
    this.#host.requestUpdate()
  }
}
