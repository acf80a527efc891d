// <carillon-bell>: a button with the number of unread notifications. It opens a <carillon-inbox> in a native popover.
import { html, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit'
import { CarillonElement } from '../carillon-element.ts'
import { type CarillonInbox, placeBeside, preloadView } from '../inbox/carillon-inbox.ts'
import { bellStyles } from '../look/bell-styles.ts'

/** A page can style these parts from outside of the bell. */
const parts =
  'header,title,header-acts,mark-all,list-more,bar,tabs,tab,tab-selected,tab-count,list,newer,scroll,feed,day,item,item-unread,item-high,unread-dot,item-look,item-icon,item-content,item-head,item-title,item-text,item-summary,item-body,item-unfold,item-link,item-code,item-code-block,item-details,item-priority,item-actor,item-time,item-count,item-category,item-until,item-actions,item-action,item-toggle,item-acts,item-archive,item-more,more,empty,state-title,error,retry,offline,loading,signed-out,sign-in,undo,undo-button,see-all,menu,menu-item,menu-item-final,menu-detail'

const icon = svg`<path d="M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7M10 20a2 2 0 0 0 4 0" fill="none" stroke="currentcolor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round"/>`

export class CarillonBell extends CarillonElement {
  static override properties: PropertyDeclarations = { placement: { reflect: true }, badge: {} }
  static override styles = bellStyles

  /** Default: `bottom-end`, below the bell and towards its start. */
  declare placement: 'bottom-end' | 'bottom-start' | 'top-end' | 'top-start' | undefined

  /** `unseen`: what arrived since the list was last opened. Default: `unread`. */
  declare badge: 'unseen' | 'unread' | undefined

  #isOpen = false
  #wasOpened = false

  override focus(options?: FocusOptions): void {
    this.#button?.focus(options)
  }

  /** The browser closes the panel of an element that is moved or removed, and fires no event. */
  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#isOpen = false
  }

  protected override render(): TemplateResult {
    const { strings, announcer, client } = this.source
    const { unread = 0, unseen = 0 } = this.source.snapshot() ?? {}
    const count = this.badge === 'unseen' ? unseen : unread
    const name =
      this.badge === 'unseen' ? `${strings.title}, ${strings.newer(count)}` : strings.bell(count)
    return html`<button part="bell" type="button" popovertarget="panel" aria-haspopup="dialog" aria-controls="panel"
        aria-expanded=${this.#isOpen} aria-label=${count ? name : strings.title}
        @pointerenter=${preloadView} @focus=${preloadView}>
        <svg viewBox="0 0 24 24" aria-hidden="true">${icon}</svg>
        <span part="badge" aria-hidden="true">${count ? strings.badge(count) : nothing}</span>
      </button>
      <div part="panel" id="panel" popover role="dialog" aria-label=${strings.title}
        @beforetoggle=${this.#onBeforeToggle} @toggle=${this.#onToggle}>
        ${client && this.#wasOpened ? this.#inbox() : nothing}
      </div>
      <div part="status" role="status" aria-live="polite">${announcer.text}</div>`
  }

  protected override updated(): void {
    if (this.source.snapshot()?.state === 'live') preloadView()
  }

  /** The bell reports changes itself. */
  #inbox(): TemplateResult {
    return html`<carillon-inbox part="inbox" exportparts=${parts} .announcer=${this.source.announcer} .carillon=${this.source.client} .strings=${this.strings}
      .theme=${this.theme} .limit=${this.limit} .category=${this.category} .pushWorker=${this.pushWorker} .signInUrl=${this.signInLink} .allUrl=${this.#allLink}
      .renderItem=${this.renderItem} .itemTemplate=${this.querySelector(':scope>template[slot=item]')} @carillon-change=${(event: Event) => event.stopPropagation()}
      >${['header', 'empty'].map((name) =>
        this.querySelector(`:scope > [slot=${name}]`)
          ? html`<slot name=${name} slot=${name}></slot>`
          : nothing,
      )}</carillon-inbox>`
  }

  /** Users of an application have no session for the inbox page of the service. */
  get #allLink(): string {
    const isCookie = !this.carillon && typeof this.auth !== 'function'
    return this.allUrl ?? (isCookie ? this.pageOf('inbox') : '')
  }

  get #button(): HTMLElement | null | undefined {
    return this.shadowRoot?.querySelector<HTMLElement>('[part=bell]')
  }

  #onBeforeToggle({ newState }: ToggleEvent): void {
    this.#isOpen = newState === 'open'
    // A click beside the panel has moved the focus already.
    if (!this.#isOpen && this.shadowRoot?.activeElement?.localName === 'carillon-inbox')
      this.focus()
    this.#wasOpened ||= this.#isOpen
    this.requestUpdate()
  }

  async #onToggle({ newState, target }: ToggleEvent): Promise<void> {
    const panel = target as HTMLElement
    const inbox = panel.querySelector<CarillonInbox>('carillon-inbox')
    if (newState === 'open') {
      await inbox?.updateComplete
      if (this.#button) placeBeside(this.#button, panel)
      inbox?.focus()
      inbox?.requestUpdate()
    } else inbox?.reset()
  }
}
