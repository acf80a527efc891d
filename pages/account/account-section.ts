// What the sections of the account page share. A base class, because Lit inherits reactive
// properties.
import type { ErrorCode, Me } from 'carillon-client'
import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  render,
  type TemplateResult,
} from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { isCarillonError } from '../../client/transport/errors.ts'
import type { Times } from '../../element/times.ts'
import type { PageLanguage, TextsOf } from '../../server/pages/texts/texts.ts'
import type { Sending } from './requests.ts'
import { sentenceOf } from './sentences.ts'

/** The page replaces it if anything in it changes. */
export type Account = {
  me: Me
  language: PageLanguage
  texts: TextsOf<'account'>
  words: TextsOf<'requests'>
  times: Times
  exact(at: string): string
  /** Relative: `${root}docs`, `${pages}sign-in`. */
  root: string
  pages: string
  passwordMinLength: number
  offered: readonly { name: string; displayName: string }[]
  /** The link with which the reader came, for the first second factor. */
  link?: { link: string }
  /** Counts how often the page has read its data again. */
  revision: number
  /** `path`: such as `api/me`. If it needs a recent sign-in, a dialog asks for a confirmation. */
  send<Data = undefined>(path: string, sending?: Sending): Promise<Data>
  refresh(): Promise<void>
  /** Call it after a change of name or language. */
  refreshFrame(): Promise<void>
}

/** The element renders into the document itself, so that labels, anchors and password managers work. */
export abstract class PageElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this
  }

  protected tell(event: string, detail?: unknown): void {
    this.dispatchEvent(new CustomEvent(event, { bubbles: true, detail }))
  }
}

export function states(...names: string[]): PropertyDeclarations {
  return Object.fromEntries(names.map((name) => [name, { state: true }]))
}

/** The user closed a dialog: nothing has happened, and nothing is said. */
export class Cancelled extends Error {}

export function agreement(dialog: HTMLDialogElement): Promise<void> {
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve, reject) => {
    const settle = () => (dialog.returnValue === 'agreed' ? resolve() : reject(new Cancelled()))
    dialog.addEventListener('close', settle, { once: true })
  })
}

type Sentence = (texts: Account['texts']) => string
type Sentences = Partial<Record<ErrorCode, Sentence>>

export class Explained extends Error {
  readonly sentence: Sentence

  constructor(sentence: Sentence) {
    super()
    this.sentence = sentence
  }
}

export abstract class AccountSection extends PageElement {
  static override properties: PropertyDeclarations = {
    account: { attribute: false },
    ...states('isBusy', 'failure', 'done', 'isShown'),
  }

  declare account: Account
  declare isBusy: boolean
  declare failure: unknown
  declare done: Sentence | undefined
  /** Whether the form shows its passwords. */
  declare isShown: boolean | undefined

  constructor() {
    super()
    this.isBusy = false
  }

  get texts(): Account['texts'] {
    return this.account.texts
  }

  /** One act at a time. `outcome()` displays what it did. True if it succeeded. */
  protected async act(work: () => Promise<unknown>, done?: Sentence): Promise<boolean> {
    if (this.isBusy) return false
    this.isBusy = true
    this.failure = undefined
    this.done = undefined
    try {
      await work()
      this.done = done
      return true
    } catch (error) {
      this.failure = error
      return false
    } finally {
      this.isBusy = false
    }
  }

  /** A live region has to exist before it has a text. */
  protected outcome(): TemplateResult {
    return html`<p class="fault" role="alert">${this.faultText(this.failure)}</p>
<p class="done" role="status">${this.done?.(this.texts)}</p>`
  }

  protected faultText(failure: unknown) {
    return failure instanceof Explained
      ? failure.sentence(this.texts)
      : faultOf(failure, this.account)
  }

  /** `3 days ago`. */
  protected roughly(at: string, text: (time: string) => string): TemplateResult {
    const { times } = this.account
    return html`<span title=${times.absolute(at)}>${text(times.relative(at, Date.now()))}</span>`
  }

  /** `Firefox on Linux`, `Firefox auf Linux`. */
  protected deviceName(label: string | null): string {
    if (label === null) return this.texts.unknownDevice
    // A label of the service is `<browser> on <system>`, or the name of a program.
    const [program = '', system] = label.split(' on ')
    const name = program === 'A browser' ? this.texts.aBrowser : program
    return system === undefined ? name : this.texts.deviceOn(name, system)
  }

  protected async explained<Data>(request: Promise<Data>, sentences: Sentences): Promise<Data> {
    try {
      return await request
    } catch (error) {
      const sentence = isCarillonError(error) ? sentences[error.code] : undefined
      throw sentence === undefined ? error : new Explained(sentence)
    }
  }

  protected async delete(path: string, sentences: Sentences = {}): Promise<void> {
    await this.explained(this.account.send(path, { method: 'DELETE' }), sentences)
    await this.account.refresh()
  }

  protected async endOthers(text: string): Promise<void> {
    const { endOthersTitle: title, endOthers: action } = this.texts.sessions
    await this.ask({ title, text, action })
    await this.delete('api/me/sessions')
  }

  /** Keyed by id, so that the focus stays while others come and go. */
  protected entries<Entry extends { id: string }>(
    all: readonly Entry[],
    view: (one: Entry) => TemplateResult,
  ) {
    return repeat(all, ({ id }) => id, view)
  }

  protected copy(text: string): Promise<boolean> {
    const copying = async () => {
      try {
        await navigator.clipboard.writeText(text)
      } catch {
        throw new Explained(({ notCopied }) => notCopied)
      }
    }
    return this.act(copying, (texts) => texts.copied)
  }

  protected button(
    content: TemplateResult | string,
    press: () => unknown,
    look?: string,
  ): TemplateResult {
    return html`<button type="button" class=${look ?? nothing} aria-disabled=${this.isBusy} @click=${press}>${content}</button>`
  }

  /** Inside `.with-eye`, after the field. */
  protected eye(): TemplateResult {
    return html`<button type="button" class="eye ${this.isShown ? 'is-open' : ''}" aria-label=${this.texts.password.show} aria-pressed=${!!this.isShown}
@click=${() => (this.isShown = !this.isShown)}></button>`
  }

  protected nameField(id: string, name: string): TemplateResult {
    const { factors } = this.texts
    return html`<div class="field"><label for=${id}>${factors.name}</label>
<input id=${id} maxlength="64" autocomplete="off" value=${name} aria-describedby="${id}-hint">
<p class="hint" id="${id}-hint">${factors.nameHint}</p></div>`
  }

  protected panelEnd(action?: string): TemplateResult {
    return html`${this.outcome()}
<p class="buttons">${action && html`<button class="primary" aria-disabled=${this.isBusy}>${action}</button>`}
<button type="button" @click=${() => this.tell('closed')}>${this.texts.cancel}</button></p>`
  }

  /** Throws Cancelled unless the user agrees. The button that cancels has the focus. */
  protected async ask({
    title,
    text,
    action,
  }: {
    title: string
    text: string
    action: string
  }): Promise<void> {
    const dialog = document.createElement('dialog')
    dialog.setAttribute('role', 'alertdialog')
    dialog.setAttribute('aria-labelledby', 'question-title')
    dialog.setAttribute('aria-describedby', 'question-text')
    const content = html`<h2 id="question-title">${title}</h2>
<p id="question-text">${text}</p>
<p class="buttons"><button type="button" @click=${() => dialog.close()}>${this.texts.cancel}</button>
<button type="button" class="danger" @click=${() => dialog.close('agreed')}>${action}</button></p>`
    render(content, dialog)
    document.body.append(dialog)
    await agreement(dialog).finally(() => dialog.remove())
  }

  /** Call it after an act that removed the focused button. By default, the heading gets focus. */
  protected async focusOn(selector?: string): Promise<void> {
    await this.updateComplete
    const found = selector === undefined ? null : this.querySelector<HTMLElement>(selector)
    const target = found ?? this.closest('section')?.querySelector('h2')
    if (!target) return
    if (target.tabIndex < 0) target.tabIndex = -1
    target.focus()
  }
}

/** The sentence has a link that leads back here if the sign-in has ended. */
export function faultOf(error: unknown, { words, pages }: Pick<Account, 'words' | 'pages'>) {
  if (error === undefined || error instanceof Cancelled) return nothing
  if (!isCarillonError(error, 'UNAUTHORIZED')) return sentenceOf(error, words)
  const signIn = `${pages}sign-in?return_to=${encodeURIComponent(location.pathname)}`
  return html`${words.failures.UNAUTHORIZED} <a href=${signIn}>${words.signInAgain}</a>`
}
