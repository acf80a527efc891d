// What the views share. They display text as the service sends it.
import { html, nothing, type TemplateResult } from 'lit'
import type { TextsOf } from '../../server/pages/texts/texts.ts'
import type { Account } from '../account/account-section.ts'
import { LoadedSection } from '../account/loaded-section.ts'
import type { Strip } from './strip.ts'

/** `argument`: what follows the view in the address, such as a user's id. */
export type Operator = Account & { own: TextsOf<'operator'>; argument: string }
export type Row = Readonly<Record<string, unknown>>

/** `columns`: otherwise those that have a name. `empty`: what will be there. */
type Table<One> = {
  rows: readonly One[]
  columns?: readonly string[]
  end?: (row: One) => unknown
  empty?: string
}

const none = '–'
/** Cells of these columns can be long. */
const wraps: readonly string[] = ['detail', 'events', 'url', 'actor', 'reason']

export abstract class OperatorView<Data> extends LoadedSection<Data> {
  declare account: Operator

  protected get own(): Operator['own'] {
    return this.account.own
  }

  protected call<Found>(path: string, sending?: Parameters<Account['send']>[1]): Promise<Found> {
    return this.account.send<Found>(`api/operator/${path}`, sending)
  }

  protected columnName(name: string): string {
    const columns: Readonly<Record<string, string>> = this.own.columns
    return columns[name] ?? name
  }

  protected cell(name: string, value: unknown): string {
    if (value === null || value === undefined || value === '') return none
    if (typeof value === 'boolean') return value ? this.own.yes : this.own.no
    if (typeof value === 'string' && /(At|^at|Until)$/.test(name) && /^\d{4}-.*Z$/.test(value))
      return this.account.exact(value)
    if (Array.isArray(value)) return value.join(', ')
    return typeof value === 'object' ? this.#pairs(value) : String(value)
  }

  #pairs(facts: object): string {
    const pairs = Object.entries(facts).map(([name, value]) => `${name}: ${this.cell('', value)}`)
    return pairs.join(', ')
  }

  protected table<One extends Row>(
    title: string,
    { rows, columns: wanted, end, empty = this.own.nothing }: Table<One>,
  ): TemplateResult {
    const [first] = rows
    if (first === undefined) return html`<p class="hint">${empty}</p>`
    const columns = wanted ?? this.#named(first).filter((name) => name !== 'id')
    return html`<div class="scroll" role="group" tabindex="0" aria-label=${title}><table>
<thead><tr>${columns.map((name) => html`<th scope="col">${this.columnName(name)}</th>`)}${end && html`<td></td>`}</tr></thead>
<tbody>${rows.map(
      (row) =>
        html`<tr>${columns.map((name) => html`<td class=${wraps.includes(name) ? 'wraps' : nothing}>${this.cell(name, row[name])}</td>`)}${end && html`<td>${end(row)}</td>`}</tr>`,
    )}</tbody></table></div>`
  }

  #named(row: Row): string[] {
    return Object.keys(row).filter((name) => Object.hasOwn(this.own.columns, name))
  }

  protected numbers(title: string, table: Table<Row>): TemplateResult {
    return html`<details><summary>${this.own.now.numbers}<span class="for-readers">: ${title}</span></summary>${this.table(title, table)}</details>`
  }

  protected section<One extends Row>(title: string, table: Table<One>): TemplateResult {
    return html`<h3>${title}</h3>${this.table(title, table)}`
  }

  protected drawn(title: string, strip: Strip, table: Table<Row>): TemplateResult {
    return html`<operator-strip aria-hidden="true" .account=${this.account} .strip=${strip}></operator-strip>
${this.numbers(title, table)}`
  }

  protected search(
    find: (event: Event) => unknown,
    fields: unknown,
    more?: unknown,
  ): TemplateResult {
    return html`<form role="search" @submit=${find}>${fields}
<p class="buttons"><button class="primary">${this.own.search}</button>${more}</p></form>`
  }

  protected sure(action: string, name: string, text = this.own.cannotUndo): Promise<void> {
    return this.ask({ title: this.own.sure(action, name), text, action })
  }

  protected choices<Name extends string>(
    label: string,
    names: Readonly<Record<Name, string>>,
    { chosen, choose }: { chosen: Name; choose: (name: Name) => unknown },
  ): TemplateResult {
    const all = Object.entries(names) as [Name, string][]
    return html`<p class="buttons" role="group" aria-label=${label}>${all.map(
      ([name, text]) =>
        html`<button type="button" aria-pressed=${name === chosen} @click=${() => choose(name)}>${text}</button>`,
    )}</p>`
  }

  protected facts(row: Row): TemplateResult {
    const known = this.#named(row).filter((name) => this.cell(name, row[name]) !== none)
    return html`<dl>${known.map((name) => html`<div><dt>${this.columnName(name)}</dt><dd>${this.cell(name, row[name])}</dd></div>`)}</dl>`
  }

  protected field(id: string, label: string, type = 'text'): TemplateResult {
    return html`<div class="field"><label for=${id}>${label}</label><input id=${id} name=${id} type=${type} maxlength="255" autocomplete="off" min="1"></div>`
  }

  protected secret(intro: string, text: string | undefined): TemplateResult | typeof nothing {
    return text === undefined
      ? nothing
      : html`<div class="card panel" role="status"><p>${intro}</p><pre>${text}</pre></div>`
  }
}

export function valuesOf(event: Event): Record<string, string> {
  event.preventDefault()
  const data = new FormData(event.target as HTMLFormElement)
  return Object.fromEntries(
    [...data].map(([name, value]) => [name, String(value).trim()]).filter(([, value]) => value),
  )
}
