// The result: three plots, the sentences that follow, and the link with the values.
import { html, nothing, svg } from 'lit/html.js'
import { pictureBeside } from './copy-svg.ts'
import { copyView, headView } from './lane-view.ts'
import { fragmentOf, type KeyStep, keyStory, measure } from './result.ts'
import type { Stage } from './stage.ts'
import type { Lane } from './world.ts'

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
    <div class="two">${barsView(stage, plots.stolen, theftBars(stage), timeScale(stage))} ${barsView(stage, plots.cost, costBars(stage))}</div>
    ${result.keys ? keysView(stage, result.keys) : nothing}
    <ul class="advice">
      ${(['session', 'token', 'both', 'never', 'learns'] as const).map((which) => html`<li class="lane-${which}">${texts.advice[which]}</li>`)}
    </ul>`
}

/** `more`: the part that somebody has to renew. */
type Bar = { lane: Lane; label: string; value: number; more?: number; text: string }
/** `partOf`: of the width, 0 to 1. */
type Scale = {
  ticks: readonly { value: number; text: string }[]
  partOf: (value: number) => number
}

function theftBars({ texts: { theft }, result: { measurement }, language }: Stage): Bar[] {
  if (measurement === undefined) return []
  const { session, token } = measurement
  const bar = (lane: Lane, label: string, value: number, more?: number): Bar => {
    const text = spanText(value, language)
    return {
      lane,
      label,
      value,
      text: more ? `${text} – ${spanText(more, language)}` : text,
      ...(more && { more }),
    }
  }
  return [
    bar('session', theft.cookie, session.unused, session.renewed),
    bar('token', theft.token, token.unused, token.renewed),
    bar('session', theft.cookieOut, session.stolen),
    bar('token', theft.tokenOut, token.stolen),
    bar('token', theft.tokenElsewhere, token.elsewhere),
  ]
}

function costBars({ texts: { plots }, result: { measurement }, language }: Stage): Bar[] {
  if (measurement === undefined) return []
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 0 })
  const { session, token } = measurement
  const bar = (lane: Lane, label: string, value: number): Bar => ({
    lane,
    label,
    value,
    text: number.format(value),
  })
  return [
    bar('session', plots.lookUps, session.lookUps),
    bar('token', plots.lookUps, token.lookUps),
    bar('session', plots.kilobytes, session.bytes / 1_000),
    bar('token', plots.kilobytes, token.bytes / 1_000),
  ]
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** `12 hr`: the largest whole unit, but for the seconds that a measurement takes. */
function spanText(
  seconds: number,
  language: string,
  unitDisplay: 'short' | 'narrow' = 'short',
): string {
  const isWhole = (of: number) =>
    seconds > of / 2 && Math.abs(Math.round(seconds / of) * of - seconds) <= 2
  const [unit, size] = units.find((one) => isWhole(one[1])) ?? ['second', 1]
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay }).format(
    Math.round(seconds / size),
  )
}

function timeScale({ language }: Stage): Scale {
  const partOf = (seconds: number) => Math.log(Math.max(1, seconds)) / Math.log(30 * 86_400)
  const values = [1, 60, 900, 43_200, 7 * 86_400, 30 * 86_400]
  return {
    partOf,
    ticks: values.map((value) => ({ value, text: spanText(value, language, 'narrow') })),
  }
}

function barsView({ width, texts }: Stage, title: string, bars: readonly Bar[], scale?: Scale) {
  const linear = ({ value, label }: Bar) =>
    value / Math.max(1, ...bars.map((one) => (one.label === label ? one.value : 0)))
  const room = width - 4
  const ticksY = bars.length * 44 + 12
  const lengthOf = (bar: Bar, value: number) =>
    Math.max(3, room * (scale ? scale.partOf(value) : linear(bar)))
  return html`<figure class="picture card">
    <figcaption class="lane-name">${title}</figcaption>
    ${
      bars.length === 0
        ? html`<p class="hint">${texts.unmeasuredYet}</p>`
        : svg`<svg class="plot" viewBox="0 0 ${width} ${ticksY + 12}" width="100%" role="img" aria-label=${bars.map(({ label, text }) => `${label}: ${text}`).join('. ')}>
      ${scale?.ticks.map(
        (
          { value, text },
          at,
        ) => svg`<line class="tick" x1=${room * scale.partOf(value) + 1} x2=${room * scale.partOf(value) + 1} y2=${ticksY - 10}></line>
        <text x=${room * scale.partOf(value)} y=${ticksY + 6} text-anchor=${at === 0 ? 'start' : 'end'}>${text}</text>`,
      )}
      ${bars.map(
        (bar, at) => svg`<g class="bar tone-${bar.lane}">
        <text y=${at * 44 + 14}>${bar.label}: ${bar.text}</text>
        ${bar.more ? svg`<rect class="more" y=${at * 44 + 20} width=${lengthOf(bar, bar.more)} height="13" rx="3"></rect>` : nothing}
        <rect y=${at * 44 + 20} width=${lengthOf(bar, bar.value)} height="13" rx="3"></rect>
      </g>`,
      )}
    </svg>`
    } ${copyView(texts, texts.copySvg, pictureBeside)}
  </figure>`
}

function keysView({ texts }: Stage, steps: readonly KeyStep[]) {
  const { keys, actors, plots } = texts
  const kids = [...new Set(steps.flatMap((step) => step.kids))]
  const stateOf = (kid: string, step: KeyStep, at: number) => {
    if (step.signing === kid) return 'signing'
    if (step.kids.includes(kid)) return 'published'
    return steps.slice(0, at).some((earlier) => earlier.kids.includes(kid)) ? 'retired' : 'absent'
  }
  const keyCell = (state: ReturnType<typeof stateOf>) =>
    html`<td class="key-${state}">${state === 'absent' ? '' : keys[state]}</td>`
  // From the third moment on, the token is a thief's.
  const statusCell = (status: number, at: number) =>
    html`<td class=${status < 300 === at < 2 ? 'done' : 'fault'}>${status}</td>`
  return html`<section class="card">
    <h3>${plots.keys}</h3>
    <p class="hint">${texts.aboutKeys}</p>
    <div class="scroll" tabindex="0" role="group" aria-label=${plots.keys}><table class="findings">
      <thead><tr><td></td>${steps.map(({ event }) => html`<th scope="col">${keys[event]}</th>`)}</tr></thead>
      <tbody>
        ${kids.map((kid) => html`<tr><th scope="row">${texts.key} ${kid.slice(0, 6)}</th>${steps.map((step, at) => keyCell(stateOf(kid, step, at)))}</tr>`)}
        <tr><th scope="row">${actors.server}</th>${steps.map(({ here }, at) => statusCell(here, at))}</tr>
        <tr><th scope="row">${actors.other}</th>${steps.map(({ there }, at) => statusCell(there, at))}</tr>
      </tbody>
    </table></div>
  </section>`
}
