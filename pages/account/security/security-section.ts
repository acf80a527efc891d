// What the sections about security have in common: their texts and times, sentences of their own for some failures, a question before
// an act that cannot be undone, and where the focus goes.
import type { ErrorCode } from 'carillon-client'
import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { type Times, timesOf } from '../../../element/times.ts'
import type { TextsOf } from '../../../server/pages/texts/texts.ts'
import { AccountSection } from '../account-section.ts'
import { isFailure } from '../requests.ts'
import { ask, type Question } from './question.ts'

type Sentence = (texts: TextsOf<'account'>) => string | TemplateResult

/** A failure that the section explains better than the page does. */
export class Explained extends Error {
  readonly sentence: Sentence

  constructor(sentence: Sentence) {
    super()
    this.sentence = sentence
  }
}

export abstract class SecuritySection extends AccountSection {
  #times: { language: string; times: Times; exact: Intl.DateTimeFormat } | undefined

  /** `content`: undefined before the first load. It stays if a later one fails, with all that is typed in it. */
  protected whenLoaded(content: TemplateResult | typeof nothing | undefined): TemplateResult {
    const fault = this.loadFailure === undefined ? undefined : this.#loadFault()
    if (content === undefined) return fault ?? html`<p class="hint">${this.texts.loading}</p>`
    return html`${fault ?? nothing}${content}`
  }

  #loadFault(): TemplateResult {
    return html`<p class="fault" role="alert">${this.faultText(this.loadFailure)}</p>
<button type="button" @click=${this.#loadAgain}>${this.account.words.tryAgain}</button>`
  }

  /** The button with the focus goes away. */
  async #loadAgain(): Promise<void> {
    await this.reload()
    if (this.loadFailure === undefined) await this.focusOn()
  }

  /** Formatters are slow to make. */
  #formats() {
    const { language } = this.account
    if (this.#times?.language !== language) {
      const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
      this.#times = { language, times: timesOf(language), exact }
    }
    return this.#times
  }

  /** A text about a moment, such as `3 days ago`. The exact one is displayed when the reader points at it. */
  protected roughly(at: string, text: (time: string) => string): TemplateResult {
    const { times } = this.#formats()
    return html`<span title=${times.absolute(at)}>${text(times.relative(at, Date.now()))}</span>`
  }

  /** Date and time, by which the user recognises an act. */
  protected exactly(at: string): string {
    return this.#formats().exact.format(Date.parse(at))
  }

  /** In the order of the language: `Firefox on Linux`, `Firefox auf Linux`. */
  protected deviceName(label: string | null): string {
    if (label === null) return this.texts.unknownDevice
    // A label of the service is `<browser> on <system>`, or the name of a program.
    const [program = '', system] = label.split(' on ')
    const name = program === 'A browser' ? this.texts.aBrowser : program
    return system === undefined ? name : this.texts.deviceOn(name, system)
  }

  /** Throws Explained if the request fails with one of these codes. */
  protected async explained<Data>(
    request: Promise<Data>,
    sentences: Partial<Record<ErrorCode, Sentence>>,
  ): Promise<Data> {
    try {
      return await request
    } catch (error) {
      const sentence = isFailure(error) ? sentences[error.code] : undefined
      throw sentence === undefined ? error : new Explained(sentence)
    }
  }

  protected override faultText(failure: unknown): ReturnType<AccountSection['faultText']> {
    return failure instanceof Explained ? html`${failure.sentence(this.texts)}` : super.faultText(failure)
  }

  /** Sends a DELETE, and displays the account as it is then. */
  protected async delete(path: string, sentences: Partial<Record<ErrorCode, Sentence>> = {}): Promise<void> {
    await this.explained(this.account.send(path, { method: 'DELETE' }), sentences)
    await this.account.refresh()
  }

  /** Ends all other sign-ins, after the user has confirmed it. */
  protected async endOthers(text: string): Promise<void> {
    const { endOthersTitle: title, endOthers: action } = this.texts.sessions
    await this.ask({ title, text, action })
    await this.delete('api/me/sessions')
  }

  /** Keyed by id, so that the focus stays in its entry while others come and go. */
  protected entries<Entry extends { id: string }>(all: readonly Entry[], view: (one: Entry) => TemplateResult) {
    return repeat(all, ({ id }) => id, view)
  }

  protected copy(text: string): Promise<boolean> {
    // Browsers have a clipboard on HTTPS and on localhost only, and may refuse there, too.
    const copying = async () => {
      try {
        await navigator.clipboard.writeText(text)
      } catch {
        throw new Explained(({ notCopied }) => notCopied)
      }
    }
    return this.act(copying, (texts) => texts.copied)
  }

  /** The field for the name of a new factor. */
  protected nameField(id: string, name: string): TemplateResult {
    const { factors } = this.texts
    return html`<div class="field"><label for=${id}>${factors.name}</label>
<input id=${id} maxlength="64" autocomplete="off" value=${name} aria-describedby="${id}-hint">
<p class="hint" id="${id}-hint">${factors.nameHint}</p></div>`
  }

  /** The end of a panel that adds a factor. `action`: the text of its button, if there is something to do. */
  protected panelEnd(action?: string): TemplateResult {
    const close = () => this.dispatchEvent(new CustomEvent('closed', { bubbles: true }))
    return html`${this.outcome()}
<p class="buttons">${action && html`<button class="primary" aria-disabled=${this.isBusy}>${action}</button>`}
<button type="button" @click=${close}>${this.texts.cancel}</button></p>`
  }

  /** Throws Cancelled, which displays nothing, unless the user agrees. */
  protected ask(question: Omit<Question, 'cancel'>): Promise<void> {
    return ask({ ...question, cancel: this.texts.cancel })
  }

  /** Call it after an act that removed or replaced the button with the focus. Without `selector`, the heading gets the focus. */
  protected async focusOn(selector?: string): Promise<void> {
    await this.updateComplete
    const found = selector === undefined ? null : this.querySelector<HTMLElement>(selector)
    const target = found ?? this.closest('section')?.querySelector('h2')
    if (!target) return
    if (target.tabIndex < 0) target.tabIndex = -1
    target.focus()
  }
}

/** A section with a list that the service sends in pages. */
export abstract class PagedSection<Item> extends SecuritySection {
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
