import { html, nothing } from 'lit/html.js'
import type { Stage } from './demonstration-page.ts'
import { experimentView } from './experiments/experiment-view.ts'
import { type ExperimentId, experimentIds } from './experiments/experiments.ts'
import { lineOf } from './picture/hops.ts'
import { headView, type LaneMoment, lanesView } from './picture/lane-view.ts'
import { sceneOf } from './picture/picture.ts'
import { momentsView } from './picture/player.ts'
import { go, hashOf, isOneOf, nameOf, type Place, places } from './places.ts'
import { signatureView } from './proof/signature-view.ts'
import { inboxActs, type StepId, stepIds } from './walk.ts'
import { type Lane, lanes } from './world.ts'

export function startView(stage: Stage) {
  const { texts, recording } = stage
  const idea = (lane: Lane) => html`<section class="idea card lane-${lane}">
    <p class="lane-name">${texts.laneNames[lane]}</p>
    <h2>${texts.ideas[lane]}</h2>
    <p>${texts.says[lane]}</p>
  </section>`
  return html`<p class="see">${texts.aboutProof}</p>
    <div class="two ideas">${lanes.map(idea)}</div>
    ${nextView(stage, 'start', recording ? texts.recorded : texts.ownWorld)}`
}

export function experimentsView(stage: Stage) {
  const { texts } = stage
  const card = (id: ExperimentId) => html`<li>
    <a class="idea card" href=${hashOf(id)}><b>${texts.titles[id]}</b> <span class="hint">${texts.see[id]}</span></a>
  </li>`
  return html`${headView(texts.places.experiments, texts.see.experiments)}
    <ol class="cards">${experimentIds.map(card)}</ol>
    ${nextView(stage, 'experiments')}`
}

function nextView({ texts, world }: Stage, place: Place, hint?: string) {
  const next = places[places.indexOf(place) + 1] ?? 'start'
  const isBusy = world.running !== undefined
  const act = () => !isBusy && go(next)
  // In an experiment, only *Run it* is primary.
  const look = isOneOf(experimentIds, place) ? nothing : 'primary'
  const words = place === 'start' ? texts.start : texts.next + nameOf(texts, next)
  return html`<p class="way buttons">
    <button type="button" class=${look} id="next" aria-disabled=${isBusy} @click=${act}>${words}</button>
    <span role="status" class="hint">${isBusy ? texts.sending : hint}</span>
  </p>`
}

export function storyView(stage: Stage, id: StepId | ExperimentId) {
  const { texts } = stage
  const next = nextView(stage, id)
  return html`${headView(texts.titles[id], texts.see[id])}
    ${isOneOf(stepIds, id) ? stepView(stage, id, next) : experimentView(stage, id, next)}`
}

/** The specification names them. A chip is lit from the first step that uses it. */
const endpoints = ['/login', '/routeRestreinte', '/notifications', '/read', '/read-all']

function endpointsView({ walk }: Stage, present: StepId) {
  const taken = stepIds.slice(0, stepIds.indexOf(present) + 1)
  const sent = taken.flatMap((id) => walk.results.get(id)?.session.map(lineOf) ?? [])
  const chip = (path: string) => {
    const isLit = sent.some((line) => line.endsWith(path))
    return html`<li class=${isLit ? 'lit' : ''}><code>${path}</code></li>`
  }
  return html`<ul class="endpoints">${endpoints.map(chip)}</ul>`
}

function stepView(stage: Stage, id: StepId, next: unknown) {
  const { texts, walk, bench } = stage
  const shown = id === 'inbox' ? (inboxActs[bench.moments.inbox ?? 0] ?? id) : id
  const sent = walk.results.get(shown)
  const earlier = stepIds[stepIds.indexOf(id) - 1]
  const laneOf = (lane: Lane): LaneMoment => {
    const exchanges = sent?.[lane] ?? []
    const before = earlier && walk.results.get(earlier)?.[lane].at(-1)
    return { exchanges, scene: sceneOf(lane, { exchanges, before, by: 'browser' }, stage) }
  }
  const signature = id === 'with-proof' && !stage.recording ? signatureView(stage) : nothing
  return html`${endpointsView(stage, id)}
    ${lanesView(stage, { moment: sent, laneOf, acts: id === 'inbox' ? inboxActsView(stage) : nothing })}
    <div class="two">
      ${signature}
      <div>
        <p class="finding">${texts.follows[id]}</p>
        ${next}
      </div>
    </div>`
}

function inboxActsView(stage: Stage) {
  const { walk, bench, world } = stage
  const show = async (at: number) => {
    await walk.reach(inboxActs[at] ?? 'inbox')
    bench.moments.inbox = at
  }
  const shown = bench.moments.inbox ?? 0
  const run = (at: number) => void world.run(`inbox ${at}`, () => show(at))
  return momentsView(stage, { labels: inboxActs, shown, show: run })
}
