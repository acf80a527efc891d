import { html, nothing, svg } from 'lit/html.js'
import type { Stage } from '../demonstration-page.ts'
import { copySvgView } from '../picture/copy.ts'
import { headView } from '../picture/lane-view.ts'
import {
  type Box,
  lineShape,
  middleOf,
  rectShape,
  textShape,
  thingShape,
} from '../picture/shapes.ts'
import { type Lane, lanes } from '../world.ts'
import { costsIn, type KeyStep, keyStory, type Measured, measure, theftsIn } from './result.ts'

export function resultView(stage: Stage) {
  const { texts, world, result, recording } = stage
  const { measured, keys } = result
  const act = async () => {
    result.measured = recording?.outcomes ?? (await measure(world))
    result.keys = recording?.keys ?? (await keyStory(world))
  }
  return html`${headView(texts.places.result, texts.see.result)}
    <div class="acts buttons">
      <button type="button" class="primary" aria-disabled=${world.running !== undefined} @click=${() => void world.run('measure', act)}>${texts.plots.measure}</button>
      <span role="status" class="hint">${world.running ? texts.sending : nothing}</span>
    </div>
    <div class="two">
      <div class="stack">${measured && plotsView(stage, measured)}</div>
      ${keys && keysView(stage, keys)}
    </div>
    <ul class="advice">
      ${Object.entries(texts.advice).map(([which, advice]) => html`<li class="lane-${which}">${advice}</li>`)}
    </ul>`
}

function plotsView(stage: Stage, measured: Measured) {
  const { stolen, cost } = stage.texts.plots
  return [
    plotView(stage, stolen, theftPlot(stage, measured)),
    plotView(stage, cost, costPlot(stage, measured)),
  ]
}

/** `parts`: of the width, 0 to 1. The first of two is pale: it needs renewals. */
type Bar = { lane: Lane; text: string; parts: readonly number[] }
type Plot = { bars: readonly Bar[]; ticks: readonly { part: number; text: string }[] }

/** Seconds, logarithmic. */
function theftPlot({ texts, language }: Stage, measured: Measured): Plot {
  const partOf = (seconds: number) => Math.log(Math.max(1, seconds)) / Math.log(30 * 86_400)
  const bars = theftsIn(measured).map(({ lane, act, at, seconds }) => {
    const situation = [texts.proofs[lane], texts.acts[act], at && texts.cells[at]].filter(Boolean)
    const spans = seconds.toReversed().map((value) => spanText(value, language, 'short'))
    const text = `${situation.join(' · ')}: ${spans.join(' – ')}`
    return { lane, text, parts: seconds.map(partOf) }
  })
  const ticks = [1, 60, 900, 43_200, 7 * 86_400, 30 * 86_400].map((value) => ({
    part: partOf(value),
    text: spanText(value, language, 'narrow'),
  }))
  return { bars, ticks }
}

function costPlot({ texts: { plots, proofs } }: Stage, measured: Measured): Plot {
  const costs = costsIn(measured)
  const bars = (['lookUps', 'kilobytes'] as const).flatMap((name) => {
    const longest = Math.max(costs.session[name], costs.token[name])
    return lanes.map((lane): Bar => {
      const value = costs[lane][name]
      return { lane, text: `${proofs[lane]} · ${plots[name]}: ${value}`, parts: [value / longest] }
    })
  })
  return { bars, ticks: [] }
}

const units = { day: 86_400, hour: 3_600, minute: 60, second: 1 }

/** `12 hr`: by the largest unit. */
function spanText(seconds: number, language: string, unitDisplay: 'short' | 'narrow'): string {
  const [unit, size] = Object.entries(units).find(([, one]) => one <= seconds) ?? ['second', 1]
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay })
  return format.format(Math.round(seconds / size))
}

function plotView({ width, texts }: Stage, title: string, { bars, ticks }: Plot) {
  const bottom = bars.length * 44 + 12
  const xOf = (part: number) => Math.max(3, part * (width - 4))
  const tickView = ({ part, text }: Plot['ticks'][number]) => svg`<g class="tick">
      ${lineShape([xOf(part), 0], [xOf(part), bottom - 10])}
    </g>
    ${textShape(text, { at: [xOf(part), bottom + 6], room: 100, anchor: part === 0 ? 'start' : 'end' })}`
  const barView = ({ lane, text, parts }: Bar, at: number) => svg`<g class="bar tone-${lane}">
    ${textShape(text, { at: [0, at * 44 + 14], room: width, anchor: 'start' })}
    ${parts.map((part) => rectShape({ x: 0, y: at * 44 + 20, w: xOf(part), h: 13 }, 3))}
  </g>`
  return html`<figure class="picture card">
    <figcaption class="lane-name">${title}</figcaption>
    ${svg`<svg class="plot" viewBox="0 0 ${width} ${bottom + 12}" font-size="14" role="img" aria-label=${bars.map(({ text }) => text).join('. ')}>
      ${ticks.map(tickView)} ${bars.map(barView)}
    </svg>`}
    ${copySvgView(texts)}
  </figure>`
}

const momentHeight = 56
const boxHeight = 24

/** Time goes down: a row for each moment, a column for each key and each server. */
function keysView({ width, texts }: Stage, steps: readonly KeyStep[]) {
  const { keys, actors, plots } = texts
  const kids = [...new Set(steps.flatMap((step) => step.kids))]
  const names = [
    ...kids.map((kid) => `${texts.key} ${kid.slice(0, 6)}`),
    actors.server,
    actors.other,
  ]
  const room = width / names.length
  const boxOf = (column: number, top: number): Box => ({
    x: column * room + 3,
    y: top,
    w: room - 6,
    h: boxHeight,
  })
  const keyShape = (kid: string, at: number, box: Box) => {
    const { signing, kids: published = [] } = steps[at] ?? {}
    if (signing === kid) return thingShape(keys.signing, 'token', box)
    if (published.includes(kid)) return thingShape(keys.published, 'plain', box)
    const wasThere = steps.slice(0, at).some((step) => step.kids.includes(kid))
    return textShape(wasThere ? keys.retired : '', middleOf(box, 16))
  }
  // From the third moment on, a thief has the token.
  const statusShape = (status: number, at: number, box: Box) =>
    thingShape(`${status}`, status < 300 === at < 2 ? 'good' : 'bad', box)
  const momentView = ({ event, here, there }: KeyStep, at: number) => {
    const top = 30 + at * momentHeight
    const box = (column: number) => boxOf(column, top + 22)
    return svg`<g class="moment">
      ${textShape(keys[event], { at: [3, top + 14], room: width, anchor: 'start' })}
      ${kids.map((kid, column) => keyShape(kid, at, box(column)))}
      ${statusShape(here, at, box(kids.length))} ${statusShape(there, at, box(kids.length + 1))}
    </g>`
  }
  return html`<figure class="picture card">
    <figcaption class="lane-name">${plots.keys}</figcaption>
    <p class="hint">${texts.aboutKeys}</p>
    ${svg`<svg class="plot" viewBox="0 0 ${width} ${30 + steps.length * momentHeight}" font-size="14" role="group" aria-label=${plots.keys}>
      <g class="place-name">${names.map((name, column) => textShape(name, middleOf(boxOf(column, 0), 16)))}</g>
      ${steps.map(momentView)}
    </svg>`}
    ${copySvgView(texts)}
  </figure>`
}
