// What the sections of the account page have in common: the account, and an act with its outcome. A base class, because Lit finds
// reactive properties by inheritance. The sections are in the document itself and not in shadow roots, so that page.css styles them.
import type { Me } from 'carillon-client'
import { html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit'
import type { PageLanguage, TextsOf } from '../../server/pages/texts/texts.ts'
import { isFailure, type Sending } from './requests.ts'
import { sentenceOf } from './sentences.ts'

/** What the page gives each section. The page replaces it if anything in it changes. */
export type Account = {
  me: Me
  language: PageLanguage
  texts: TextsOf<'account'>
  /** Why a request failed. */
  words: TextsOf<'requests'>
  /** Relative prefixes: `${root}docs`, `${pages}sign-in`. */
  root: string
  pages: string
  passwordMinLength: number
  offered: readonly { name: string; displayName: string }[]
  /** How often the user, and what the sections display, was read again. */
  revision: number
  /** A request to `path`, such as `api/me`. If it needs a recent sign-in, the user confirms it in a dialog, and it is sent again. */
  send<Data = undefined>(path: string, sending?: Sending): Promise<Data>
  /** Reads the user and what the sections display again. */
  refresh(): Promise<void>
  /** Reads the frame around the sections again, after a change of name or language. */
  refreshFrame(): Promise<void>
}

/** Its content is in the document itself, so that labels, anchors and password managers work as usual. */
export abstract class PageElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this
  }
}

export abstract class AccountSection extends PageElement {
  static override properties: PropertyDeclarations = {
    account: { attribute: false },
    isBusy: { state: true },
    failure: { state: true },
    done: { state: true },
    loadFailure: { state: true },
  }

  declare account: Account
  declare isBusy: boolean
  /** The error of the last act. */
  declare failure: unknown
  /** What the last act has done, in the language of the page at this moment. */
  declare done: ((texts: Account['texts']) => string) | undefined
  declare loadFailure: unknown

  constructor() {
    super()
    this.isBusy = false
  }

  get texts(): Account['texts'] {
    return this.account.texts
  }

  /** Reads what the section displays. A section without data of its own has nothing to read. */
  protected async load(): Promise<void> {}

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('account') as Account | undefined
    if (changed.has('account') && before?.revision !== this.account.revision) void this.reload()
  }

  async reload(): Promise<void> {
    try {
      await this.load()
      this.loadFailure = undefined
    } catch (error) {
      this.loadFailure = error
    }
    this.requestUpdate()
    await this.updateComplete
    // The page may have been opened for something that is in the document only now.
    this.dispatchEvent(new CustomEvent('section-loaded', { bubbles: true }))
  }

  /** One act at a time. Its failure, or what it has done, is displayed by `outcome()`. True if it succeeded. */
  protected async act(work: () => Promise<unknown>, done?: (texts: Account['texts']) => string): Promise<boolean> {
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

  /** Live regions have to be in the document before they have a text. */
  protected outcome(): TemplateResult {
    return html`<p class="fault" role="alert">${this.faultText(this.failure)}</p>
<p class="done" role="status">${this.done?.(this.texts)}</p>`
  }

  protected faultText(failure: unknown) {
    return faultOf(failure, this.account)
  }
}

/** The user closed a dialog that the request needed: nothing has happened, and nothing is said. */
export class Cancelled extends Error {}

/** A sentence, with a link that leads back here if the sign-in has ended. `pages`: the prefix of the pages, relative to this one. */
export function faultOf(error: unknown, { words, pages }: Pick<Account, 'words' | 'pages'>) {
  if (error === undefined || error instanceof Cancelled) return nothing
  if (!isFailure(error, 'UNAUTHORIZED')) return sentenceOf(error, words)
  const signIn = `${pages}sign-in?return_to=${encodeURIComponent(location.pathname)}`
  return html`${words.failures.UNAUTHORIZED} <a href=${signIn}>${words.signInAgain}</a>`
}
