import { html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { type Account, AccountSection, states } from './account-section.ts'

export abstract class LoadedSection<Data> extends AccountSection {
  static override properties = states('data', 'loadFailure')

  /** A later failure keeps it, with all that is typed. */
  declare data: Data | undefined
  declare loadFailure: unknown

  protected abstract read(): Promise<Data>
  protected abstract content(data: Data): TemplateResult | typeof nothing

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('account') as Account | undefined
    if (changed.has('account') && before?.revision !== this.account.revision) void this.reload()
  }

  async reload(): Promise<void> {
    try {
      this.data = await this.read()
      this.loadFailure = undefined
    } catch (error) {
      this.loadFailure = error
    }
  }

  /** The address may name something that is in the document only now. */
  protected override updated(): void {
    this.tell('section-updated')
  }

  protected override render(): TemplateResult {
    const fault = this.loadFailure === undefined ? undefined : this.#loadFault()
    if (this.data === undefined) return fault ?? html`<p class="hint">${this.texts.loading}</p>`
    return html`${fault}${this.content(this.data)}`
  }

  #loadFault(): TemplateResult {
    return html`<p class="fault" role="alert">${this.faultText(this.loadFailure)}</p>
${this.button(this.account.words.tryAgain, this.#loadAgain)}`
  }

  async #loadAgain(): Promise<void> {
    await this.reload()
    if (this.loadFailure === undefined) await this.focusOn()
  }

  protected moreButton(
    { items, next }: Page<unknown>,
    read: (after: string) => Promise<Page<unknown>>,
  ): TemplateResult | typeof nothing {
    if (next === null) return nothing
    const work = async () => {
      const more = await read(next)
      this.data = { ...more, items: [...items, ...more.items] } as Data
    }
    return this.button(this.texts.more, async () => {
      if (await this.act(work)) await this.focusOn(`.entries li:nth-child(${items.length + 1})`)
    })
  }
}

export type Page<Item> = { items: readonly Item[]; next: string | null }
