// What a sign-in left: the proof taken apart, the row of the session, and what is stored for other reasons.
import { html, nothing } from 'lit/html.js'
import type { Exchange } from '../server/api.ts'
import { sessionRowOf } from './picture.ts'
import { cookieSetBy, type Part, tokenParts } from './proof-parts.ts'
import { type Stage, timeText } from './stage.ts'
import type { Lane } from './world.ts'

export function apartView(stage: Stage, lane: Lane, exchange: Exchange) {
  return html`${lane === 'session' ? cookieApart(stage, exchange) : tokenApart(stage, exchange)} ${alsoView(stage, lane)}`
}

function cookieApart(stage: Stage, exchange: Exchange) {
  const { texts, cookieName } = stage
  const parts = cookieSetBy(exchange, cookieName)?.parts ?? []
  const columns = Object.entries(sessionRowOf(exchange)?.columns ?? {})
  const row = columns.flatMap(([name, value]) => (value === null ? [] : [partOf(name, value)]))
  return html`<h4>${texts.cookieTitle}</h4>
    <dl class="fields">${parts.map((part) => partView(stage, part))}</dl>
    <h4>${texts.rowTitle}</h4>
    <dl class="fields">${row.map((part) => partView(stage, part))}</dl>`
}

/** A table has times in milliseconds: a number of that size is a time of this century. */
function partOf(name: string, value: string | number): Part {
  const isTime = typeof value === 'number' && value > 1e12 && value < 4e12
  return { name, value: String(value), ...(isTime && { time: value }) }
}

function tokenApart(stage: Stage, { response }: Exchange) {
  const { texts } = stage
  const parts = tokenParts(/"token":"([^"]+)"/.exec(response.body)?.[1] ?? '')
  if (parts === undefined) return nothing
  return [parts.header, parts.claims, [parts.signature]].map(
    (fields, at) => html`<h4 class="piece-${at}">${texts.tokenPieces[at]}</h4>
      <dl class="fields">${fields.map((part) => partView(stage, part))}</dl>`,
  )
}

function partView({ texts, language }: Stage, { name, value, time }: Part) {
  const explanations: Readonly<Record<string, string>> = texts.parts
  return html`<div>
    <dt><code>${name}</code> <span class="note">${explanations[name]}</span></dt>
    <dd><code>${time === undefined ? value : `${value}: ${timeText(time, language)}`}</code></dd>
  </div>`
}

/** Rows that a sign-in adds, and that no request reads as a proof. */
function alsoView({ texts: { also } }: Stage, lane: Lane) {
  return html`<h4>${also.title}</h4>
    <ul class="also">
      <li>${also.audit} ${lane === 'token' ? also.auditSid : nothing}</li>
      <li>${also.device} ${lane === 'session' ? also.deviceCookie : also.deviceToken}</li>
    </ul>`
}
