// A section with a list that the service sends in pages.
import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit'
import { AccountSection } from '../account-section.ts'

export abstract class PagedSection<Item> extends AccountSection {
  static override properties: PropertyDeclarations = { items: { state: true }, next: { state: true } }

  declare items: readonly Item[] | undefined
  declare next: string | null

  /** The first page, or the one after `after`. */
  protected abstract read(after?: string): Promise<{ items: Item[]; next: string | null }>

  protected override async load(before: readonly Item[] = [], after?: string): Promise<void> {
    const { items, next } = await this.read(after)
    this.items = [...before, ...items]
    this.next = next
  }

  async #loadMore(): Promise<void> {
    const { items = [], next } = this
    if (await this.act(() => this.load(items, next ?? '')))
      await this.focusOn(`.entries li:nth-child(${items.length + 1})`)
  }

  protected moreButton(): TemplateResult | typeof nothing {
    if (this.next === null) return nothing
    return html`<button type="button" aria-disabled=${this.isBusy} @click=${this.#loadMore}>${this.texts.more}</button>`
  }
}
