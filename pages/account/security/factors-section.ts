// <account-factors>: the passkeys, apps and recovery codes of the user.
import { html, nothing, type TemplateResult } from 'lit'
import { Cancelled, states } from '../account-section.ts'
import { LoadedSection } from '../loaded-section.ts'
import { type KnownPasskeys, signalPasskeys } from '../passkeys.ts'

type Factor = {
  id: string
  kind: 'totp' | 'passkey'
  label: string
  confirmed: boolean
  createdAt: string
  lastUsedAt: string | null
}
export type Factors = { items: Factor[]; recoveryCodesLeft: number; passkeys: KnownPasskeys | null }
type Panel = 'add-passkey' | 'add-app'

const fewCodes = 4

export class FactorsSection extends LoadedSection<Factors> {
  static override properties = states('panel', 'codes')

  declare panel: Panel | undefined
  declare codes: readonly string[] | undefined
  #isFirst = false

  protected override async read(): Promise<Factors> {
    const factors = await this.account.send<Factors>('api/me/factors')
    void signalPasskeys(factors.passkeys)
    return factors
  }

  /** The next app replaces one that waits for its first code. */
  get #confirmed(): readonly Factor[] {
    return this.data?.items.filter(({ confirmed }) => confirmed) ?? []
  }

  async #open(panel: Panel): Promise<void> {
    this.failure = undefined
    this.done = undefined
    this.panel = panel
    await this.focusOn(`${panel} h3`)
  }

  async #close(event: Event): Promise<void> {
    const { panel } = this
    event.stopPropagation()
    this.panel = undefined
    await this.focusOn(`.${panel}`)
  }

  async #added({ detail }: CustomEvent<{ recoveryCodes?: readonly string[] }>): Promise<void> {
    const codes = detail.recoveryCodes
    const isPasskey = this.panel === 'add-passkey'
    this.panel = undefined
    if (codes !== undefined) this.codes = codes
    this.#isFirst = codes !== undefined
    const work = () => this.account.refresh()
    await this.act(work, (texts) => texts.factors[isPasskey ? 'passkeyAdded' : 'appAdded'])
    await this.focusOn(codes === undefined ? undefined : 'recovery-codes h3')
  }

  async #remove({ id, label }: Factor): Promise<void> {
    const { removeTitle, removeText, removeLastText, remove: action } = this.texts.factors
    const isLast = this.#confirmed.length === 1
    const work = async () => {
      await this.ask({
        title: removeTitle(label),
        text: isLast ? removeLastText : removeText,
        action,
      })
      await this.delete(`api/me/factors/${id}`, { CONFLICT: ({ factors }) => factors.onlyWay })
      if (isLast) this.codes = undefined
    }
    if (await this.act(work, (texts) => texts.factors.removed)) await this.focusOn()
  }

  async #renew(): Promise<void> {
    const { renewTitle: title, renewText: text, renew: action } = this.texts.codes
    const work = async () => {
      if (this.data?.recoveryCodesLeft) await this.ask({ title, text, action })
      const path = 'api/me/factors/recovery-codes'
      const { recoveryCodes } = await this.account.send<{ recoveryCodes: string[] }>(path, {
        method: 'POST',
      })
      this.codes = recoveryCodes
      await this.account.refresh()
    }
    if (await this.act(work)) await this.focusOn('recovery-codes h3')
  }

  async #kept(): Promise<void> {
    this.codes = undefined
    await this.focusOn('.codes-left')
    const work = () => this.#offerToEndOthers()
    if (this.#isFirst && (await this.act(work, (texts) => texts.sessions.othersEnded)))
      await this.focusOn()
    this.#isFirst = false
  }

  /** A sign-in that began with the password alone goes on until the user ends it. */
  async #offerToEndOthers(): Promise<void> {
    const { items } = await this.account.send<{ items: unknown[] }>('api/me/sessions')
    if (items.length < 2) throw new Cancelled()
    await this.endOthers(this.texts.factors.endOthersText)
  }

  protected override content(found: Factors): TemplateResult {
    const { texts, panel, account } = this
    const factors = this.#confirmed
    const hasSome = factors.length > 0
    const panels = {
      'add-passkey': html`<add-passkey .account=${account}></add-passkey>`,
      'add-app': html`<add-app .account=${account}></add-app>`,
    }
    return html`<p class="hint">${hasSome ? texts.factors.introWith : texts.factors.introWithout}</p>
<ul class="entries">${this.entries(factors, (one) => this.#item(one))}</ul>
${this.outcome()}
${this.codes ? html`<recovery-codes .account=${account} .codes=${this.codes} @kept=${this.#kept}></recovery-codes>` : nothing}
<div @added=${this.#added} @closed=${this.#close}>${panel === undefined ? this.#choices() : panels[panel]}</div>
${hasSome && this.codes === undefined ? this.#codesLeft(found.recoveryCodesLeft) : nothing}`
  }

  #choices(): TemplateResult {
    const { factors } = this.texts
    const choice = (panel: Panel, name: string, text: string) =>
      html`<div>${this.button(name, () => this.#open(panel), panel)}<p class="hint">${text}</p></div>`
    const { setupOnly, passkeyOnly } = this.account.me.secondFactor ?? {}
    return html`<div class="choices">${choice('add-passkey', factors.addPasskey, factors.passkeyText)}
${setupOnly && passkeyOnly ? nothing : choice('add-app', factors.addApp, factors.appText)}</div>`
  }

  #item(one: Factor): TemplateResult {
    const { factors } = this.texts
    const { kind, label, createdAt, lastUsedAt } = one
    const remove = html`${factors.remove}<span class="for-readers"> ${label}</span>`
    return html`<li><div class="about"><strong>${label}</strong> <span class="badge">${kind === 'passkey' ? factors.passkey : factors.app}</span>
<div class="hint facts">${this.roughly(createdAt, factors.added)}
${lastUsedAt === null ? html`<span>${factors.neverUsed}</span>` : this.roughly(lastUsedAt, factors.used)}</div></div>
<div class="buttons">${this.button(remove, () => this.#remove(one))}</div></li>`
  }

  #codesLeft(left: number): TemplateResult {
    const { codes } = this.texts
    const many = html`<strong>${codes.left(left)}.</strong>`
    const few = html`<strong class="fault">${codes.left(left)}.</strong> ${codes.few}`
    return html`<h3 class="codes-left">${codes.title}</h3>
<p>${left < fewCodes ? few : many} ${codes.text}</p>
<p class="buttons">${this.button(codes.renew, this.#renew)}</p>`
  }
}
