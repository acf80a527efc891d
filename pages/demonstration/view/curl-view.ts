// A button that copies a request as a command for a terminal, and below it what became of that.
import { keyed } from 'lit/directives/keyed.js'
import { html } from 'lit/html.js'
import { addressOf, curlOf } from '../curl.ts'
import type { Exchange } from '../world.ts'
import type { Texts } from './stage.ts'

type Place = { texts: Texts; base: string; cookieName: string }

/** Another command has a button of its own, on which nothing was copied yet. */
export function curlView({ texts, base, cookieName }: Place, exchange: Exchange) {
  const command = curlOf(exchange, { address: addressOf({ exchange }, location.href, base), cookieName })
  const copy = ({ currentTarget }: Event) => void copyCommand(command, currentTarget as HTMLElement, texts)
  return keyed(
    command,
    html`<div class="curl">
      <button type="button" class="quiet" @click=${copy}>${texts.copyCurl}</button>
      <p role="status" class="note"></p>
      <pre class="command" tabindex="0" hidden></pre>
    </div>`,
  )
}

/** If the browser does not allow it, the command is selected. */
async function copyCommand(command: string, button: HTMLElement, texts: Texts): Promise<void> {
  const [, outcome, shown] = [...(button.parentElement?.children ?? [])] as HTMLElement[]
  if (outcome === undefined || shown === undefined) return
  // Absent on plain HTTP beyond localhost.
  const copying = navigator.clipboard?.writeText(command) ?? Promise.reject()
  const isDone = await copying.then(() => true).catch(() => false)
  outcome.textContent = isDone ? texts.copied : texts.notCopied
  shown.textContent = command
  shown.hidden = false
  if (isDone) return
  shown.focus()
  getSelection()?.selectAllChildren(shown)
}
