// An experiment is one picture: the run fills the places of the predictions.
import { html, nothing, svg } from 'lit/html.js'
import { filled } from '../texts/texts.ts'
import { balancerView } from './balancer-view.ts'
import {
  type Act,
  type Cell,
  cellsOf,
  type ExperimentId,
  type Note,
  type Outcome,
  predictedAct,
  ways,
} from './experiments.ts'
import { type Hop, timeText } from './hops.ts'
import { lanesView } from './lane-view.ts'
import { plannedScene, type Scene, sceneOf, withCells } from './picture.ts'
import type { Chips } from './picture-view.ts'
import { momentsView, sliderView } from './player.ts'
import type { Stage } from './stage.ts'
import type { Lane } from './world.ts'

const actors: Partial<Record<ExperimentId, 'thief' | 'other-site' | 'script'>> = {
  stolen: 'thief',
  signOut: 'thief',
  form: 'other-site',
  script: 'script',
}

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
  const { player, texts } = stage
  const hits = outcome?.hits
  const hops = hits?.key.length ?? 0
  player.show(hits, hops)
  const chips = chipsOf(stage, 'balancer', outcome)
  return html`<div class="acts buttons">
      ${runView(stage, outcome)} ${hits && sliderView(player, texts, { hops, sentences: [] })}
    </div>
    ${balancerView(stage, hits, chips)}`
}

function picturesOf(stage: Stage, id: ExperimentId, outcome: Outcome | undefined) {
  const act = outcome?.acts[stage.bench.shown]
  const isPredicted = act === undefined || stage.bench.shown === predictedAct(outcome)
  const momentIn = (lane: Lane) => {
    const cells = isPredicted ? cellsOf[id].filter((cell) => cell.startsWith(lane)) : []
    const plan = { cells, by: actors[id] ?? ('browser' as const), isLost: id === 'outage' }
    const scene = act
      ? actedScene(stage, { id, outcome, act }, lane)
      : plannedScene(lane, plan, stage)
    return {
      scene: withCells(scene, cells),
      exchanges: act?.[lane] ?? [],
      notes: (act?.notes[lane] ?? []).map((note) => noteText(stage, note)),
      isOpen: false,
      chips: chipsOf(stage, id, outcome),
    }
  }
  const lanes = { session: momentIn('session'), token: momentIn('token') }
  return lanesView(stage, { moment: act, lanes, bar: runView(stage, outcome) })
}

type Acted = { id: ExperimentId; outcome: Outcome | undefined; act: Act }

function actedScene(stage: Stage, { id, outcome, act }: Acted, lane: Lane): Scene {
  const first = [act[lane], act.session, act.token].flat().at(0)
  const earlier = outcome?.acts.slice(0, stage.bench.shown).flatMap((one) => one[lane])
  const told = {
    exchanges: act[lane],
    before: earlier?.at(-1) ?? outcome?.start[lane],
    by: first?.by ?? actors[id] ?? 'browser',
    isLost: act.label === 'during' || act.label === 'duringList',
    hasTimes: id === 'time',
  }
  const scene = sceneOf(lane, told, stage)
  const readings = act.readings?.filter(({ cell }) => cell.startsWith(lane)) ?? []
  const read = readings.map(({ cell, text }): Hop => {
    const tone = outcome?.answers[cell] ? 'bad' : 'good'
    return { from: 'browser', to: 'browser', label: text, sentence: text, tone, cell }
  })
  return { ...scene, hops: [...read, ...scene.hops] }
}

function runView({ texts, world, bench }: Stage, outcome: Outcome | undefined) {
  const show = (at: number) => {
    bench.shown = at
    world.changed()
  }
  const labels = outcome?.acts.map(({ label }) => label) ?? []
  return html`<button class="primary" aria-disabled=${world.running !== undefined}>${texts.run}</button>
    ${outcome === undefined ? html`<span class="hint">${texts.predict}</span>` : nothing}
    ${labels.length > 1 ? momentsView({ texts, bench }, labels, show) : nothing}`
}

function noteText({ texts, language }: Stage, [name, ...values]: Note): string {
  const said = values.map((value) =>
    typeof value === 'object' ? timeText(value.at, language) : value,
  )
  return filled(texts.notes[name], ...said)
}

type Predicted = { id: ExperimentId; cell: Cell; outcome: Outcome | undefined }

function chipsOf(stage: Stage, id: ExperimentId, outcome: Outcome | undefined): Chips {
  return (cell, hasArrived) =>
    chipsView(stage, { id, cell, outcome: hasArrived ? outcome : undefined })
}

function chipsView(stage: Stage, { id, cell, outcome }: Predicted) {
  const { texts, bench } = stage
  const name = `${id} ${cell}`
  const answer = outcome?.answers[cell]
  const said = outcome?.predicted[name]
  const verdict = markView(texts, said === answer)
  const answerText = (value: boolean) => (value ? texts.answers.works : texts.answers.fails)
  const choice = (value: boolean) => html`<label class="chip">
    <input type="radio" name=${name} required .checked=${bench.predictions[name] === value}
      @change=${() => bench.predict(name, value)} />${answerText(value)}
    ${answer !== undefined && said === value ? verdict : nothing}
  </label>`
  const measured = answer === undefined ? texts.unmeasured : answerText(answer)
  return html`<fieldset class="prediction lane-${cell.split(' ')[0]}">
    <legend>${cellText(stage, cell)}</legend>
    ${choice(true)} ${choice(false)} ${outcome ? html`<span class="measured">${measured}</span>` : nothing}
  </fieldset>`
}

function markView({ right, wrong }: Stage['texts'], isRight: boolean) {
  if (isRight) return signView('done', 'M1 5 L4 9 L10 1', right)
  return signView('fault', 'M1 1 L9 9 M9 1 L1 9', wrong)
}

function signView(tone: string, path: string, words: string) {
  const line = svg`<path d=${path} fill="none" stroke="currentColor" stroke-width="2"></path>`
  const mark = html`<svg viewBox="0 0 11 10" width="11" height="10" aria-hidden="true">${line}</svg>`
  return html`<b class=${tone}>${mark}<span class="for-readers">${words}</span></b>`
}

/** “Token · at this server”. */
function cellText({ texts }: Stage, cell: Cell): string {
  const [lane, what = ''] = cell.split(' ')
  const parts: Readonly<Record<string, string>> = { ...texts.cells, ...texts.balancer }
  const proof = lane === 'session' ? 'Cookie' : 'Token'
  return [proof, parts[what], ...(what in ways ? [texts.cells.five] : [])].join(' · ')
}
