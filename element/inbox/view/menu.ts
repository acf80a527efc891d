// A menu beside its button (https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/). It is a native
// popover, which the browser closes with Escape or with a click beside it.
import type { Notification } from 'carillon-client'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { CarillonInbox } from '../carillon-inbox.ts'
import type { Acts } from './acts.ts'
import type { Categories } from './categories.ts'
import { html, placeBeside } from './loaded.ts'

/** `detail` is beside the label: a time, or the name of a category. What is final cannot be undone. */
export type Entry = { label: string; detail?: string | undefined; isFinal?: boolean; act(): void }

export class Menu {
  readonly #host: CarillonInbox
  #label = ''
  #entries: readonly Entry[] = []
  #button: HTMLElement | undefined
  /** The button whose menu was open when the pointer was pressed: that has closed it. */
  #pressed: HTMLElement | undefined

  constructor(host: CarillonInbox) {
    this.#host = host
  }

  render(): TemplateResult {
    const item = (entry: Entry) =>
      html`<button part=${entry.isFinal ? 'menu-item menu-item-final' : 'menu-item'} type="button" role="menuitem" tabindex="-1"
        @click=${() => this.#choose(entry)}
        ><span>${entry.label}</span><span part="menu-detail" dir="auto">${entry.detail ?? ''}</span></button>`
    return html`<div part="menu" popover role="menu" aria-label=${this.#label} @keydown=${this.#onKey.bind(this)}
      @beforetoggle=${this.#onBeforeToggle.bind(this)}>${this.#entries.map(item)}</div>`
  }

  /** The browser closes the menu without an event. */
  onRemoved(): void {
    this.#button?.setAttribute('aria-expanded', 'false')
  }

  /** Before the browser closes the menu because of this press. */
  onPress(event: Event): void {
    const button = this.#element?.matches(':popover-open') ? this.#button : undefined
    this.#pressed = button && event.composedPath().includes(button) ? button : undefined
  }

  /** The notification of the menu may leave the list. */
  closeIfGone(): void {
    if (this.#button?.isConnected === false) this.#element?.hidePopover()
  }

  async open(button: HTMLElement, label: string, entries: readonly Entry[]): Promise<void> {
    const isClosing = this.#pressed === button
    this.#pressed = undefined
    if (isClosing) return
    this.#element?.hidePopover()
    this.#button = button
    this.#label = label
    this.#entries = entries
    button.setAttribute('aria-expanded', 'true')
    this.#host.requestUpdate()
    await this.#host.updateComplete
    const menu = this.#element
    if (!button.isConnected || !menu) return
    menu.showPopover()
    placeBeside(button, menu)
    this.#items[0]?.focus()
  }

  get #element(): HTMLElement | null | undefined {
    return this.#host.shadowRoot?.querySelector<HTMLElement>('[part=menu]')
  }

  get #items(): HTMLElement[] {
    return [...(this.#element?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
  }

  /** First the focus returns to the button. It moves on if the notification leaves the list. */
  #choose({ act }: Entry): void {
    this.#element?.hidePopover()
    act()
  }

  /** A click beside the menu has moved the focus already. */
  #onBeforeToggle({ newState }: ToggleEvent): void {
    if (newState === 'open') return
    this.#button?.setAttribute('aria-expanded', 'false')
    if (this.#element?.matches(':focus-within'))
      (this.#button?.isConnected ? this.#button : this.#host).focus()
    // What has arrived meanwhile may be displayed now.
    this.#host.requestUpdate()
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

type Setting = { acts: Acts; strings: Strings; times: Times; categories: Categories; now: number }

/** `onDelete` asks first: a deletion cannot be undone. */
export function entriesOf(one: Notification, setting: Setting, onDelete: () => void): Entry[] {
  const { acts, strings, categories, now } = setting
  const category = one.category ?? ''
  const isMuted = categories.isMuted(category, now)
  const mute = isMuted ? strings.unmute : strings.mute
  const label = categories.known.get(category)?.label
  return [
    ...snoozeEntries(one, setting),
    ...(isMuted === undefined
      ? []
      : [{ label: mute, detail: label, act: () => acts.mute(category, !isMuted) }]),
    { label: strings.delete, isFinal: true, act: onDelete },
  ]
}

export function snoozeEntries(one: Notification, { acts, strings, times, now }: Setting): Entry[] {
  return snoozeTimes(now).map(([name, until]) => ({
    label: strings.snooze[name],
    detail: times.moment(until, now),
    act: () => acts.move('snooze', one, until),
  }))
}

/** In the time zone of the reader. On a Sunday, `tomorrow` and `week` are the same time. */
export function snoozeTimes(now: number): (readonly ['hour' | 'tomorrow' | 'week', number])[] {
  const date = new Date(now)
  const toMonday = (8 - date.getDay()) % 7 || 7
  const morning = (days: number) =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 8).getTime()
  const times = [['hour', now + 3_600_000] as const, ['tomorrow', morning(1)] as const]
  return toMonday === 1 ? times : [...times, ['week', morning(toMonday)]]
}
