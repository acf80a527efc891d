// The two proofs taken apart, side by side: each field with one explanation.
import { html, nothing } from 'lit/html.js'
import { cookieSetBy, type Part, tokenParts } from '../proof-parts.ts'
import type { Lane, Sent } from '../world.ts'
import { type Stage, timeOf } from './stage.ts'

export function apartView(stage: Stage, sent: Readonly<Record<Lane, Sent>>) {
  return html`<div class="two">${cookieApart(stage, sent.session)} ${tokenApart(stage, sent.token)}</div>`
}

function cookieApart(stage: Stage, { exchange }: Sent) {
  const { texts, visit } = stage
  const cookie = cookieSetBy(exchange, visit.cookieName)
  if (cookie === undefined) return nothing
  return html`<section class="apart lane-session">
    <h3>${texts.cookieApart}</h3>
    <p class="whole-proof of-session"><code>${cookie.name}=<span class="piece-0">${cookie.parts[1]?.value}</span>.<span class="piece-1">${cookie.parts[2]?.value}</span></code></p>
    <dl class="fields">${cookie.parts.map((part) => partView(stage, part, texts.cookieFields))}</dl>
  </section>`
}

function tokenApart(stage: Stage, { data }: Sent) {
  const { texts } = stage
  const parts = tokenParts((data as { token?: string } | undefined)?.token ?? '')
  if (parts === undefined) return nothing
  const fields = [parts.header, parts.claims, [parts.signature]]
  return html`<section class="apart lane-token">
    <h3>${texts.tokenApart}</h3>
    <p class="whole-proof of-token"><code>${parts.pieces.map(
      (piece, at) => html`${at > 0 ? '.' : nothing}<span class="piece-${at}">${piece}</span>`,
    )}</code></p>
    ${fields.map(
      (
        ones,
        at,
      ) => html`<h4 class="piece-title piece-${at}">${texts.tokenPieces[at]} <span>${texts.tokenPieceNotes[at]}</span></h4>
        <dl class="fields">${ones.map((part) => partView(stage, part, texts.tokenFields))}</dl>`,
    )}
  </section>`
}

function partView({ language }: Stage, part: Part, explanations: Readonly<Record<string, string>>) {
  const { name, value, time } = part
  return html`<div>
    <dt><code>${name}</code></dt>
    <dd>
      ${value === '' ? nothing : html`<code class="value">${value}</code>`}
      ${time === undefined ? nothing : html`<span class="time">${timeOf(time, language)}</span>`}
      <span class="why">${explanations[name]}</span>
    </dd>
  </div>`
}
