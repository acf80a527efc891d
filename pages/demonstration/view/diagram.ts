// The sequence diagram of one exchange, drawn as SVG from its arrows, and the same as a plain list for screen readers.
import { html, nothing, svg } from 'lit/html.js'
import { type Actor, type Arrow, arrowsOf } from '../arrows.ts'
import type { Lane, Sent } from '../world.ts'
import type { Stage, Texts } from './stage.ts'

const actors: readonly Actor[] = ['browser', 'server', 'store']
const headHeight = 34
const rowHeight = { request: 46, response: 46, store: 34, server: 36 } as const
/** The width of an average letter, for the box around a label. */
const letterWidth = 6.2

type Places = Readonly<Record<Actor, number>>

export function diagramView(stage: Stage, lane: Lane, sent: Sent) {
  const { texts, visit } = stage
  const arrows = arrowsOf(sent, { cookieName: visit.cookieName, isShown: (call) => wordsOf(texts, call) !== undefined })
  return html`<figure class="diagram lane-${lane}">
    <figcaption>${texts.laneNames[lane]}</figcaption>
    ${drawing(stage, arrows, sent.exchange.trace !== null)}
    <ol class="for-readers" aria-label=${texts.diagramTitle}>
      ${arrows.map((arrow) => html`<li>${sentenceOf(stage, arrow)}</li>`)}
    </ol>
  </figure>`
}

/** The same arrow in words. */
export function sentenceOf({ texts, language }: Pick<Stage, 'texts' | 'language'>, arrow: Arrow): string {
  if (arrow.kind === 'request') return texts.arrows.request(arrow.line, texts.proofs[arrow.proof])
  if (arrow.kind === 'response')
    return texts.arrows.response([arrow.status, broughtBy(texts, arrow)].filter(Boolean).join(', '))
  return texts.arrows[arrow.kind](wordsOf(texts, arrow) ?? arrow.name, durationOf(arrow.ms, language))
}

function drawing(stage: Stage, arrows: readonly Arrow[], hasTrace: boolean) {
  const width = stage.diagramWidth
  const places: Places = {
    browser: Math.max(40, width * 0.12),
    server: width * 0.52,
    store: width - Math.max(40, width * 0.12),
  }
  let y = headHeight + 8
  const drawn = arrows.map((arrow) => {
    const at = y
    y += rowHeight[arrow.kind]
    return arrowView(stage, arrow, { places, y: at, width })
  })
  const height = y + 6
  const isAsked = !hasTrace || arrows.some(({ kind }) => kind === 'store')
  return svg`<svg class="sequence" width=${width} height=${height} viewBox="0 0 ${width} ${height}" aria-hidden="true">
    ${actors.map((actor) => lifeline(stage.texts, actor, { x: places[actor], height, isFaded: actor === 'store' && !isAsked, width }))}
    ${drawn}
  </svg>`
}

type Line = { x: number; height: number; isFaded: boolean; width: number }

function lifeline({ actors: names, notAsked }: Texts, actor: Actor, { x, height, isFaded, width }: Line) {
  const half = Math.min(46, width * 0.155)
  return svg`<g class="lifeline ${isFaded ? 'is-faded' : ''}">
    <line x1=${x} x2=${x} y1=${headHeight} y2=${height}></line>
    <rect x=${x - half} y="2" width=${half * 2} height=${headHeight - 8} rx="7"></rect>
    <text x=${x} y="20" text-anchor="middle">${names[actor]}</text>
    ${isFaded ? svg`<text class="label hint" x=${x} y=${headHeight + 16} text-anchor="middle">${notAsked}</text>` : nothing}
  </g>`
}

type Place = { places: Places; y: number; width: number }

function arrowView(stage: Stage, arrow: Arrow, { places, y, width }: Place) {
  const { texts, language } = stage
  if (arrow.kind === 'request')
    return svg`<g class="arrow">
      <text class="label" x=${places.browser + 8} y=${y + 12}>${arrow.line}</text>
      ${shaft(places.browser, places.server, y + 20)}
      <text class="label ${toneOf(arrow.proof)}" x=${places.browser + 8} y=${y + 35}>${texts.proofs[arrow.proof]}</text>
    </g>`
  if (arrow.kind === 'response')
    return svg`<g class="arrow is-back">
      <text class="label ${arrow.isGood ? 'done' : 'fault'}" x=${places.server - 8} y=${y + 12} text-anchor="end">${arrow.status}</text>
      ${shaft(places.server, places.browser, y + 20)}
      <text class="label ${arrow.brings ? toneOf(arrow.brings) : ''}" x=${places.server - 8} y=${y + 35} text-anchor="end">${broughtBy(texts, arrow)}</text>
    </g>`
  const words = `${wordsOf(texts, arrow) ?? arrow.name} · ${durationOf(arrow.ms, language)}`
  if (arrow.kind === 'store')
    return svg`<g class="arrow to-store">
      <text class="label" x=${places.store - 10} y=${y + 13} text-anchor="end">${words}</text>
      ${shaft(places.server, places.store, y + 20)}
    </g>`
  const half = Math.min((words.length * letterWidth) / 2 + 8, width / 2 - 1)
  // Around the server, and moved into the drawing if it is too long for that.
  const middle = Math.max(half + 1, Math.min(places.server, width - half - 1))
  return svg`<g class="in-server">
    <rect x=${middle - half} y=${y + 2} width=${half * 2} height="26" rx="6"></rect>
    <text class="label" x=${middle} y=${y + 19} text-anchor="middle">${words}</text>
  </g>`
}

const toneOf = (proof: string) => (proof === 'cookie' ? 'of-session' : proof === 'token' ? 'of-token' : 'hint')

/** A line from `from` to `to` with its head. */
function shaft(from: number, to: number, y: number) {
  const back = to > from ? -7 : 7
  return svg`<line x1=${from} x2=${to} y1=${y} y2=${y}></line><path d="M${to + back} ${y - 4} L${to} ${y} L${to + back} ${y + 4}"></path>`
}

function broughtBy(texts: Texts, { brings }: Extract<Arrow, { kind: 'response' }>): string {
  if (brings === undefined) return ''
  return brings === 'cookie' ? texts.setsCookie : texts.givesToken
}

/** In the words of the reader; undefined for a call that has none. */
export function wordsOf({ calls }: Texts, { name, detail }: { name: string; detail: string }): string | undefined {
  const known: Readonly<Record<string, string>> = calls
  return known[`${name} ${detail}`] ?? known[name]
}

function durationOf(ms: number, language: string): string {
  const digits = ms < 10 ? 2 : 0
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(ms)} ms`
}
