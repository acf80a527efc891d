// The script of the account page: its sections, and what is around them, such as the demand for a new password.
import type { Me } from 'carillon-client'
import { html, nothing, type TemplateResult } from 'lit'
import { isCarillonError, networkError, signedOut } from '../../client/transport/errors.ts'
import { timesOf } from '../../element/times.ts'
import { type PageLanguage, pageLanguageOf, textsOf } from '../../server/pages/texts/texts.ts'
import { type Account, faultOf, PageElement, states } from './account-section.ts'
import { ConfirmDialog } from './confirm-dialog.ts'
import { type Sending, send } from './requests.ts'
import { ActivitySection } from './security/activity-section.ts'
import { AddApp } from './security/add-app.ts'
import { AddPasskey } from './security/add-passkey.ts'
import { FactorsSection } from './security/factors-section.ts'
import { ProvidersSection } from './security/providers-section.ts'
import { RecoveryCodes } from './security/recovery-codes.ts'
import { SessionsSection } from './security/sessions-section.ts'
import { DataSection } from './self/data-section.ts'
import { NotificationsSection } from './self/notifications-section.ts'
import { PasswordSection } from './self/password-section.ts'
import { PreferencesSection } from './self/preferences-section.ts'
import { ProfileSection } from './self/profile-section.ts'

const elements = {
  'confirm-dialog': ConfirmDialog,
  'account-profile': ProfileSection,
  'account-password': PasswordSection,
  'account-notifications': NotificationsSection,
  'account-preferences': PreferencesSection,
  'account-factors': FactorsSection,
  'account-providers': ProvidersSection,
  'account-sessions': SessionsSection,
  'account-activity': ActivitySection,
  'account-data': DataSection,
  'add-app': AddApp,
  'add-passkey': AddPasskey,
  'recovery-codes': RecoveryCodes,
}
for (const [name, element] of Object.entries(elements)) customElements.define(name, element)

/** By their anchors, such as account#password, under which the texts of the page have their titles. */
const sections = {
  profile: [new ProfileSection()],
  password: [new PasswordSection()],
  factors: [new FactorsSection(), new ProvidersSection()],
  sessions: [new SessionsSection()],
  notifications: [new NotificationsSection()],
  preferences: [new PreferencesSection()],
  activity: [new ActivitySection()],
  data: [new DataSection()],
}
const sectionIds = Object.keys(sections) as (keyof typeof sections)[]

/** Where the service starts the page. */
const container = document.getElementById('account')
const { root = '', pages = '', passwordMin, providers = '[]' } = container?.dataset ?? {}
const offered = JSON.parse(providers) as Account['offered']
const place = { root, pages, passwordMinLength: Number(passwordMin), offered }

class AccountFrame extends PageElement {
  static override properties = states('account', 'failure')

  declare account: Account | undefined
  declare failure: { error: unknown; words: Account['words'] } | undefined
  /** The anchor of the address that is not displayed yet. */
  #target = ''

  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('hashchange', () => this.#findTarget())
    document.addEventListener('visibilitychange', () => this.#checkUser())
    this.addEventListener('section-updated', () => this.#showTarget())
    this.#findTarget()
    void this.#start()
  }

  async #start(): Promise<void> {
    const language = pageLanguageOf([document.documentElement.lang])
    // Without texts, the place keeps the sentence of the service that the page did not start.
    const read = await readTexts(language).catch(() => undefined)
    if (read === undefined) return
    this.parentElement?.querySelector('.skeleton')?.remove()
    try {
      const me = await this.#readMe()
      this.account = {
        ...place,
        ...read,
        me,
        revision: 0,
        send: this.#send.bind(this),
        refresh: this.#refresh.bind(this),
        refreshFrame: this.#refreshFrame.bind(this),
      }
      this.failure = undefined
    } catch (error) {
      this.failure = { error, words: read.words }
    }
  }

  /** Another tab may have signed in another user since, whose account this page would change under the name of the first. */
  async #checkUser(): Promise<void> {
    const { id } = this.account?.me.user ?? {}
    if (id === undefined || document.visibilityState !== 'visible') return
    const now = await this.#readMe().catch(() => undefined)
    if (now !== undefined && now.user.id !== id) location.reload()
  }

  /** Without a session, this route has no user and is no error, which a browser would display in its console. */
  async #readMe(): Promise<Me> {
    const me = await send<Me | null>(`${root}api/session`)
    if (me === null) throw signedOut()
    return me
  }

  async #send<Data>(path: string, sending?: Sending): Promise<Data> {
    const url = root + path
    try {
      return await send<Data>(url, sending)
    } catch (error) {
      if (!isCarillonError(error, 'FRESH_SIGN_IN_REQUIRED')) throw error
    }
    await this.querySelector<ConfirmDialog>('confirm-dialog')?.confirm()
    return send<Data>(url, sending)
  }

  async #refresh(): Promise<void> {
    const me = await this.#readMe()
    if (this.account) this.account = { ...this.account, me, revision: this.account.revision + 1 }
  }

  /** Takes heading and header from the page in its new state. The sections stay, with all that is typed in them. */
  async #refreshFrame(): Promise<void> {
    const [me, text] = await Promise.all([this.#readMe(), this.#readPage()])
    const page = new DOMParser().parseFromString(text, 'text/html')
    const language = pageLanguageOf([page.documentElement.lang])
    const read = await readTexts(language)
    document.documentElement.lang = language
    document.title = page.title
    for (const part of ['.skip', '.top', 'h1']) {
      const renewed = page.querySelector(part)
      if (renewed) document.querySelector(part)?.replaceWith(renewed)
    }
    if (this.account) this.account = { ...this.account, ...read, me, revision: this.account.revision + 1 }
  }

  async #readPage(): Promise<string> {
    const response = await fetch(location.pathname, { headers: { accept: 'text/html' } }).catch(() => undefined)
    if (!response?.ok) throw networkError(response)
    return response.text()
  }

  #findTarget(): void {
    this.#target = location.hash.slice(1)
    this.#showTarget()
  }

  /** Scrolls to the part that the address names and marks it, also if its section displays it only now. */
  #showTarget(): void {
    // Not the target of "skip to the content", which is around this element.
    const found = this.#target === '' ? null : this.querySelector<HTMLElement>(`#${CSS.escape(this.#target)}`)
    if (found === null) return
    this.#target = ''
    for (const marked of this.querySelectorAll('.target')) marked.classList.remove('target')
    found.classList.add('target')
    if (found.tabIndex < 0) found.tabIndex = -1
    found.focus({ preventScroll: true })
    found.scrollIntoView({ block: 'start' })
  }

  override updated(): void {
    this.#showTarget()
  }

  protected override render(): TemplateResult | typeof nothing {
    const { account, failure } = this
    if (failure)
      return html`<p class="fault" role="alert">${faultOf(failure.error, { pages, words: failure.words })}</p>
<button type="button" @click=${() => this.#start()}>${failure.words.tryAgain}</button>`
    if (!account) return nothing
    const { texts, me } = account
    for (const section of Object.values(sections).flat()) section.account = account
    return html`<nav class="sections" aria-label=${texts.sections}><ul>
${sectionIds.map((id) => html`<li><a href="#${id}">${texts[id].title}</a></li>`)}
</ul></nav>
<div>
${me.passwordChangeRequired ? html`<p class="card demand" role="alert">${texts.passwordDemanded} <a href="#password">${texts.passwordLink}</a></p>` : nothing}
${sectionIds.map(
  (id) => html`<section id=${id} class="card" aria-labelledby="${id}-title">
<h2 id="${id}-title">${texts[id].title}</h2>
${sections[id]}
</section>`,
)}
</div>
<confirm-dialog .account=${account}></confirm-dialog>`
  }
}

async function readTexts(language: PageLanguage) {
  const [texts, words] = await Promise.all([textsOf('account', language), textsOf('requests', language)])
  const { format } = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  return { language, texts, words, times: timesOf(language), exact: (at: string) => format(Date.parse(at)) }
}

customElements.define('account-frame', AccountFrame)
container?.append(new AccountFrame())
