// Exchanges as they were on the wire, with all that the server did, and each request as a command for a terminal.
import { keyed } from 'lit/directives/keyed.js'
import { html, nothing } from 'lit/html.js'
import type { Exchange, Message } from '../server/api.ts'
import { addressOf, curlOf } from './curl.ts'
import { lineOf, msText, statusOf } from './picture.ts'
import type { Stage } from './stage.ts'

/** Folded, because the picture says what matters. `title`: of the lane. `more`: what else stands there. */
export function closerView(
  stage: Stage,
  exchanges: readonly Exchange[],
  { title, more }: { title: string; more: unknown },
) {
  const { texts } = stage
  return html`<details class="fold">
    <summary>${texts.closer}<span class="for-readers">: ${title}</span></summary>
    ${more}
    ${exchanges.map(
      (exchange) => html`<section class="exchange">
        <h4><code>${lineOf(exchange)}</code> ${statusView(statusOf(exchange))}</h4>
        ${messageView(stage, texts.request, exchange.request)} ${curlView(stage, exchange)}
        ${messageView(stage, texts.response, exchange.response)} ${stepsView(stage, exchange)}
      </section>`,
    )}
    <p class="note">${texts.visitField}</p>
  </details>`
}

export function statusView(status: number) {
  return html`<strong class="status ${status < 400 ? 'done' : 'fault'}">${status}</strong>`
}

/** Every byte in order, with the proof in the colour of its lane. */
function messageView({ cookieName }: Stage, title: string, { line, fields, body }: Message) {
  const text = [line, ...fields.map(([name, value]) => `${name}: ${value}`), ...(body === '' ? [] : ['', body])].join(
    '\n',
  )
  const pieces = text.split(new RegExp(`((?:\\b${cookieName}=[\\w.-]+)|(?:eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*))`))
  return html`<p class="wire-title">${title}</p>
    <pre class="wire" tabindex="0" aria-label=${title}>${pieces.map((piece, at) =>
      at % 2 === 0 ? piece : html`<b class=${piece.startsWith('eyJ') ? 'of-token' : 'of-session'}>${piece}</b>`,
    )}</pre>`
}

function stepsView({ texts, language }: Stage, { steps }: Exchange) {
  if (steps.length === 0) return nothing
  return html`<p class="wire-title">${texts.trace}</p>
    <ol class="trace">
      ${steps.map(({ name, detail, ms }) => html`<li><code>${name}</code> ${detail}, ${msText(ms, language)}</li>`)}
    </ol>`
}

/** Another command has a button of its own, on which nothing was copied yet. */
function curlView({ texts, base, cookieName }: Stage, exchange: Exchange) {
  if (exchange.by !== 'browser') return nothing
  const command = curlOf(exchange, { address: addressOf(exchange, location.href, base), cookieName })
  return keyed(
    command,
    html`<div class="curl">
      <button type="button" class="quiet" @click=${(event: Event) => void copyCommand(event, command, texts)}>${texts.copyCurl}</button>
      <p role="status" class="note"></p>
      <pre class="command" tabindex="0" hidden></pre>
    </div>`,
  )
}

/** If the browser does not allow it, the command is selected. */
async function copyCommand({ currentTarget }: Event, command: string, texts: Stage['texts']): Promise<void> {
  const [, outcome, shown] = [...((currentTarget as HTMLElement).parentElement?.children ?? [])] as HTMLElement[]
  if (outcome === undefined || shown === undefined) return
  const isDone = await copy(command)
  outcome.textContent = isDone ? texts.copied : texts.notCopied
  shown.textContent = command
  shown.hidden = false
  if (isDone) return
  shown.focus()
  getSelection()?.selectAllChildren(shown)
}

/** False if the browser does not allow it: the clipboard is absent on plain HTTP beyond localhost. */
export async function copy(text: string): Promise<boolean> {
  const copying = navigator.clipboard?.writeText(text) ?? Promise.reject()
  return copying.then(
    () => true,
    () => false,
  )
}
