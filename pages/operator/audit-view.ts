// The audit log, newest first: all of it, or what a filter finds; the trail of one user has the user's id in the address.
import { html, type TemplateResult } from 'lit'
import type { Page } from '../account/loaded-section.ts'
import { OperatorView, type Row, valuesOf } from './operator-view.ts'

type Entry = Row & { id: string }

export class AuditView extends OperatorView<Entry> {
  #filter: Record<string, string> = {}

  get #query(): string {
    const { argument } = this.account
    return String(new URLSearchParams({ ...this.#filter, ...(argument && { user: argument }) }))
  }

  protected override read(after?: string): Promise<Page<Entry>> {
    return this.call(`audit?${this.#query}${after ? `&after=${after}` : ''}`)
  }

  #find(event: Event): Promise<void> {
    this.#filter = valuesOf(event)
    return this.reload()
  }

  protected override content(page: Page<Entry>): TemplateResult {
    const { own } = this
    return html`<form @submit=${this.#find}>${this.field('event', own.audit.event)}${this.field('actor', own.audit.actor)}
<p class="buttons"><button class="primary">${own.search}</button>
<a class="button" href="${this.account.root}api/operator/audit/export?${this.#query}">${own.audit.export}</a></p></form>
${this.table(own.titles.audit, { rows: page.items, columns: ['at', 'event', 'name', 'actor', 'address', 'device', 'detail'] })}
<p class="buttons">${this.moreButton(page)}</p>${this.outcome()}`
  }
}
