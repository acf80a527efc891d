// <recovery-codes>: new codes, displayed once. Sends `kept` when the user has them.
import { html, type PropertyDeclarations, type TemplateResult } from 'lit'
import { AccountSection } from '../account-section.ts'

export class RecoveryCodes extends AccountSection {
  static override properties: PropertyDeclarations = { codes: { attribute: false } }

  declare codes: readonly string[]

  /** The browser asks before codes that were never kept are lost. */
  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('beforeunload', refuse)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    removeEventListener('beforeunload', refuse)
  }

  get #title(): string {
    const { username, displayName } = this.account.me.user
    return this.texts.codes.fileTitle(location.host, username ?? displayName ?? '')
  }

  #download(): void {
    const text = `${this.#title}\n\n${this.codes.join('\n')}\n`
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    link.download = this.texts.codes.file
    link.click()
    URL.revokeObjectURL(link.href)
  }

  protected override render(): TemplateResult {
    const { texts } = this
    const { codes } = texts
    return html`<div class="card panel codes"><h3 tabindex="-1">${codes.title}</h3>
<p class="printed">${this.#title}</p>
<p>${codes.text} <strong>${codes.shownOnce}</strong></p>
<ol>${this.codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<p class="buttons">${this.button(texts.copy, () => this.copy(this.codes.join('\n')))}
${this.button(codes.download, this.#download)}
${this.button(codes.print, () => print())}</p>
${this.outcome()}
<p class="buttons">${this.button(codes.keep, () => this.dispatchEvent(new CustomEvent('kept')), 'primary')}</p></div>`
  }
}

function refuse(event: Event): void {
  event.preventDefault()
}
