// Asks before an act that cannot be undone.
import { html, render } from 'lit'

/** The user closed a dialog that the request needed: nothing has happened, and nothing is said. */
export class Cancelled extends Error {}

/** `action`: what the button says that agrees. `cancel`: what the other one says; it comes first, and so has the focus. */
export type Question = { title: string; text: string; action: string; cancel: string }

/** Resolves if the user agrees. Throws Cancelled if the user closes the dialog, also with Escape. */
export function ask({ title, text, action, cancel }: Question): Promise<void> {
  const dialog = document.createElement('dialog')
  dialog.setAttribute('role', 'alertdialog')
  dialog.setAttribute('aria-labelledby', 'question-title')
  dialog.setAttribute('aria-describedby', 'question-text')
  const content = html`<h2 id="question-title">${title}</h2>
<p id="question-text">${text}</p>
<p class="buttons"><button type="button" @click=${() => dialog.close()}>${cancel}</button>
<button type="button" class="danger" @click=${() => dialog.close('agreed')}>${action}</button></p>`
  render(content, dialog)
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve, reject) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      if (dialog.returnValue === 'agreed') resolve()
      else reject(new Cancelled())
    })
  })
}
