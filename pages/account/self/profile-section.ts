// <account-profile>: the name that is displayed to others, and the language of the pages and mails.
import { html, type TemplateResult } from 'lit'
import { isCarillonError } from '../../../client/transport/errors.ts'
import { pageLanguages } from '../../../server/pages/texts/texts.ts'
import { AccountSection } from '../account-section.ts'
import { signalPasskeys } from '../passkeys.ts'
import type { Factors } from '../security/factors-section.ts'

export class ProfileSection extends AccountSection {
  async #saveName(event: Event): Promise<void> {
    event.preventDefault()
    const field = this.querySelector('input')
    const displayName = field?.value.trim() || null
    const work = () => this.#change({ displayName })
    await this.act(work, (texts) => texts.profile.nameSaved)
    if (isCarillonError(this.failure, 'INVALID_REQUEST')) field?.focus()
  }

  async #saveLanguage({ target }: Event): Promise<void> {
    const select = target as HTMLSelectElement
    const work = () => this.#change({ locale: select.value || null })
    const isSaved = await this.act(work, (texts) => texts.profile.languageSaved)
    // The list shows what the service has.
    if (!isSaved) select.value = this.account.me.user.locale ?? ''
  }

  async #change(body: { displayName?: string | null; locale?: string | null }): Promise<void> {
    await this.account.send('api/me', { method: 'PATCH', body })
    await this.account.refreshFrame()
    // Password managers show the name beside the passkeys.
    const reading = this.account.send<Factors>('api/me/factors')
    void reading.then(({ passkeys }) => signalPasskeys(passkeys)).catch(() => {})
  }

  protected override render(): TemplateResult {
    const { me, texts } = this.account
    const { profile } = texts
    const isRefused = isCarillonError(this.failure, 'INVALID_REQUEST')
    const { username, email, displayName, locale } = me.user
    // An application may have set another one, such as `de-CH`.
    const languages = [...new Set<string>([...pageLanguages, locale ?? 'en'])]
    return html`<dl>
${username && html`<div><dt>${profile.username}</dt><dd>${username}</dd></div>`}
${email && html`<div><dt>${profile.email}</dt><dd>${email} <span class="hint">${me.emailVerified ? profile.verified : profile.notVerified}</span></dd></div>`}
</dl>
<form class="field" novalidate @submit=${this.#saveName}>
<label for="display-name">${profile.name}</label>
<div class="with-button"><input id="display-name" autocomplete="name" aria-describedby="name-hint profile-fault" aria-invalid=${isRefused} .value=${displayName ?? ''}>
<button class="primary" aria-disabled=${this.isBusy}>${profile.save}</button></div>
<p class="hint" id="name-hint">${profile.nameHint}</p>
</form>
<div class="field"><label for="language">${profile.language}</label>
<select id="language" aria-describedby="language-hint" @change=${this.#saveLanguage}>
<option value="" ?selected=${locale === null}>${profile.asTheBrowser}</option>
${languages.map((tag) => html`<option value=${tag} lang=${tag} ?selected=${tag === locale}>${ownNameOf(tag)}</option>`)}
</select>
<p class="hint" id="language-hint">${profile.languageHint}</p></div>
${isRefused ? html`<p class="fault" id="profile-fault" role="alert">${profile.nameRefused}</p>` : this.outcome()}`
  }
}

function ownNameOf(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)
}
