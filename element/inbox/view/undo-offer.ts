// The offer to undo "mark all as read": it is displayed for ten seconds, and stays while it has the focus.
import type { LitElement } from 'lit'

const offerMs = 10_000

export class UndoOffer {
  isOpen = false
  readonly #host: LitElement
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(host: LitElement) {
    this.#host = host
  }

  start(): void {
    this.#set(true)
    this.#timer = setTimeout(() => this.#expire(), offerMs)
  }

  end(): void {
    if (this.isOpen) this.#set(false)
  }

  #expire(): void {
    const focused = this.#host.shadowRoot?.querySelector('[part=undo] :focus')
    if (focused) focused.addEventListener('blur', () => this.end(), { once: true })
    else this.end()
  }

  #set(isOpen: boolean): void {
    clearTimeout(this.#timer)
    this.isOpen = isOpen
    this.#host.requestUpdate()
  }
}
