import { html, nothing } from 'lit/html.js'
import type { Exchange, Message } from '../../server/api.ts'
import { textAt } from '../../texts/texts.ts'
import type { Stage } from '../demonstration-page.ts'
import { copyView } from '../picture/copy.ts'
import { lineOf, statusOf, timeText } from '../picture/hops.ts'
import { sessionRowOf } from '../picture/picture.ts'
import { type Lane, tokenIn } from '../world.ts'
import { addressOf, curlOf } from './curl.ts'
import { cookieSetBy, type Part, partsOf, tokenParts } from './proof-parts.ts'

export function exchangeView(stage: Stage, lane: Lane, exchange: Exchange) {
  const { texts, world, cookieName, recording } = stage
  const address = addressOf(exchange, location.href, world.base)
  const command = copyView(texts, texts.copyCurl, curlOf(exchange, { address, cookieName }))
  const status = statusOf(exchange)
  const isSignIn = exchange.request.line.includes('/login ')
  return html`${isSignIn ? apartView(stage, lane, exchange) : nothing}
    <section class="exchange">
      <h4><code>${lineOf(exchange)}</code> <strong class="status ${status < 400 ? 'done' : 'fault'}">${status}</strong></h4>
      ${messageView(stage, texts.request, exchange.request)}
      ${exchange.by === 'browser' && !recording ? command : nothing}
      ${messageView(stage, texts.response, exchange.response)}
    </section>`
}

function messageView({ cookieName }: Stage, title: string, { line, fields, body }: Message) {
  const head = [line, ...fields.map(([name, value]) => `${name}: ${value}`)].join('\n')
  const text = body === '' ? head : `${head}\n\n${body}`
  const pieces = text.split(
    new RegExp(`((?:\\b${cookieName}=[\\w.-]+)|(?:eyJ[\\w-]{1,1000}\\.[\\w-]{1,1000}\\.[\\w-]*))`),
  )
  const proofView = (proof: string) =>
    html`<b class=${proof.startsWith('eyJ') ? 'of-token' : 'of-session'}>${proof}</b>`
  // `split` returns proofs at odd places.
  const views = pieces.map((piece, at) => (at % 2 === 0 ? piece : proofView(piece)))
  return html`<p class="wire-title">${title}</p>
    <pre class="wire" tabindex="0" aria-label=${title}>${views}</pre>`
}

function apartView(stage: Stage, lane: Lane, exchange: Exchange) {
  const { pieces, also, alsoTitle } = stage.texts
  const parts =
    lane === 'session'
      ? {
          cookie: cookieSetBy(exchange, stage.cookieName),
          row: partsOf(sessionRowOf(exchange)?.columns ?? {}),
        }
      : tokenParts(tokenIn(exchange) ?? '')
  return html`${Object.entries(parts ?? {}).map(
    ([piece, of]) => html`<h4>${textAt(pieces, piece)}</h4>
      ${partsView(stage, of)}`,
  )}
    <h4>${alsoTitle}</h4>
    <ul class="also">${[also.audit, also.device, also[lane]].map((text) => html`<li>${text}</li>`)}</ul>`
}

const sameAs: Readonly<Record<string, string>> = {
  user: 'sub',
  user_id: 'sub',
  confirmed_at: 'auth_time',
}

export function partsView({ texts, language }: Stage, parts: readonly Part[]) {
  const partView = ({ name, value, time }: Part) => html`<div>
    <dt><code>${name}</code> <span class="hint">${textAt(texts.parts, sameAs[name] ?? name)}</span></dt>
    <dd><code>${time === undefined ? value : `${value}: ${timeText(time, language)}`}</code></dd>
  </div>`
  return html`<dl class="fields">${parts.map(partView)}</dl>`
}
