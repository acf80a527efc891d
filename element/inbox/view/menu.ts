// A menu beside its button (https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/): what a reader does seldom, with one notification or
// with the list. A native popover, which the browser closes with Escape or with a click beside it.
import type { TemplateResult } from 'lit'
import type { placeBeside } from '../../bell/placement.ts'
import type { Lit } from './item.ts'

export type Entry = {
  label: string
  /** Beside the label: a time, or the name of a category. */
  detail?: string
  /** It cannot be taken back. */
  isFinal?: boolean
  act(): void
}

type Setting = {
  lit: Lit
  place: typeof placeBeside
  /** Renders the element; resolves afterwards. */
  update(): Promise<unknown>
  /** Focuses the list, if the button is not there any longer. */
  focus(): void
}

export class Menu {
  readonly #setting: Setting
  #label = ''
  #entries: readonly Entry[] = []
  #button: HTMLElement | undefined
  #element: HTMLElement | undefined
  /** The button whose menu was open when the pointer was pressed: that has closed it. */
  #pressed: HTMLElement | undefined

  constructor(setting: Setting) {
    this.#setting = setting
  }

  render(): TemplateResult {
    const { html } = this.#setting.lit
    return html`<div part="menu" popover role="menu" aria-label=${this.#label} @keydown=${this.#onKey.bind(this)} @beforetoggle=${this.#onBeforeToggle.bind(this)}>
      ${this.#entries.map(
        (
          entry,
        ) => html`<button part=${entry.isFinal ? 'menu-item menu-item-final' : 'menu-item'} type="button" role="menuitem" tabindex="-1"
          @click=${() => this.#choose(entry)}><span>${entry.label}</span><span part="menu-detail" dir="auto">${entry.detail ?? ''}</span></button>`,
      )}
    </div>`
  }

  /** Before the browser closes the menu because of this press. */
  onPress(): void {
    this.#pressed = this.#isOpen ? this.#button : undefined
  }

  open(button: HTMLElement, label: string, entries: readonly Entry[]): void {
    const isClosing = this.#pressed === button
    this.#pressed = undefined
    if (isClosing) return
    this.#element?.hidePopover()
    this.#button = button
    this.#label = label
    this.#entries = entries
    void this.#setting.update().then(() => this.#show(button))
  }

  #show(button: HTMLElement): void {
    this.#element = (button.getRootNode() as ShadowRoot).querySelector<HTMLElement>('[part=menu]') ?? undefined
    if (!button.isConnected || !this.#element) return
    button.setAttribute('aria-expanded', 'true')
    this.#element.showPopover()
    this.#setting.place(button, this.#element)
    this.#items[0]?.focus()
  }

  get #isOpen(): boolean {
    return this.#element?.matches(':popover-open') ?? false
  }

  get #items(): HTMLElement[] {
    return [...(this.#element?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
  }

  /** The focus is back at the button first, from where it moves on if the notification leaves the list. */
  #choose({ act }: Entry): void {
    this.#element?.hidePopover()
    act()
  }

  /** A click beside the menu has moved the focus already. */
  #onBeforeToggle({ newState }: ToggleEvent): void {
    if (newState === 'open') return
    this.#button?.setAttribute('aria-expanded', 'false')
    if (this.#element?.matches(':focus-within')) (this.#button?.isConnected ? this.#button : this.#setting).focus()
  }

  #onKey(event: KeyboardEvent): void {
    const items = this.#items
    const place = items.indexOf(event.target as HTMLElement)
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') this.#element?.hidePopover()
    if (next === undefined) return
    event.preventDefault()
    items.at(next % items.length)?.focus()
  }
}
