// <question-dialog>: asks before an act that cannot be undone.
import { html, type PropertyDeclarations, type TemplateResult } from 'lit'
import { PageElement } from '../account-section.ts'

/** `action`: what the button says that agrees. */
export type Question = { title: string; text: string; action: string }

export class QuestionDialog extends PageElement {
  static override properties: PropertyDeclarations = {
    cancel: { attribute: false },
    question: { state: true },
  }

  /** What the button says that does not agree. */
  declare cancel: string
  declare question: Question | undefined
  #settle: ((isAgreed: boolean) => void) | undefined

  /** False if the user closes the dialog, also with Escape. */
  async ask(question: Question): Promise<boolean> {
    this.#settle?.(false)
    this.question = question
    await this.updateComplete
    this.#dialog?.showModal()
    return new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  get #dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog')
  }

  #agree(): void {
    this.#settle?.(true)
    this.#dialog?.close()
  }

  #closed(): void {
    this.#settle?.(false)
    this.#settle = undefined
  }

  /** The button that changes nothing comes first, and so has the focus. */
  protected override render(): TemplateResult {
    const { title, text, action } = this.question ?? {}
    return html`<dialog role="alertdialog" aria-labelledby="${this.#id}-title" aria-describedby="${this.#id}-text" @close=${this.#closed}>
<h2 id="${this.#id}-title">${title}</h2>
<p id="${this.#id}-text">${text}</p>
<p class="buttons"><button type="button" @click=${() => this.#dialog?.close()}>${this.cancel}</button>
<button type="button" class="danger" @click=${this.#agree}>${action}</button></p>
</dialog>`
  }

  /** Each element that asks has a dialog of its own. */
  get #id(): string {
    return `question-${this.parentElement?.localName ?? ''}`
  }
}
