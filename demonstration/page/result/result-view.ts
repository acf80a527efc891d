// The result: three plots, the sentences that follow, and the link with the values.
import { html, nothing, svg } from 'lit/html.js'
import type { Stage } from '../demonstration-page.ts'
import { copySvgView, copyView } from '../picture/copy.ts'
import { headView } from '../picture/lane-view.ts'
import { lineShape, rectShape, textShape } from '../picture/shapes.ts'
import { type Lane, lanes } from '../world.ts'
import { fragmentOf, type KeyStep, keyStory, type Measurement, measure } from './result.ts'

export function resultView(stage: Stage) {
  const { texts, world, result, recording } = stage
  const { plots } = texts
  const act = async () => {
    result.measurement = recording?.measurement ?? (await measure(world))
    result.keys = recording?.keys ?? (await keyStory(world))
    result.isShared = false
    history.replaceState(null, '', fragmentOf(result.measurement))
  }
  return html`${headView(texts.places.result, texts.see.result)}
    ${result.isShared ? html`<p class="hint">${texts.shared}</p>` : nothing}
    <div class="way buttons">
      <button type="button" class="primary" aria-disabled=${world.running !== undefined} @click=${() => void world.run('measure', act)}>${plots.measure}</button>
      ${result.measurement && copyView(texts, plots.share, location.href)}
      <span role="status" class="hint">${world.running ? texts.sending : nothing}</span>
    </div>
    <div class="two">${plotView(stage, plots.stolen, theftPlot)} ${plotView(stage, plots.cost, costPlot)}</div>
    ${result.keys ? keysView(stage, result.keys) : nothing}
    <ul class="advice">
      ${Object.entries(texts.advice).map(([which, advice]) => html`<li class="lane-${which}">${advice}</li>`)}
    </ul>`
}

/** `parts`: of the width, 0 to 1. The first of two is pale: somebody has to renew it. */
type Bar = { lane: Lane; text: string; parts: readonly number[] }
type Plot = { bars: readonly Bar[]; ticks: readonly { part: number; text: string }[] }

/** Seconds, logarithmic. */
function theftPlot({ texts, language }: Stage, measurement: Measurement): Plot {
  const partOf = (seconds: number) => Math.log(Math.max(1, seconds)) / Math.log(30 * 86_400)
  const situations = [
    ['session', 'cookie', ['renewed', 'unused']],
    ['token', 'token', ['renewed', 'unused']],
    ['session', 'cookieOut', ['stolen']],
    ['token', 'tokenOut', ['stolen']],
    ['token', 'tokenElsewhere', ['elsewhere']],
  ] as const
  const bars = situations.map(([lane, label, names]) => {
    const values = names.map((name) => measurement[lane][name])
    const spans = values.toReversed().map((value) => spanText(value, language, 'short'))
    return { lane, text: `${texts.theft[label]}: ${spans.join(' – ')}`, parts: values.map(partOf) }
  })
  const ticks = [1, 60, 900, 43_200, 7 * 86_400, 30 * 86_400].map((value) => ({
    part: partOf(value),
    text: spanText(value, language, 'narrow'),
  }))
  return { bars, ticks }
}

function costPlot({ texts: { plots } }: Stage, measurement: Measurement): Plot {
  const bars = (['lookUps', 'kilobytes'] as const).flatMap((name) => {
    const longest = Math.max(...lanes.map((lane) => measurement[lane][name]))
    return lanes.map((lane): Bar => {
      const value = measurement[lane][name]
      return { lane, text: `${plots[name]}: ${value}`, parts: [value / longest] }
    })
  })
  return { bars, ticks: [] }
}

const units = { day: 86_400, hour: 3_600, minute: 60, second: 1 }

/** `12 hr`: in the largest unit. */
function spanText(seconds: number, language: string, unitDisplay: 'short' | 'narrow'): string {
  const [unit, size] = Object.entries(units).find(([, one]) => one <= seconds) ?? ['second', 1]
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay })
  return format.format(Math.round(seconds / size))
}

function plotView(stage: Stage, title: string, plotOf: typeof theftPlot) {
  const { width, texts, result } = stage
  const { bars, ticks } = result.measurement
    ? plotOf(stage, result.measurement)
    : { bars: [], ticks: [] }
  const bottom = bars.length * 44 + 12
  const tickView = ({ part, text }: Plot['ticks'][number]) => {
    const x = part * (width - 4) + 1
    const anchor = part === 0 ? 'start' : 'end'
    return svg`<g class="tick">${lineShape([x, 0], [x, bottom - 10])}</g>${textShape(text, { at: [x, bottom + 6], room: 100, anchor })}`
  }
  const barView = ({ lane, text, parts }: Bar, at: number) => svg`<g class="bar tone-${lane}">
    ${textShape(text, { at: [0, at * 44 + 14], room: width, anchor: 'start' })}
    ${parts.map((part) => rectShape({ x: 0, y: at * 44 + 20, w: Math.max(3, part * (width - 4)), h: 13 }, 3))}
  </g>`
  const plot = svg`<svg class="plot" viewBox="0 0 ${width} ${bottom + 12}" font-size="14" role="img" aria-label=${bars.map(({ text }) => text).join('. ')}>
    ${ticks.map(tickView)} ${bars.map(barView)}
  </svg>`
  return html`<figure class="picture card">
    <figcaption class="lane-name">${title}</figcaption>
    ${result.measurement ? plot : html`<p class="hint">${texts.unmeasuredYet}</p>`} ${copySvgView(texts)}
  </figure>`
}

function keysView({ texts }: Stage, steps: readonly KeyStep[]) {
  const { keys, actors, plots } = texts
  const kids = [...new Set(steps.flatMap((step) => step.kids))]
  const keyCell = (kid: string, at: number) => {
    const { signing, kids: published = [] } = steps[at] ?? {}
    if (signing === kid) return html`<td class="key-signing">${keys.signing}</td>`
    if (published.includes(kid)) return html`<td class="key-published">${keys.published}</td>`
    const wasThere = steps.slice(0, at).some((step) => step.kids.includes(kid))
    return html`<td>${wasThere ? keys.retired : nothing}</td>`
  }
  // From the third moment on, the token is a thief's.
  const statusCell = (status: number, at: number) =>
    html`<td class=${status < 300 === at < 2 ? 'done' : 'fault'}>${status}</td>`
  return html`<section class="card">
    <h3>${plots.keys}</h3>
    <p class="hint">${texts.aboutKeys}</p>
    <div class="scroll" tabindex="0" role="group" aria-label=${plots.keys}><table class="findings">
      <thead><tr><td></td>${steps.map(({ event }) => html`<th scope="col">${keys[event]}</th>`)}</tr></thead>
      <tbody>
        ${kids.map((kid) => html`<tr><th scope="row">${texts.key} ${kid.slice(0, 6)}</th>${steps.map((_, at) => keyCell(kid, at))}</tr>`)}
        <tr><th scope="row">${actors.server}</th>${steps.map(({ here }, at) => statusCell(here, at))}</tr>
        <tr><th scope="row">${actors.other}</th>${steps.map(({ there }, at) => statusCell(there, at))}</tr>
      </tbody>
    </table></div>
  </section>`
}
