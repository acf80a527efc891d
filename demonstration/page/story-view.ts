// A step of the walk or an experiment: what to see, a picture for each lane, and what follows. An experiment is predicted first. Everything
// else is folded.
import { html, nothing } from 'lit/html.js'
import type { Exchange } from '../server/api.ts'
import type { Texts } from '../texts/texts.ts'
import { balancerView } from './balancer-view.ts'
import { type Act, type Cell, cellsOf, type ExperimentId, experimentIds, type Outcome, ways } from './experiments.ts'
import { headView, laneView } from './lane-view.ts'
import { type Scene, sceneOf } from './picture.ts'
import { signatureView } from './signature-view.ts'
import { go, hashOf, isOneOf, type Place, places, type Stage } from './stage.ts'
import { inboxActs, type StepId, stepIds } from './walk.ts'
import { dataIn, type Lane, lanes } from './world.ts'

export function startView(stage: Stage) {
  const { texts } = stage
  return html`<div class="two ideas">
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

/** The way to the next place. */
function nextView({ texts, world }: Stage, place: Place) {
  const next = places[places.indexOf(place) + 1] ?? 'start'
  const names: Readonly<Record<string, string>> = { ...texts.titles, ...texts.places }
  const act = () => world.running === undefined && go(next)
  const idle = place === 'start' ? texts.ownWorld : nothing
  return html`<p class="way buttons">
    <button type="button" class="primary" id="next" aria-disabled=${world.running !== undefined} @click=${act}>${place === 'start' ? texts.start : `${texts.next}${names[next]}`}</button>
    <span role="status" class="hint">${world.running ? texts.sending : idle}</span>
  </p>`
}

export function storyView(stage: Stage, id: StepId | ExperimentId) {
  const { texts } = stage
  const isStep = isOneOf(stepIds, id)
  return html`${headView(texts.titles[id], texts.see[id])}
    ${isStep ? stepView(stage, id) : experimentView(stage, id)}`
}

function stepView(stage: Stage, id: StepId) {
  const { texts, walk, bench } = stage
  const shown = id === 'inbox' ? (inboxActs[bench.shown] ?? id) : id
  const { session = [], token = [] } = walk.results.get(shown) ?? {}
  return html`${id === 'inbox' ? inboxActsView(stage) : nothing} ${picturesOf(stage, { session, token })}
    <div class="two">
      ${id === 'with-proof' ? signatureView(stage) : nothing}
      <div>
        ${shown in texts.listed ? listedView(texts.listed[shown as keyof Texts['listed']], token) : nothing}
        <p class="finding">${texts.follows[id]}</p>
        ${nextView(stage, id)}
      </div>
    </div>`
}

/** An act is sent when it is first chosen. */
function inboxActsView(stage: Stage) {
  const { walk, bench, world } = stage
  const show = async (at: number) => {
    await walk.reach(inboxActs[at] ?? 'inbox')
    bench.shown = at
  }
  return momentsView(stage, inboxActs, (at) => void world.run(`inbox ${at}`, () => show(at)))
}

/** The titles in the last list that was read: both lanes use one inbox. */
function listedView(label: string, exchanges: readonly Exchange[]) {
  const lists = exchanges.map((exchange) => dataIn<{ items: { title: string }[] }>(exchange).items ?? [])
  return html`<p class="listed">${label}${lists.at(-1)?.map(({ title }, at) => html`${at === 0 ? '' : ', '}<b>${title}</b>`)}</p>`
}

/** The moments of a story, one of which is displayed. */
function momentsView({ texts, bench }: Stage, labels: readonly Act['label'][], show: (at: number) => void) {
  const choice = (label: Act['label'], at: number) =>
    html`<button type="button" aria-pressed=${bench.shown === at} @click=${() => show(at)}>${texts.acts[label]}</button>`
  return html`<div class="acts buttons" role="group" aria-label=${texts.moments}>${labels.map(choice)}</div>`
}

function picturesOf(stage: Stage, act: Act | Pick<Act, Lane>) {
  const laneOf = (lane: Lane) => {
    const exchanges = act[lane]
    if (exchanges.length === 0) return nothing
    const scene = sceneOf(lane, exchanges, stage)
    const isGone = 'label' in act && ['during', 'duringList'].includes(act.label)
    return laneView(stage, lane, { scene: isGone ? withoutStore(stage, scene) : scene, exchanges })
  }
  return html`<div class="two">${lanes.map(laneOf)}</div>`
}

function withoutStore({ texts }: Stage, scene: Scene): Scene {
  const things = scene.things.map((thing) =>
    thing.at === 'store' ? { ...thing, text: texts.things.gone, tone: 'bad' as const } : thing,
  )
  return { ...scene, things }
}

function experimentView(stage: Stage, id: ExperimentId) {
  const { texts, bench, world } = stage
  const outcome = world.running === id ? undefined : bench.outcomes[id]
  const acts = outcome?.acts ?? []
  const shown = acts[bench.shown]
  const show = (at: number) => {
    bench.shown = at
    world.changed()
  }
  const labels = acts.map(({ label }) => label)
  return html`${labels.length > 1 ? momentsView(stage, labels, show) : nothing}
    ${id === 'balancer' ? balancerView(stage, outcome?.hits) : shown && picturesOf(stage, shown)}
    ${world.frame && html`<iframe class="card" title=${texts.actors['other-site']} src=${world.frame}></iframe>`}
    ${predictionsView(stage, id)} ${outcome ? resultView(stage, id, outcome) : nothing} ${nextView(stage, id)}`
}

function predictionsView(stage: Stage, id: ExperimentId) {
  const { texts, world, language, bench } = stage
  const submit = async (event: Event) => {
    event.preventDefault()
    const { parentElement } = event.currentTarget as HTMLElement
    // The reader hears the result, not only that a button was pressed.
    if (await bench.run(id, { world, texts, language }))
      parentElement?.querySelector<HTMLElement>('.result h3')?.focus()
  }
  return html`<form class="predictions card" @submit=${submit}>
    <h3>${texts.predict}</h3>
    ${cellsOf[id].map((cell) => {
      const name = `${id} ${cell}`
      const choice = (answer: boolean) => html`<label class="choice">
        <input type="radio" name=${name} required .checked=${bench.predictions[name] === answer}
          @change=${() => bench.predict(name, answer)} />${answerText(stage, cell, answer)}
      </label>`
      return html`<fieldset class="lane-${cell.split(' ')[0]}"><legend>${cellText(stage, cell)}</legend>${choice(true)} ${choice(false)}</fieldset>`
    })}
    <button class="primary" aria-disabled=${world.running !== undefined}>${texts.run}</button>
  </form>`
}

/** Such as “Token · at this server”. */
function cellText({ texts }: Stage, cell: Cell): string {
  const [lane, what = ''] = cell.split(' ')
  const parts: Readonly<Record<string, string>> = { ...texts.cells, ...texts.balancer }
  const proof = lane === 'session' ? 'Cookie' : texts.laneNames.token
  return [proof, parts[what], ...(what in ways ? [texts.cells.five] : [])].join(' · ')
}

/** A proof works or is refused; a question has a yes or a no. */
function answerText({ texts: { answers } }: Stage, cell: Cell, answer: boolean): string {
  const isProof = /(this|other)$/.test(cell)
  if (isProof) return answers[answer ? 'works' : 'fails']
  return answers[answer ? 'yes' : 'no']
}

function resultView(stage: Stage, id: ExperimentId, { answers, facts, predicted }: Outcome) {
  const { texts } = stage
  return html`<section class="result">
    <h3 tabindex="-1">${texts.whatHappened}</h3>
    <ul class="verdicts entries">
      ${cellsOf[id].map((cell) => {
        const answer = answers[cell]
        const isRight = predicted[`${id} ${cell}`] === answer
        const verdict = html`<span class=${isRight ? 'done' : ''}>${isRight ? texts.right : texts.wrong}</span>`
        return html`<li class="lane-${cell.split(' ')[0]}">
          ${cellText(stage, cell)}: <b>${answer === undefined ? texts.unmeasured : answerText(stage, cell, answer)}</b>
          ${answer === undefined ? nothing : verdict}
        </li>`
      })}
    </ul>
    ${facts.map((fact) => html`<p class="hint">${fact}</p>`)}
    <p class="finding">${texts.follows[id]}</p>
  </section>`
}
