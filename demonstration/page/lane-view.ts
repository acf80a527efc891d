// What the walk and the experiments share: the head of a place, and one lane with its picture and all that is folded below it: the
// exchanges as they were on the wire, the proof taken apart, all that the server did, and each request as a command for a terminal.
import { keyed } from 'lit/directives/keyed.js'
import { html, nothing } from 'lit/html.js'
import type { Exchange, Message } from '../server/api.ts'
import { addressOf, curlOf } from './curl.ts'
import { lineOf, msText, type Scene, sessionRowOf, statusOf, timeText } from './picture.ts'
import { pictureView } from './picture-view.ts'
import { cookieSetBy, type Part, tokenParts } from './proof-parts.ts'
import type { Stage } from './stage.ts'
import { type Lane, tokenIn } from './world.ts'

/** `see`: the one sentence that says what to look at. */
export function headView(title: string, see: string) {
  return html`<header class="step-head">
    <h2 id="place" tabindex="-1">${title}</h2>
    <p class="see">${see}</p>
  </header>`
}

export type Moment = { scene: Scene; exchanges: readonly Exchange[] }

export function laneView(stage: Stage, lane: Lane, { scene, exchanges }: Moment) {
  const { texts, width } = stage
  const name = texts.laneNames[lane]
  const picture = pictureView(scene, { title: `${name}: ${texts.inOrder}`, width })
  return html`<section class="lane card lane-${lane}" aria-label=${name}>
    <h3 class="lane-name">${name}</h3>
    ${keyed(exchanges[0], picture)} ${closerView(stage, lane, exchanges)}
  </section>`
}

/** Folded, because the picture says what matters. */
function closerView(stage: Stage, lane: Lane, exchanges: readonly Exchange[]) {
  const { texts, world, cookieName } = stage
  return html`<details class="fold card">
    <summary>${texts.closer}<span class="for-readers">: ${texts.laneNames[lane]}</span></summary>
    ${exchanges.map((exchange) => {
      const command = curlOf(exchange, { address: addressOf(exchange, location.href, world.base), cookieName })
      const status = statusOf(exchange)
      return html`${apartView(stage, lane, exchange)}
        <section class="exchange">
          <h4><code>${lineOf(exchange)}</code> <strong class="status ${status < 400 ? 'done' : 'fault'}">${status}</strong></h4>
          ${messageView(stage, texts.request, exchange.request)}
          ${exchange.by === 'browser' ? copyView(texts, texts.copyCurl, command) : nothing}
          ${messageView(stage, texts.response, exchange.response)} ${stepsView(stage, exchange)}
        </section>`
    })}
    <p class="hint">${texts.visitField}</p>
  </details>`
}

/** Every byte in order, with the proof in the colour of its lane. */
function messageView({ cookieName }: Stage, title: string, { line, fields, body }: Message) {
  const head = [line, ...fields.map(([name, value]) => `${name}: ${value}`)].join('\n')
  const text = body === '' ? head : `${head}\n\n${body}`
  const pieces = text.split(
    new RegExp(`((?:\\b${cookieName}=[\\w.-]+)|(?:eyJ[\\w-]{1,1000}\\.[\\w-]{1,1000}\\.[\\w-]*))`),
  )
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

/** What a sign-in left: the proof, the row of the session, and what is stored for other reasons, which no request reads as a proof. */
function apartView(stage: Stage, lane: Lane, exchange: Exchange) {
  if (!exchange.request.line.includes('/login ')) return nothing
  const { texts, cookieName, language } = stage
  const cookie = cookieSetBy(exchange, cookieName)
  const row = Object.entries(sessionRowOf(exchange)?.columns ?? {}).flatMap(([name, value]) => partsOf(name, value))
  const pieces = lane === 'session' ? { cookie, row } : { ...tokenParts(tokenIn(exchange) ?? '') }
  const names: Readonly<Record<string, string>> = { ...texts.parts, ...texts.pieces }
  return html`${Object.entries(pieces).map(
    ([piece, parts]) => html`<h4>${names[piece]}</h4>
      <dl class="fields">
        ${parts.map(
          ({ name, value, time }) => html`<div>
            <dt><code>${name}</code> <span class="hint">${names[sameAs[name] ?? name]}</span></dt>
            <dd><code>${time === undefined ? value : `${value}: ${timeText(time, language)}`}</code></dd>
          </div>`,
        )}
      </dl>`,
  )}
    <h4>${texts.alsoTitle}</h4>
    <ul class="also">${[texts.also.audit, texts.also.device, texts.also[lane]].map((text) => html`<li>${text}</li>`)}</ul>`
}

/** What the same explanation explains. */
const sameAs: Readonly<Record<string, string>> = { user: 'sub', user_id: 'sub', confirmed_at: 'auth_time' }

/** A table has times in milliseconds. */
function partsOf(name: string, value: string | number | null): Part[] {
  if (value === null) return []
  return [{ name, value: String(value), ...(name.endsWith('_at') && { time: Number(value) }) }]
}

/** A button that copies a text. Another text has a button of its own, on which nothing was copied yet. */
export function copyView(texts: Stage['texts'], label: string, text: string) {
  const press = (event: Event) => void copy(event.currentTarget as HTMLElement, text, texts)
  return keyed(
    text,
    html`<div class="copy">
      <button type="button" @click=${press}>${label}</button>
      <span role="status" class="hint"></span>
      <pre class="command" tabindex="0" hidden></pre>
    </div>`,
  )
}

/** If the browser does not allow it, the text is selected: the clipboard is absent on plain HTTP beyond localhost. */
async function copy({ parentElement }: HTMLElement, text: string, texts: Stage['texts']): Promise<void> {
  const [, outcome, shown] = [...(parentElement?.children ?? [])] as HTMLElement[]
  if (outcome === undefined || shown === undefined) return
  shown.textContent = text
  shown.hidden = false
  try {
    await navigator.clipboard.writeText(text)
    outcome.textContent = texts.copied
  } catch {
    outcome.textContent = texts.notCopied
    shown.focus()
    getSelection()?.selectAllChildren(shown)
  }
}
