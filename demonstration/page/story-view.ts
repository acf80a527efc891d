// The start, a step of the walk, and the way to the next place.
import { html, nothing } from 'lit/html.js'
import type { Exchange } from '../server/api.ts'
import type { Texts } from '../texts/texts.ts'
import { experimentView } from './experiment-view.ts'
import { type ExperimentId, experimentIds } from './experiments.ts'
import { lineOf } from './hops.ts'
import { headView, lanesView } from './lane-view.ts'
import { sceneOf } from './picture.ts'
import { momentsView } from './player.ts'
import { signatureView } from './signature-view.ts'
import { go, hashOf, isOneOf, type Place, places, type Stage } from './stage.ts'
import { inboxActs, type StepId, stepIds } from './walk.ts'
import { dataIn, type Lane, lanes } from './world.ts'

export function startView(stage: Stage) {
  const { texts } = stage
  return html`<p class="see">${texts.aboutProof}</p>
    <div class="two ideas">
      ${lanes.map(
        (lane) => html`<section class="idea card lane-${lane}">
          <p class="lane-name">${texts.laneNames[lane]}</p>
          <h2>${texts.ideas[lane]}</h2>
          <p>${texts.says[lane]}</p>
        </section>`,
      )}
    </div>
    ${nextView(stage, 'start')}`
}

export function experimentsView(stage: Stage) {
  const { texts } = stage
  return html`${headView(texts.places.experiments, texts.see.experiments)}
    <ol class="cards">
      ${experimentIds.map(
        (id) => html`<li>
          <a class="idea card" href=${hashOf(id)}>
            <b>${texts.titles[id]}</b>
            <span class="hint">${texts.see[id]}</span>
          </a>
        </li>`,
      )}
    </ol>
    ${nextView(stage, 'experiments')}`
}

function nextView({ texts, world, recording }: Stage, place: Place) {
  const next = places[places.indexOf(place) + 1] ?? 'start'
  const names: Readonly<Record<string, string>> = { ...texts.titles, ...texts.places }
  const act = () => world.running === undefined && go(next)
  const begins = recording ? texts.recorded : texts.ownWorld
  const idle = place === 'start' ? begins : nothing
  // In an experiment, *Run it* alone is primary.
  const look = isOneOf(experimentIds, place) ? nothing : 'primary'
  const words = place === 'start' ? texts.start : `${texts.next}${names[next]}`
  return html`<p class="way buttons">
    <button type="button" class=${look} id="next" aria-disabled=${world.running !== undefined} @click=${act}>${words}</button>
    <span role="status" class="hint">${world.running ? texts.sending : idle}</span>
  </p>`
}

export function storyView(stage: Stage, id: StepId | ExperimentId) {
  const { texts } = stage
  const isStep = isOneOf(stepIds, id)
  return html`${headView(texts.titles[id], texts.see[id])} ${isStep ? endpointsView(stage) : nothing}
    ${isStep ? stepView(stage, id) : experimentView(stage, id, nextView(stage, id))}`
}

/** The specification names them. A chip is lit if a step has used its address. */
const endpoints = ['/login', '/routeRestreinte', '/notifications', '/read', '/read-all']

function endpointsView({ walk }: Stage) {
  const sent = [...walk.results.values()].flatMap(({ session }) => session.map(lineOf))
  const chip = (path: string) => {
    const isLit = sent.some((line) => line.endsWith(path))
    return html`<li class=${isLit ? 'lit' : ''}><code>${path}</code></li>`
  }
  return html`<ul class="endpoints">${endpoints.map(chip)}</ul>`
}

function stepView(stage: Stage, id: StepId) {
  const { texts, walk, bench } = stage
  const shown = id === 'inbox' ? (inboxActs[bench.shown] ?? id) : id
  const { session = [], token = [] } = walk.results.get(shown) ?? {}
  return html`${picturesOf(stage, id, { session, token })}
    <div class="two">
      ${id === 'with-proof' && !stage.recording ? signatureView(stage) : nothing}
      <div>
        ${shown in texts.listed ? listedView(texts.listed[shown as keyof Texts['listed']], token) : nothing}
        <p class="finding">${texts.follows[id]}</p>
        ${nextView(stage, id)}
      </div>
    </div>`
}

function inboxActsView(stage: Stage) {
  const { walk, bench, world } = stage
  const show = async (at: number) => {
    await walk.reach(inboxActs[at] ?? 'inbox')
    bench.shown = at
  }
  return momentsView(stage, inboxActs, (at) => void world.run(`inbox ${at}`, () => show(at)))
}

/** Both lanes use one inbox. */
function listedView(label: string, exchanges: readonly Exchange[]) {
  const lists = exchanges.map(
    (exchange) => dataIn<{ items: { title: string }[] }>(exchange).items ?? [],
  )
  return html`<p class="listed">${label}${lists.at(-1)?.map(({ title }, at) => html`${at === 0 ? '' : ', '}<b>${title}</b>`)}</p>`
}

function picturesOf(stage: Stage, id: StepId, act: Record<Lane, readonly Exchange[]>) {
  const { walk } = stage
  const earlier = stepIds[stepIds.indexOf(id) - 1]
  const momentIn = (lane: Lane) => {
    const before = earlier && walk.results.get(earlier)?.[lane].at(-1)
    const told = {
      exchanges: act[lane],
      before,
      by: 'browser',
      isLost: false,
      hasTimes: false,
    } as const
    return {
      scene: sceneOf(lane, told, stage),
      exchanges: act[lane],
      notes: [],
      isOpen: true,
      chips: () => nothing,
    }
  }
  return lanesView(stage, {
    moment: act.token[0],
    lanes: { session: momentIn('session'), token: momentIn('token') },
    bar: id === 'inbox' ? inboxActsView(stage) : nothing,
  })
}
