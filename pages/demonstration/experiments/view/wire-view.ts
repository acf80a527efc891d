// What the server has of one exchange: the request and the response as they were on the wire, its own trace, and the request as a command.

import { html, nothing } from 'lit/html.js'
import type { TextsOf } from '../../../../server/pages/texts/texts.ts'
import { arrowOf } from '../../arrows.ts'
import { sentenceOf } from '../../view/diagram.ts'
import type { Exchange, Message, Traced } from '../../world.ts'
import type { Texts } from '../experiment.ts'

export type Words = { texts: Texts; walk: TextsOf<'demonstration'>; language: string }
/** The command that the reader copied last, and whether the browser allowed it. */
export type Copied = { command: string; isDone: boolean }
export type Curl = { command: string; copied: Copied | undefined; copy: () => void }

export function wireView(words: Words, { request, response, trace }: Exchange, curl: Curl) {
  return html`<pre class="wire" tabindex="0">${textOf(request)}</pre>
    <pre class="wire" tabindex="0">${textOf(response)}</pre>
    ${traceView(words, trace ?? [])} ${curlView(words, curl)}`
}

/** In the words of the walk. */
function traceView({ texts, walk, language }: Words, trace: readonly Traced[]) {
  if (trace.length === 0) return nothing
  return html`<p>${texts.trace}</p>
    <ul class="trace">${trace.map((one) => html`<li>${sentenceOf({ texts: walk, language }, arrowOf(one))}</li>`)}</ul>`
}

function curlView({ walk }: Words, { command, copied, copy }: Curl) {
  const isThis = copied?.command === command
  return html`<button type="button" @click=${copy}>${walk.copyCurl}</button>
    <p role="status" class="hint">${isThis ? (copied.isDone ? walk.copied : walk.notCopied) : nothing}</p>
    ${isThis ? html`<pre class="command" tabindex="0">${command}</pre>` : nothing}`
}

function textOf({ line, fields, body }: Message): string {
  return [line, ...fields.map(([name, value]) => `${name}: ${value}`), ...(body === '' ? [] : ['', body])].join('\n')
}
