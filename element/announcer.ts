// The text of the live region of an element. Texts that come fast are collected and arrivals
// counted: a screen reader gets at most one text in three seconds.
import type { CarillonElement } from './carillon-element.ts'

const pauseMs = 3_000

export class Announcer {
  /** Emptied afterwards, so that the same text can be announced again. */
  text = ''
  readonly host: CarillonElement
  readonly #texts: string[] = []
  readonly #arrivals: string[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(host: CarillonElement) {
    this.host = host
  }

  /** `isTitle`: of a notification that has arrived. */
  say(text: string, isTitle = false): void {
    const texts = isTitle ? this.#arrivals : this.#texts
    texts.push(text)
    if (!this.#timer) this.#next()
  }

  #next(): void {
    const texts = this.#texts.splice(0)
    const [title, ...others] = this.#arrivals.splice(0)
    if (title !== undefined) {
      const text = this.host.source.strings.arrived(others.length + 1)
      texts.push(others.length ? text : `${text}: ${title}`)
    }
    this.text = texts.join(' ')
    this.#timer = this.text ? setTimeout(() => this.#next(), pauseMs) : undefined
    this.host.requestUpdate()
  }
}
