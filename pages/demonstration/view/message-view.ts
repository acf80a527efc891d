// One message as it was on the wire. Its text is complete and in order; what is not important for the step is hidden until the reader wants all.
import { html, nothing, type TemplateResult } from 'lit/html.js'
import { jsonLines } from '../json-lines.ts'
import type { Message } from '../world.ts'
import { proofText } from './proof-text.ts'
import type { Stage } from './stage.ts'

/** The fields that the walk is about. */
const important = ['cookie', 'authorization', 'carillon-visit', 'set-cookie', 'www-authenticate', 'content-type']

export type MessageKind = 'request' | 'response'

export function messageView(stage: Stage, kind: MessageKind, { name, message }: { name: string; message: Message }) {
  const { texts, whole, toggle } = stage
  const isWhole = whole.has(name)
  const hidden = message.fields.filter((field) => !isImportant(stage, kind, field)).length
  return html`<div class="message ${kind} ${isWhole ? 'is-whole' : ''}">
    <h4>${kind === 'request' ? texts.requestBy : texts.responseTo}</h4>
    <pre class="wire">${line(startLine(kind, message.line), 'first')}${message.fields.map((field) =>
      line(fieldView(stage, field), isImportant(stage, kind, field) ? '' : 'minor'),
    )}${message.body === '' ? nothing : html`<span class="body">${bodyView(message.body)}</span>`}</pre>
    ${
      hidden === 0
        ? nothing
        : html`<button type="button" class="quiet" aria-expanded=${isWhole} @click=${() => toggle(name)}>
            ${isWhole ? texts.fewerFields : texts.allFields(hidden)}
          </button>`
    }
  </div>`
}

/** A device cookie is no proof: of two `Set-Cookie`, the one of the session is important. */
function isImportant({ visit }: Stage, kind: MessageKind, [name, value]: Message['fields'][number]): boolean {
  const field = name.toLowerCase()
  if (field === 'content-type' && kind === 'response') return false
  if (field === 'set-cookie') return value.startsWith(`${visit.cookieName}=`)
  if (field === 'cookie') return value.includes(`${visit.cookieName}=`)
  return important.includes(field)
}

const line = (content: unknown, kind: string) => html`<span class="line ${kind}">${content}</span>`

/** The method, or the status in the colour of success or refusal. */
function startLine(kind: MessageKind, text: string): TemplateResult {
  if (kind === 'request') {
    const [method = '', path = '', ...rest] = text.split(' ')
    const [, base = '', route = path] = /^(.*\/demonstration\/service)(.*)$/.exec(path) ?? []
    return html`<b>${method}</b> <span class="base">${base}</span><b>${route}</b> <span class="base">${rest.join(' ')}</span>`
  }
  const [version = '', status = '', ...reason] = text.split(' ')
  return html`<span class="base">${version}</span> <b class=${Number(status) < 400 ? 'done' : 'fault'}>${status} ${reason.join(' ')}</b>`
}

function fieldView({ visit }: Stage, [name, value]: Message['fields'][number]) {
  return html`<span class="name">${name}</span>: ${proofText(value, visit.cookieName)}`
}

/** JSON with a line for each member, although it travels in one. */
function bodyView(body: string) {
  const lines = jsonLines(body)
  if (lines === undefined) return line(body, '')
  return lines.map(({ depth, text }) => line(proofText(text), `depth-${Math.min(depth, 3)}`))
}
