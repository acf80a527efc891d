// One lane of the walk or of an experiment: its picture and, folded, the exchanges on the wire, the
// proof taken apart, all that the server did, and each request as a command.
import { keyed } from 'lit/directives/keyed.js'
import { html, nothing } from 'lit/html.js'
import type { Exchange, Message } from '../server/api.ts'
import { pictureBeside } from './copy-svg.ts'
import { addressOf, curlOf } from './curl.ts'
import { type Hop, lineOf, msText, statusOf, timeText } from './hops.ts'
import { type Scene, sessionRowOf } from './picture.ts'
import { type Chips, pictureView } from './picture-view.ts'
import { sliderView } from './player.ts'
import { cookieSetBy, type Part, tokenParts } from './proof-parts.ts'
import type { Stage } from './stage.ts'
import { type Lane, lanes, tokenIn } from './world.ts'

/** A longer list is closed. */
const maxOpen = 7
const maxOnPhone = 5

export function headView(title: string, see: string) {
  return html`<header class="step-head">
    <h2 id="place" tabindex="-1">${title}</h2>
    <p class="see">${see}</p>
  </header>`
}

/** `isOpen`: the whole list is displayed, and not the sentence of one hop. */
export type Moment = {
  scene: Scene
  exchanges: readonly Exchange[]
  notes: readonly string[]
  isOpen: boolean
  shown: number
  beside: readonly Scene[]
  chips: Chips
}

type BothLanes = {
  moment: unknown
  lanes: Readonly<Record<Lane, Omit<Moment, 'shown' | 'beside'>>>
  bar: unknown
}

/** A moment that is undefined is only planned. */
export function lanesView(stage: Stage, { moment, lanes: of, bar }: BothLanes) {
  const { player, texts } = stage
  const hops = Math.max(...lanes.map((lane) => of[lane].scene.hops.length))
  player.show(moment, hops)
  const shown = moment === undefined ? hops : player.at
  const beside = stage.isWide ? lanes.map((lane) => of[lane].scene) : []
  const sentences = lanes.map((lane) => of[lane].scene.hops[shown - 1]?.sentence ?? '')
  return html`<div class="acts buttons">
      ${bar} ${moment === undefined ? nothing : sliderView(player, texts, { hops, sentences })}
    </div>
    <div class="two">${lanes.map((lane) => laneView(stage, lane, { ...of[lane], shown, beside }))}</div>`
}

function laneView(stage: Stage, lane: Lane, moment: Moment) {
  const { scene, beside, exchanges, notes, isOpen, shown, chips } = moment
  const { texts, width } = stage
  const name = texts.laneNames[lane]
  const now = scene.hops[Math.min(shown, scene.hops.length) - 1]
  return html`<section class="lane card lane-${lane}" aria-label=${name}>
    <div class="lane-head">
      <h3 class="lane-name">${name}</h3>
      ${isOpen ? nothing : html`<p class="now tone-${now?.tone}">${now?.sentence}</p>`}
    </div>
    <figure class="picture">${pictureView({ scene, beside, width, shown, chips })}</figure>
    ${isOpen ? legendView(stage, scene) : nothing}
    ${notes.map((note) => html`<p class="note ${shown < scene.hops.length ? 'waiting' : ''}">${note}</p>`)}
    ${exchanges.length === 0 ? nothing : closerView(stage, lane, moment)}
  </section>`
}

function legendView({ texts, isWide }: Stage, { hops, names }: Scene) {
  const wayOf = ({ from, to }: Hop) => (from === to ? names[to] : `${names[from]} › ${names[to]}`)
  const legend = html`<ol class="legend" aria-label=${texts.inOrder}>
    ${hops.map((hop) => html`<li class="tone-${hop.tone}"><span class="way-of">${wayOf(hop)} · </span>${hop.sentence}</li>`)}
  </ol>`
  return hops.length > (isWide ? maxOpen : maxOnPhone)
    ? html`<details class="picture"><summary>${texts.inOrder}</summary>${legend}</details>`
    : legend
}

function closerView(stage: Stage, lane: Lane, { scene, exchanges, isOpen }: Moment) {
  const { texts, world, cookieName, recording } = stage
  return html`<details class="fold card">
    <summary>${texts.closer}<span class="for-readers">: ${texts.laneNames[lane]}</span></summary>
    ${isOpen ? nothing : legendView(stage, scene)} ${copyView(texts, texts.copySvg, pictureBeside)}
    ${exchanges.map((exchange) => {
      const command = curlOf(exchange, {
        address: addressOf(exchange, location.href, world.base),
        cookieName,
      })
      const status = statusOf(exchange)
      return html`${apartView(stage, lane, exchange)}
        <section class="exchange">
          <h4><code>${lineOf(exchange)}</code> <strong class="status ${status < 400 ? 'done' : 'fault'}">${status}</strong></h4>
          ${messageView(stage, texts.request, exchange.request)}
          ${exchange.by === 'browser' && !recording ? copyView(texts, texts.copyCurl, command) : nothing}
          ${messageView(stage, texts.response, exchange.response)} ${stepsView(stage, exchange)}
        </section>`
    })}
    <p class="hint">${texts.visitField}</p>
  </details>`
}

function messageView({ cookieName }: Stage, title: string, { line, fields, body }: Message) {
  const head = [line, ...fields.map(([name, value]) => `${name}: ${value}`)].join('\n')
  const text = body === '' ? head : `${head}\n\n${body}`
  const pieces = text.split(
    new RegExp(`((?:\\b${cookieName}=[\\w.-]+)|(?:eyJ[\\w-]{1,1000}\\.[\\w-]{1,1000}\\.[\\w-]*))`),
  )
  const proofView = (proof: string) =>
    html`<b class=${proof.startsWith('eyJ') ? 'of-token' : 'of-session'}>${proof}</b>`
  // `split` returns the proofs at the odd places.
  const views = pieces.map((piece, at) => (at % 2 === 0 ? piece : proofView(piece)))
  return html`<p class="wire-title">${title}</p>
    <pre class="wire" tabindex="0" aria-label=${title}>${views}</pre>`
}

function stepsView({ texts, language }: Stage, { steps }: Exchange) {
  if (steps.length === 0) return nothing
  return html`<p class="wire-title">${texts.trace}</p>
    <ol class="trace">
      ${steps.map(({ name, detail, ms }) => html`<li><code>${name}</code> ${detail}, ${msText(ms, language)}</li>`)}
    </ol>`
}

function apartView(stage: Stage, lane: Lane, exchange: Exchange) {
  if (!exchange.request.line.includes('/login ')) return nothing
  const { texts, cookieName, language } = stage
  const cookie = cookieSetBy(exchange, cookieName)
  const row = Object.entries(sessionRowOf(exchange)?.columns ?? {}).flatMap(([name, value]) =>
    partsOf(name, value),
  )
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

const sameAs: Readonly<Record<string, string>> = {
  user: 'sub',
  user_id: 'sub',
  confirmed_at: 'auth_time',
}

/** A table has times in milliseconds. */
function partsOf(name: string, value: string | number | null): Part[] {
  if (value === null) return []
  return [{ name, value: String(value), ...(name.endsWith('_at') && { time: Number(value) }) }]
}

type Source = string | ((button: HTMLElement) => string)

/** Keyed by its text: on another text, nothing was copied yet. */
export function copyView(texts: Stage['texts'], label: string, source: Source) {
  const press = ({ currentTarget }: Event) => {
    const button = currentTarget as HTMLElement
    void copy(button, typeof source === 'string' ? source : source(button), texts)
  }
  return keyed(
    source,
    html`<div class="copy">
      <button type="button" @click=${press}>${label}</button>
      <span role="status" class="hint"></span>
      <pre class="command" tabindex="0" hidden></pre>
    </div>`,
  )
}

/** Plain HTTP beyond localhost has no clipboard: the text is selected. */
async function copy(
  { parentElement }: HTMLElement,
  text: string,
  texts: Stage['texts'],
): Promise<void> {
  const outcome = parentElement?.querySelector('span')
  const shown = parentElement?.querySelector('pre')
  if (!outcome || !shown) return
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
