// <carillon-inbox>: the list of notifications, for a page or for the panel of a bell. view/ is
// loaded on demand: a page with a closed bell does not wait for it.
import { html, nothing, render, type TemplateResult } from 'lit'
import type { Announcer } from '../announcer.ts'
import { CarillonElement } from '../carillon-element.ts'
import { themes, tokens } from '../look/tokens.ts'
import { retriedImport } from '../retried-import.ts'
import type { InboxView } from './view/inbox-view.ts'

export class CarillonInbox extends CarillonElement {
  static override styles = [themes, tokens]

  itemTemplate: HTMLTemplateElement | null | undefined
  #view: InboxView | undefined
  #isFailed = false
  #isFocusWanted = false

  set announcer(announcer: Announcer) {
    this.source.announcer = announcer
  }

  override focus(options?: FocusOptions): void {
    if (this.#view) this.#view.focus(options)
    else this.#isFocusWanted = true
  }

  reset(): void {
    this.#isFocusWanted = false
    this.#view?.reset()
  }

  protected override render(): TemplateResult {
    const { strings, client } = this.source
    if (!this.#view && client) this.source.list('inbox')
    const text = this.#isFailed ? strings.errors.other : strings.loading
    return this.#view?.render() ?? html`<p part="loading">${text}</p>`
  }

  protected override async firstUpdated(): Promise<void> {
    const view = await retriedImport(loadView, () => {
      this.#isFailed = true
      this.requestUpdate()
    })
    view.handOver({ html, nothing, render, placeBeside })
    this.#view = new view.InboxView(this)
    this.requestUpdate()
    await this.updateComplete
    if (this.#isFocusWanted) this.focus()
  }
}

function loadView(): Promise<typeof import('./view/inbox-view.ts')> {
  return import('./view/inbox-view.ts')
}

/** The reader may open the list soon, and without a connection. */
export function preloadView(): void {
  loadView().catch(() => {})
}

/** A browser without CSS anchor positioning needs it. */
export function placeBeside(button: HTMLElement, panel: HTMLElement): void {
  if (CSS.supports('position-area: end')) return
  const gap = 8
  const around = button.getBoundingClientRect()
  const { width, height } = panel.getBoundingClientRect()
  const isRightToLeft = getComputedStyle(button).direction === 'rtl'
  const left = isRightToLeft ? around.left : around.right - width
  const isBelow = around.bottom + gap + height <= innerHeight || around.top < height
  panel.style.left = `${Math.max(gap, Math.min(left, innerWidth - width - gap))}px`
  panel.style.top = `${isBelow ? around.bottom + gap : around.top - gap - height}px`
}
