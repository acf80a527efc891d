// <add-app>: adds an authenticator app, confirmed by a first code. Sends `added`, with recovery
// codes for the first factor, or `closed`.
import { html, nothing, type TemplateResult } from 'lit'
import { AccountSection, states } from '../account-section.ts'

type Totp = { id: string; secret: string; uri: string; qr: string }

export class AddApp extends AccountSection {
  static override properties = states('totp', 'picture')

  declare totp: Totp | undefined
  declare picture: Element | undefined

  async #start(event: Event): Promise<void> {
    event.preventDefault()
    const label = this.querySelector('input')?.value.trim() || this.texts.factors.app
    const isStarted = await this.act(async () => {
      const adding = this.account.send<Totp>('api/me/factors/totp', { body: { label } })
      this.totp = await this.explained(adding, { CONFLICT: ({ factors }) => factors.tooMany })
      this.picture = pictureOf(this.totp.qr)
    })
    if (isStarted) await this.focusOn('h3')
  }

  async #confirm(event: Event): Promise<void> {
    event.preventDefault()
    const { id } = this.totp ?? {}
    const code = this.querySelector('input')?.value.trim()
    const isAdded = await this.act(async () => {
      const confirming = this.account.send<object>('api/me/factors/totp/confirm', {
        body: { id, code, ...this.account.link },
      })
      const detail = await this.explained(confirming, {
        INVALID_CREDENTIALS: ({ factors }) => factors.wrongCode,
        INVALID_REQUEST: ({ factors }) => factors.wrongCode,
        LINK_INVALID: ({ factors }) => factors.linkEnded,
        NOT_FOUND: ({ factors }) => factors.startAgain,
        CONFLICT: ({ factors }) => factors.startAgain,
      })
      this.tell('added', detail)
    })
    if (!isAdded) this.querySelector('input')?.select()
  }

  protected override render(): TemplateResult {
    const { factors } = this.texts
    return this.totp === undefined
      ? html`<form class="card panel" novalidate @submit=${this.#start}><h3 tabindex="-1">${factors.addApp}</h3>
<p>${factors.appText}</p>
${this.nameField('app-name', factors.app)}
${this.panelEnd(factors.next)}</form>`
      : this.#connect(this.totp)
  }

  #connect({ secret, uri }: Totp): TemplateResult {
    const { confirm, copy, factors } = this.texts
    return html`<form class="card panel" novalidate @submit=${this.#confirm}><h3 tabindex="-1">${factors.scanTitle}</h3>
<div class="connect"><div class="qr" role="img" aria-label=${factors.picture}>${this.picture ?? nothing}</div>
<div><p>${factors.scan}</p><p><a href=${uri}>${factors.openApp}</a></p>
<p>${factors.typeKey}<br><code class="key">${secret.match(/.{1,4}/g)?.join(' ')}</code>
${this.button(copy, () => this.copy(secret))}</p></div></div>
<div class="field"><label for="app-code">${factors.code}</label>
<input id="app-code" class="code" inputmode="numeric" autocomplete="one-time-code" maxlength="16" spellcheck="false"
aria-describedby="app-code-hint" aria-invalid=${this.failure !== undefined}>
<p class="hint" id="app-code-hint">${factors.codeHint}</p></div>
${this.panelEnd(confirm.submit)}</form>`
  }
}

/** XML runs no script. */
function pictureOf(svg: string): Element {
  const { documentElement } = new DOMParser().parseFromString(svg, 'image/svg+xml')
  documentElement.setAttribute('aria-hidden', 'true')
  return document.importNode(documentElement, true)
}
