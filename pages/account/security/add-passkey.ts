// <add-passkey>: creates a passkey in this browser. Sends `added`, as <add-app> does, or `closed`.
import { html, nothing, type TemplateResult } from 'lit'
import { AccountSection, Explained, states } from '../account-section.ts'
import { hasPasskeys } from '../passkeys.ts'

export class AddPasskey extends AccountSection {
  static override properties = states('device')

  declare device: string | null | undefined

  protected override async firstUpdated(): Promise<void> {
    const reading = this.account.send<{ items: { device: string | null }[] }>(
      'api/me/sessions?limit=1',
    )
    const own = await reading.catch(() => undefined)
    this.device = own?.items[0]?.device
  }

  get #suggestedName(): string {
    return this.device ? this.deviceName(this.device) : this.texts.factors.passkey
  }

  async #add(event: Event): Promise<void> {
    event.preventDefault()
    const suggestedLabel = this.#suggestedName
    const typed = this.querySelector('input')?.value.trim()
    // The name of the authenticator is better than the suggested one.
    const label = typed && typed !== suggestedLabel ? { label: typed } : { suggestedLabel }
    await this.act(async () => {
      const detail = await this.explained(this.#addNamed(label), {
        CONFLICT: ({ factors }) => factors.tooMany,
        UNPROCESSABLE: ({ factors }) => factors.passkeyRefused,
        LINK_INVALID: ({ factors }) => factors.linkEnded,
      })
      this.tell('added', detail)
    })
  }

  async #addNamed(label: object): Promise<object> {
    const { send } = this.account
    const path = 'api/me/factors/passkeys'
    const options = await send<PublicKeyCredentialCreationOptionsJSON>(`${path}/options`, {
      method: 'POST',
    })
    return send(path, {
      body: { ...label, ...this.account.link, response: await this.#create(options) },
    })
  }

  async #create(options: PublicKeyCredentialCreationOptionsJSON): Promise<unknown> {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
    try {
      return ((await navigator.credentials.create({ publicKey })) as PublicKeyCredential).toJSON()
    } catch (error) {
      const isThere = (error as DOMException).name === 'InvalidStateError'
      throw new Explained(({ factors }) =>
        isThere ? factors.passkeyExists : factors.passkeyCancelled,
      )
    }
  }

  protected override render(): TemplateResult {
    const { factors } = this.texts
    const obstacle = this.#obstacle()
    return html`<form class="card panel" novalidate @submit=${this.#add}><h3 tabindex="-1">${factors.addPasskey}</h3>
${obstacle === undefined ? html`<p>${factors.passkeyText}</p>${this.nameField('passkey-name', this.#suggestedName)}` : obstacle}
${this.panelEnd(obstacle === undefined ? factors.next : undefined)}</form>`
  }

  /** Browsers have passkeys for host names only. */
  #obstacle(): TemplateResult | undefined {
    const { factors } = this.texts
    const isName = !/^\[|^[\d.]+$/.test(location.hostname)
    if (isName) return hasPasskeys() ? undefined : html`<p>${factors.passkeyUnsupported}</p>`
    const url = pageAtLocalhost()
    return html`<p>${factors.passkeyNeedsName} ${url ? html`<a href=${url.href}>${factors.passkeyOpenAt(url.host)}</a>` : nothing}</p>`
  }
}

function pageAtLocalhost(): URL | undefined {
  if (!/^127\.|^\[::1\]$/.test(location.hostname)) return undefined
  const url = new URL(location.href)
  url.hostname = 'localhost'
  return url
}
