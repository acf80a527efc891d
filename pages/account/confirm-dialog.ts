// <confirm-dialog>: makes a sign-in fresh again (POST /api/me/confirm), by a second factor, or by
// the password of a user without one.
import { html, nothing, type TemplateResult } from 'lit'
import { isCarillonError } from '../../client/transport/errors.ts'
import { AccountSection, agreement, states } from './account-section.ts'
import { hasPasskeys, PasskeyRefused, usePasskey } from './passkeys.ts'
import { send } from './requests.ts'
import type { Factors } from './security/factors-section.ts'

type Way = 'password' | 'passkey' | 'code' | 'recoveryCode'

export class ConfirmDialog extends AccountSection {
  static override properties = states('ways', 'way')

  declare ways: readonly Way[]
  declare way: Way

  constructor() {
    super()
    this.ways = ['password']
    this.way = 'password'
  }

  /** Throws Cancelled if the user closes the dialog, CarillonError if factors cannot be read. */
  async confirm(): Promise<void> {
    this.ways = await this.#readWays()
    this.way = this.ways[0] ?? 'password'
    this.failure = undefined
    await this.updateComplete
    await agreement(this.#dialog)
  }

  async #readWays(): Promise<Way[]> {
    const { items, recoveryCodesLeft } = await send<Factors>(`${this.account.root}api/me/factors`)
    const kinds = new Set(items.filter(({ confirmed }) => confirmed).map(({ kind }) => kind))
    if (kinds.size === 0) return ['password']
    const ways: Way[] = []
    if (kinds.has('passkey') && hasPasskeys()) ways.push('passkey')
    if (kinds.has('totp')) ways.push('code')
    if (recoveryCodesLeft > 0) ways.push('recoveryCode')
    return ways
  }

  get #dialog(): HTMLDialogElement {
    return this.querySelector('dialog') as HTMLDialogElement
  }

  async #changeTo(way: Way): Promise<void> {
    this.way = way
    this.failure = undefined
    await this.#focus()
  }

  async #focus(): Promise<void> {
    await this.updateComplete
    this.querySelector<HTMLElement>('input, .primary')?.focus()
  }

  async #prove(event: Event): Promise<void> {
    event.preventDefault()
    const { root } = this.account
    // Password managers save the value of a field of this type.
    this.isShown = false
    const isProved = await this.act(async () => {
      const proof =
        this.way === 'passkey' ? await usePasskey(root) : this.querySelector('input')?.value
      await send(`${root}api/me/confirm`, { body: { [this.way]: proof } })
    })
    if (!isProved) return this.#displayFailure()
    this.#dialog.close('agreed')
  }

  async #displayFailure(): Promise<void> {
    // Another tab has added a factor since.
    if (isCarillonError(this.failure, 'SECOND_FACTOR_REQUIRED')) {
      this.ways = await this.#readWays().catch(() => this.ways)
      this.way = this.ways[0] ?? 'password'
    }
    await this.#focus()
  }

  #forgetProof(): void {
    this.isShown = false
    this.querySelector('form')?.reset()
  }

  protected override render(): TemplateResult {
    const { texts, way, ways, isBusy, failure } = this
    const { confirm, cancel } = texts
    const others = ways.filter((one) => one !== way)
    return html`<dialog aria-labelledby="confirm-title" @close=${this.#forgetProof}>
<form novalidate @submit=${this.#prove}>
<h2 id="confirm-title">${confirm.title}</h2>
<p>${confirm.text}</p>
${way === 'passkey' ? nothing : this.#proofField(way)}
<p class="fault" id="confirm-fault" role="alert">${this.faultText(failure)}</p>
<p class="buttons"><button class="primary" aria-disabled=${isBusy}>${way === 'passkey' ? confirm.ways.passkey : confirm.submit}</button>
<button type="button" @click=${() => this.#dialog.close()}>${cancel}</button></p>
${others.map((one) => html`<p>${this.button(confirm.ways[one], () => this.#changeTo(one), 'plain')}</p>`)}
<p class="hint">${confirm.otherwise}</p>
</form></dialog>`
  }

  #proofField(way: Exclude<Way, 'passkey'>): TemplateResult {
    const { confirm, password } = this.texts
    const labels = { password: password.title, ...confirm.labels }
    const kinds = {
      password: {
        type: this.isShown ? 'text' : 'password',
        autocomplete: 'current-password',
        inputmode: 'text',
      },
      code: { type: 'text', autocomplete: 'one-time-code', inputmode: 'numeric' },
      recoveryCode: { type: 'text', autocomplete: 'off', inputmode: 'text' },
    } as const
    const { type, autocomplete, inputmode } = kinds[way]
    return html`<div class="field"><label for="confirm-proof">${labels[way]}</label>
<div class="with-eye"><input id="confirm-proof" type=${type} autocomplete=${autocomplete} inputmode=${inputmode}
autocapitalize="none" spellcheck="false" autofocus aria-describedby="confirm-fault" aria-invalid=${this.failure !== undefined}>
${way === 'password' ? this.eye() : nothing}</div></div>`
  }

  protected override faultText(failure: unknown) {
    const { faults } = this.texts.confirm
    if (failure instanceof PasskeyRefused || isCarillonError(failure, 'UNPROCESSABLE'))
      return faults.passkey
    if (isCarillonError(failure, 'INVALID_CREDENTIALS', 'INVALID_REQUEST')) return faults[this.way]
    return super.faultText(failure)
  }
}
