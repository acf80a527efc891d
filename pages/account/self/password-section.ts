// <account-password>: another password, with the current one. Every other sign-in of the user ends.
import { html, nothing, type TemplateResult } from 'lit'
import { isCarillonError } from '../../../client/transport/errors.ts'
import { AccountSection } from '../account-section.ts'
import { passwordFaultOf } from '../sentences.ts'

export class PasswordSection extends AccountSection {
  async #send(event: Event): Promise<void> {
    event.preventDefault()
    const current = this.#field('current-password')
    const next = this.#field('new-password')
    this.isShown = false
    await this.updateComplete
    const body = { currentPassword: current.value, newPassword: next.value }
    const work = () => this.account.send('api/me/password', { method: 'PUT', body })
    const isChanged = await this.act(work, (texts) => texts.password.changed)
    await this.updateComplete
    if (!isChanged) return this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    for (const field of [current, next]) field.value = ''
    // The other sign-ins are gone from the list, and so is the demand for a new password.
    await this.account.refresh().catch(() => {})
  }

  get #currentFault(): string | undefined {
    const { password } = this.texts
    if (isCarillonError(this.failure, 'INVALID_CREDENTIALS')) return password.wrong
    const isMissing =
      isCarillonError(this.failure) &&
      this.failure.details?.some(({ field }) => field === 'currentPassword')
    return isMissing ? password.missing : undefined
  }

  #field(id: string): HTMLInputElement {
    return this.querySelector(`#${id}`) as HTMLInputElement
  }

  protected override render(): TemplateResult {
    const { me, texts, words, passwordMinLength } = this.account
    const { password } = texts
    if (me.user.username === null) return html`<p>${password.none}</p>`
    const currentFault = this.#currentFault
    const newFault = passwordFaultOf(this.failure, words, passwordMinLength)
    return html`<form novalidate @submit=${this.#send}>
<input type="text" name="username" autocomplete="username" .value=${me.user.username} hidden readonly>
${this.#passwordField('current-password', password.current, currentFault)}
${this.#passwordField('new-password', password.next, newFault, password.rules(passwordMinLength))}
<p class="buttons"><button class="primary" aria-disabled=${this.isBusy}>${password.change}</button></p>
<p class="hint">${password.effect}</p>
${(currentFault ?? newFault) ? nothing : this.outcome()}
</form>`
  }

  #passwordField(id: string, label: string, fault: string | undefined, hint = ''): TemplateResult {
    return html`<div class="field"><label for=${id}>${label}</label>
${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : nothing}
<div class="with-eye"><input id=${id} type=${this.isShown ? 'text' : 'password'} autocomplete=${id} autocapitalize="none" spellcheck="false"
aria-describedby="${id}-hint ${id}-fault" aria-invalid=${!!fault}>
${this.eye()}</div>
<p class="fault" id="${id}-fault" role="alert">${fault}</p></div>`
  }
}
