// An experiment is one picture: the run fills the places of the predictions.
import { html, nothing, svg } from 'lit/html.js'
import { filled, type Texts, textAt } from '../../texts/texts.ts'
import type { Stage } from '../demonstration-page.ts'
import { type Hop, timeText } from '../picture/hops.ts'
import { type LaneMoment, lanesView } from '../picture/lane-view.ts'
import { plannedScene, sceneOf, sources } from '../picture/picture.ts'
import { barView, momentsView } from '../picture/player.ts'
import type { Lane } from '../world.ts'
import { balancerView } from './balancer-view.ts'
import {
  type Act,
  type Cell,
  type ExperimentId,
  experiments,
  type Outcome,
  ways,
} from './experiments.ts'

export function experimentView(stage: Stage, id: ExperimentId, next: unknown) {
  const { texts, bench, world, recording } = stage
  const outcome = world.running === id ? undefined : bench.outcomes[id]
  const submit = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLElement
    // The arrow keys go through the hops, and the reader hears each.
    if (await bench.run(id, world, recording?.outcomes[id]))
      form.querySelector<HTMLElement>('[type=range]')?.focus({ preventScroll: true })
  }
  return html`<form class="experiment" @submit=${submit}>
    ${id === 'balancer' ? serversView(stage, outcome) : picturesOf(stage, id, outcome)}
    ${world.frame && html`<iframe class="card" title=${texts.actors['other-site']} src=${world.frame}></iframe>`}
    <div class="after">${outcome ? html`<p class="finding">${texts.follows[id]}</p>` : nothing} ${next}</div>
  </form>`
}

function serversView(stage: Stage, outcome: Outcome | undefined) {
  const hits = outcome?.hits
  const hops = hits?.key.length ?? 0
  const acts = actsView(stage, outcome)
  return html`${barView(stage, { moment: hits, hops, sentences: () => [], acts })}
    ${balancerView(stage, hits, (cell, hasArrived) => chipsView(stage, { id: 'balancer', cell, outcome: hasArrived ? outcome : undefined }))}`
}

function picturesOf(stage: Stage, id: ExperimentId, outcome: Outcome | undefined) {
  const act = outcome?.acts[stage.bench.shown]
  const momentIn = (lane: Lane): LaneMoment => ({
    scene: sceneIn(stage, { id, outcome }, lane),
    exchanges: act?.[lane] ?? [],
    notes: act ? notesOf(stage, act, lane) : [],
    chips: (cell, hasArrived) =>
      chipsView(stage, { id, cell, outcome: hasArrived ? outcome : undefined }),
  })
  const lanes = { session: momentIn('session'), token: momentIn('token') }
  return lanesView(stage, { moment: act, lanes, acts: actsView(stage, outcome) })
}

type Experimented = { id: ExperimentId; outcome: Outcome | undefined }

function sceneIn(stage: Stage, { id, outcome }: Experimented, lane: Lane) {
  const { shown } = stage.bench
  const act = outcome?.acts[shown]
  const isPredicted = act === undefined || shown === outcome?.main
  const known = {
    cells: isPredicted ? experiments[id].cells.filter((cell) => cell.startsWith(lane)) : [],
    hasTimes: id === 'time',
  }
  const { by } = experiments[id]
  if (!act)
    return plannedScene(lane, { ...known, exchanges: [], by, isLost: id === 'outage' }, stage)
  const earlier = outcome?.acts.slice(0, shown).flatMap((one) => one[lane])
  const told = {
    ...known,
    exchanges: act[lane],
    before: earlier?.at(-1) ?? outcome?.start[lane],
    by: (act.session[0] ?? act.token[0])?.by ?? by,
    isLost: act.label.startsWith('during'),
  }
  const scene = sceneOf(lane, told, stage)
  const readings = Object.entries(act.readings ?? {}) as [Cell, string][]
  const read = readings.flatMap(([cell, text]): Hop[] => {
    if (!cell.startsWith(lane)) return []
    const label = `${sources[cell]}"${text}"`
    const tone = outcome?.answers[cell] ? 'bad' : 'good'
    return [{ from: 'browser', to: 'browser', label, sentence: label, tone, cell }]
  })
  return { ...scene, hops: [...read, ...scene.hops] }
}

function actsView(stage: Stage, outcome: Outcome | undefined) {
  const { texts, world, bench } = stage
  const show = (at: number) => {
    bench.shown = at
    world.changed()
  }
  const labels = outcome?.acts.map(({ label }) => label) ?? []
  return html`<button class="primary" aria-disabled=${world.running !== undefined}>${texts.run}</button>
    ${outcome === undefined ? html`<span class="hint">${texts.predict}</span>` : nothing}
    ${labels.length > 1 ? momentsView(stage, labels, show) : nothing}`
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

/** `outcome`: undefined until it has arrived. */
function chipsView(stage: Stage, { id, cell, outcome }: Experimented & { cell: Cell }) {
  const { bench, texts } = stage
  const { works, fails } = texts.answers
  const name = `${id} ${cell}`
  const answer = outcome?.answers[cell]
  const said = outcome?.predicted[name]
  const choice = (value: boolean) => html`<label class="chip">
    <input type="radio" name=${name} required .checked=${bench.predictions[name] === value}
      @change=${() => bench.predict(name, value)} />${value ? works : fails}
    ${answer !== undefined && said === value ? markView(stage, said === answer) : nothing}
  </label>`
  const measured = answer ? works : fails
  return html`<fieldset class="prediction lane-${cell.split(' ')[0]}">
    <legend>${cellText(stage, cell)}</legend>
    ${choice(true)} ${choice(false)}
    ${outcome ? html`<span class="measured">${answer === undefined ? texts.unmeasured : measured}</span>` : nothing}
  </fieldset>`
}

function markView({ texts: { right, wrong } }: Stage, isRight: boolean) {
  const path = isRight ? 'M1 5 L4 9 L10 1' : 'M1 1 L9 9 M9 1 L1 9'
  const line = svg`<path d=${path} fill="none" stroke="currentColor" stroke-width="2"></path>`
  const mark = html`<svg viewBox="0 0 11 10" width="11" height="10" aria-hidden="true">${line}</svg>`
  return html`<b class=${isRight ? 'done' : 'fault'}>${mark}<span class="for-readers">${isRight ? right : wrong}</span></b>`
}

/** “Token · at this server”. */
function cellText({ texts }: Stage, cell: Cell): string {
  const [lane, what = ''] = cell.split(' ')
  const proof = lane === 'session' ? 'Cookie' : 'Token'
  const parts = [proof, textAt({ ...texts.cells, ...texts.balancer }, what)]
  return [...parts, ...(what in ways ? [texts.cells.five] : [])].join(' · ')
}
