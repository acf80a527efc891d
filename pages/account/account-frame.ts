import { html, nothing, type TemplateResult } from 'lit'
import { networkError } from '../../client/transport/errors.ts'
import { pageLanguageOf } from '../../server/pages/texts/texts.ts'
import { type Account, type AccountSection, faultOf, states } from './account-section.ts'
import { ConfirmDialog } from './confirm-dialog.ts'
import { PageFrame, readTexts } from './page-frame.ts'
import { ActivitySection } from './security/activity-section.ts'
import { AddApp } from './security/add-app.ts'
import { AddPasskey } from './security/add-passkey.ts'
import { FactorsSection } from './security/factors-section.ts'
import { ProvidersSection } from './security/providers-section.ts'
import { PushSection } from './security/push-section.ts'
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
  'account-push': PushSection,
  'account-activity': ActivitySection,
  'account-data': DataSection,
  'add-app': AddApp,
  'add-passkey': AddPasskey,
  'recovery-codes': RecoveryCodes,
}
for (const [name, element] of Object.entries(elements)) customElements.define(name, element)

const factorsSection = new FactorsSection()
/** The keys are anchors, such as account#password. */
const sections = {
  profile: [new ProfileSection()],
  password: [new PasswordSection()],
  factors: [factorsSection, new ProvidersSection()],
  sessions: [new SessionsSection(), new PushSection()],
  notifications: [new NotificationsSection()],
  preferences: [new PreferencesSection()],
  activity: [new ActivitySection()],
  data: [new DataSection()],
}
const sectionIds = Object.keys(sections) as (keyof typeof sections)[]

const container = document.getElementById('account')
const { root = '', pages = '', passwordMin, providers = '[]' } = container?.dataset ?? {}
const offered = JSON.parse(providers) as Account['offered']
/** A link for the first second factor leads to `account#factor-<token>`. Nobody reads the token in the address afterwards. */
const [, linkToken] = /^#factor-([\w-]{43})$/.exec(location.hash) ?? []
if (linkToken !== undefined) history.replaceState(null, '', '#factors')
const link = linkToken === undefined ? {} : { link: { link: linkToken } }
const place = { root, pages, passwordMinLength: Number(passwordMin), offered, ...link }

const arrivalMs = 10_000

class AccountFrame extends PageFrame {
  static override properties = states('account', 'failure', 'current')

  declare account: Account | undefined
  declare failure: { error: unknown; words: Account['words'] } | undefined
  declare current: string | undefined
  protected readonly root = root
  readonly #places = new IntersectionObserver(
    (entries) => {
      const found = entries.findLast(({ isIntersecting }) => isIntersecting)
      this.current = found?.target.id ?? this.current
    },
    { rootMargin: '-40px 0px -90% 0px' },
  )
  #target = ''
  /** Sections that arrive move the target: the page scrolls to it again until the reader acts. */
  readonly #arrivals = new ResizeObserver(() =>
    this.querySelector('.target')?.scrollIntoView({ block: 'start' }),
  )

  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('hashchange', () => this.#findTarget())
    document.addEventListener('visibilitychange', () => this.#checkUser())
    this.addEventListener('section-updated', () => this.#showTarget())
    for (const act of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
      addEventListener(act, () => this.#arrivals.disconnect(), { passive: true })
    this.#findTarget()
    void this.#start()
  }

  async #start(): Promise<void> {
    const language = pageLanguageOf([document.documentElement.lang])
    // Without texts, the sentence of the service stays: the page did not start.
    const read = await readTexts(language).catch(() => undefined)
    if (read === undefined) return
    this.parentElement?.querySelector('.skeleton')?.remove()
    try {
      const me = await this.readMe()
      // That page sends the link.
      if (me.secondFactor?.needsLink && linkToken === undefined)
        return location.replace(`${pages}sign-in`)
      this.account = {
        ...place,
        ...read,
        me,
        revision: 0,
        send: this.send.bind(this),
        refresh: this.#refresh.bind(this),
        refreshFrame: this.#refreshFrame.bind(this),
      }
      this.failure = undefined
    } catch (error) {
      this.failure = { error, words: read.words }
    }
  }

  /** Another tab may have signed in another user, whose account would change under the old name. */
  async #checkUser(): Promise<void> {
    const { id } = this.account?.me.user ?? {}
    if (id === undefined || document.visibilityState !== 'visible') return
    const now = await this.readMe().catch(() => undefined)
    if (now !== undefined && now.user.id !== id) location.reload()
  }

  async #refresh(): Promise<void> {
    const me = await this.readMe()
    if (this.account) this.account = { ...this.account, me, revision: this.account.revision + 1 }
  }

  /** The sections stay, with all that is typed in them. */
  async #refreshFrame(): Promise<void> {
    const [me, text] = await Promise.all([this.readMe(), this.#readPage()])
    const page = new DOMParser().parseFromString(text, 'text/html')
    const language = pageLanguageOf([page.documentElement.lang])
    const read = await readTexts(language)
    document.documentElement.lang = language
    document.title = page.title
    for (const part of ['.skip', '.top', 'h1']) {
      const renewed = page.querySelector(part)
      if (renewed) document.querySelector(part)?.replaceWith(renewed)
    }
    if (this.account)
      this.account = { ...this.account, ...read, me, revision: this.account.revision + 1 }
  }

  async #readPage(): Promise<string> {
    const response = await fetch(location.pathname, { headers: { accept: 'text/html' } }).catch(
      () => undefined,
    )
    if (!response?.ok) throw networkError(response)
    return response.text()
  }

  #findTarget(): void {
    this.#target = location.hash.slice(1)
    this.#showTarget()
  }

  #showTarget(): void {
    // "Skip to the content" is around this element.
    const found =
      this.#target === '' ? null : this.querySelector<HTMLElement>(`#${CSS.escape(this.#target)}`)
    if (found === null) return
    this.#target = ''
    for (const marked of this.querySelectorAll('.target')) marked.classList.remove('target')
    found.classList.add('target')
    if (found.tabIndex < 0) found.tabIndex = -1
    found.focus({ preventScroll: true })
    this.#arrivals.disconnect()
    this.#arrivals.observe(this)
    setTimeout(() => this.#arrivals.disconnect(), arrivalMs)
  }

  override updated(): void {
    for (const section of this.querySelectorAll('section')) this.#places.observe(section)
    this.#showTarget()
  }

  #demand({ me: { secondFactor }, texts, exact }: Account): TemplateResult | typeof nothing {
    if (secondFactor === null) return nothing
    const { by, setupOnly, passkeyOnly } = secondFactor
    if (setupOnly)
      return html`<p class="card demand" role="status">${passkeyOnly ? texts.passkeyNow : texts.factorNow}</p>`
    const sentence = passkeyOnly ? texts.passkeyBy : texts.factorBy
    return html`<p class="card demand" role="status">${sentence.replace('#', exact(by))} <a href="#factors">${texts.factorLink}</a></p>`
  }

  protected override render(): TemplateResult | typeof nothing {
    const { account, failure } = this
    if (failure)
      return html`<p class="fault" role="alert">${faultOf(failure.error, { pages, words: failure.words })}</p>
<button type="button" @click=${() => this.#start()}>${failure.words.tryAgain}</button>`
    if (!account) return nothing
    const { texts, me } = account
    const isLimited = me.secondFactor?.setupOnly === true
    const shown: typeof sectionIds = isLimited ? ['factors'] : sectionIds
    const parts: Record<string, AccountSection[]> = isLimited
      ? { ...sections, factors: [factorsSection] }
      : sections
    for (const section of shown.flatMap((id) => parts[id] ?? [])) section.account = account
    return html`<nav class="sections" aria-label=${texts.sections}><ul>
${shown.map((id) => html`<li><a href="#${id}" aria-current=${id === (this.current ?? sectionIds[0]) ? 'true' : nothing}>${texts[id].title}</a></li>`)}
</ul></nav>
<div>
${me.passwordChangeRequired ? html`<p class="card demand" role="alert">${texts.passwordDemanded} <a href="#password">${texts.passwordLink}</a></p>` : nothing}
${me.passwordEndsAt === null ? nothing : html`<p class="card demand" role="status">${texts.passwordEnds(account.exact(me.passwordEndsAt))} <a href="#password">${texts.passwordLink}</a></p>`}
${this.#demand(account)}
${shown.map(
  (id) => html`<section id=${id} class="card" aria-labelledby="${id}-title">
<h2 id="${id}-title">${texts[id].title}</h2>
${parts[id]}
</section>`,
)}
</div>
<confirm-dialog .account=${account}></confirm-dialog>`
  }
}

customElements.define('account-frame', AccountFrame)
container?.append(new AccountFrame())
