// <account-data>: everything that the service keeps of the user, and the end of the account.
import { html, type TemplateResult } from 'lit'
import { AccountSection } from '../account-section.ts'

export class DataSection extends AccountSection {
  async #erase(): Promise<void> {
    const { eraseTitle: title, eraseText: text, erase: action } = this.texts.data
    const { send, pages } = this.account
    const isErased = await this.act(async () => {
      await this.ask({ title, text, action })
      await send('api/me', { method: 'DELETE' })
    })
    if (isErased) location.replace(`${pages}sign-in?after=sign-out&erased`)
  }

  /** The browser itself receives the file: it may be large. */
  protected override render(): TemplateResult {
    const { data } = this.texts
    return html`<p class="hint">${data.hint}</p>
<p class="buttons"><a class="button" href="${this.account.root}api/me/export">${data.download}</a>
${this.button(data.erase, this.#erase, 'danger')}</p>
${this.outcome()}`
  }
}
