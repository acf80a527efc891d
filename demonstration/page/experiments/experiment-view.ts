// An experiment is one picture, whose run fills the places of the predictions.
import { html, nothing, svg } from 'lit/html.js'
import { filled, type Texts, textAt } from '../../texts/texts.ts'
import type { Stage } from '../demonstration-page.ts'
import { timeText } from '../picture/hops.ts'
import { type LaneMoment, lanesView } from '../picture/lane-view.ts'
import { plannedScene, readHop, sceneOf } from '../picture/picture.ts'
import type { Chips } from '../picture/picture-view.ts'
import { momentsView } from '../picture/player.ts'
import { isHere } from '../places.ts'
import type { Lane } from '../world.ts'
import { balancerView } from './balancer-view.ts'
import { type Act, type Cell, type ExperimentId, experiments } from './experiments.ts'

export function experimentView(stage: Stage, id: ExperimentId, next: unknown) {
  const { texts, bench, world, recording } = stage
  const outcome = bench.outcomes[id]
  const submit = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLElement
    // Arrow keys go through the hops, and the reader hears each.
    if ((await bench.run(id, world, recording?.outcomes[id])) && isHere(id))
      form.querySelector<HTMLElement>('[type=range]')?.focus({ preventScroll: true })
  }
  const acts = actsView(stage, id)
  const chips: Chips = (cell, answer) => chipsView(stage, { id, cell, answer })
  const act = outcome?.acts[bench.shownOf(id)]
  const laneOf = (lane: Lane): LaneMoment => ({
    scene: sceneIn(stage, id, lane),
    exchanges: act?.[lane] ?? [],
    notes: act ? notesOf(stage, act, lane) : [],
    chips,
  })
  return html`<form class="experiment" @submit=${submit}>
    ${
      id === 'balancer'
        ? balancerView(stage, { hits: outcome?.hits, chips, acts })
        : lanesView(stage, { moment: act, laneOf, acts })
    }
    ${world.frame && html`<iframe class="card" title=${texts.actors['other-site']} src=${world.frame}></iframe>`}
    <div class="after">${outcome ? html`<p class="finding">${texts.follows[id]}</p>` : nothing} ${next}</div>
  </form>`
}

function sceneIn(stage: Stage, id: ExperimentId, lane: Lane) {
  const { bench } = stage
  const { acts, main, start } = bench.outcomes[id] ?? {}
  const shown = bench.shownOf(id)
  const act = acts?.[shown]
  const { by, cells } = experiments[id]
  const isPredicted = !act || shown === main
  const told = {
    exchanges: act?.[lane] ?? [],
    before:
      acts
        ?.slice(0, shown)
        .flatMap((one) => one[lane])
        .at(-1) ?? start?.[lane],
    by: (act?.session[0] ?? act?.token[0])?.by ?? by,
    cells: isPredicted ? cells.filter((cell) => cell.startsWith(lane)) : [],
    hasTimes: id === 'time',
    isLost: id === 'outage' && act?.label !== 'after',
  }
  if (!act) return plannedScene(lane, told, stage)
  const scene = sceneOf(lane, told, stage)
  const read = told.cells.flatMap((cell) => readHop(cell, act.readings?.[cell]) ?? [])
  return { ...scene, hops: [...read, ...scene.hops] }
}

function actsView(stage: Stage, id: ExperimentId) {
  const { texts, world, bench } = stage
  const outcome = bench.outcomes[id]
  const show = (at: number) => {
    bench.moments[id] = at
    world.changed()
  }
  const labels = outcome?.acts.map(({ label }) => label) ?? []
  return html`<button class="primary" aria-disabled=${world.running !== undefined}>${texts.run}</button>
    ${outcome === undefined ? html`<span class="hint">${texts.predict}</span>` : nothing}
    ${labels.length > 1 ? momentsView(stage, { labels, shown: bench.shownOf(id), show }) : nothing}`
}

function notesOf({ texts, language }: Stage, act: Act, lane: Lane): string[] {
  const said = act.values.map((value) =>
    typeof value === 'object' ? timeText(value.at, language) : value,
  )
  const names = act.notes ?? [act.label]
  return names
    .map((name) => texts.notes[name as keyof Texts['notes']] ?? {})
    .flatMap((notes) => [textAt(notes, lane), textAt(notes, 'both')])
    .filter(Boolean)
    .map((note) => filled(note, ...said))
}

type Prediction = { id: ExperimentId; cell: Cell; answer: boolean | undefined }

function chipsView(stage: Stage, { id, cell, answer }: Prediction) {
  const { bench, texts } = stage
  const { works, fails } = texts.answers
  const [lane, what = ''] = cell.split(' ') as [Lane, string]
  const name = `${id} ${cell}`
  const said = bench.outcomes[id]?.predicted[name]
  const predict = (value: boolean) => {
    bench.predictions[name] = value
  }
  const choice = (value: boolean) => html`<label class="chip">
    <input type="radio" name=${name} required .checked=${bench.predictions[name] === value}
      @change=${() => predict(value)} />${value ? works : fails}
    ${answer !== undefined && said === value ? markView(stage, said === answer) : nothing}
  </label>`
  const measured = html`<span class="measured">${answer ? works : fails}</span>`
  return html`<fieldset class="prediction lane-${lane}">
    <legend>${texts.proofs[lane]} · ${textAt(texts.cells, what) || texts.cells.five}</legend>
    ${choice(true)} ${choice(false)} ${answer === undefined ? nothing : measured}
  </fieldset>`
}

function markView({ texts: { right, wrong } }: Stage, isRight: boolean) {
  const path = isRight ? 'M1 5 L4 9 L10 1' : 'M1 1 L9 9 M9 1 L1 9'
  const line = svg`<path d=${path} fill="none" stroke="currentColor" stroke-width="2"></path>`
  const mark = html`<svg viewBox="0 0 11 10" width="11" height="10" aria-hidden="true">${line}</svg>`
  const tone = isRight ? 'done' : 'fault'
  return html`<b class=${tone}>${mark}<span class="for-readers">${isRight ? right : wrong}</span></b>`
}
