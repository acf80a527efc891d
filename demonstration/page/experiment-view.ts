// The list of experiments, and one experiment: its story with a picture, the predictions, and what happened.
import { html, nothing } from 'lit/html.js'
import { balancerView } from './balancer-view.ts'
import type { Bench, Result } from './bench.ts'
import { type Act, type Cell, cellsOf, type Outcome } from './experiments.ts'
import { headView, laneView } from './lane-view.ts'
import { type Hop, keptThings, type Scene, sceneOf } from './picture.ts'
import { type ExperimentId, experimentIds, hashOf } from './places.ts'
import type { Stage } from './stage.ts'
import { type Lane, lanes } from './world.ts'

export function experimentsView(stage: Stage, bench: Bench) {
  const { texts } = stage
  return html`${headView({ title: texts.experimentsTitle, see: texts.experimentsLead })}
    <ol class="cards">
      ${experimentIds.map((id) => {
        const { title, story } = texts.experiments[id]
        return html`<li>
          <a class="idea" href=${hashOf({ kind: 'experiment', id })}>
            <b>${title}</b> ${bench.outcomeOf(id) ? html`<span class="flag">${texts.done}</span>` : nothing}
            <span class="note">${story}</span>
          </a>
        </li>`
      })}
    </ol>
    <p class="way"><a class="button" href=${hashOf({ kind: 'result' })}>${texts.next}${texts.table.title}</a></p>`
}

export function experimentView(stage: Stage, bench: Bench, id: ExperimentId) {
  const { texts } = stage
  const { title, story } = texts.experiments[id]
  const outcome = bench.running === id ? undefined : bench.outcomeOf(id)
  const at = experimentIds.indexOf(id)
  const next = experimentIds[at + 1]
  return html`${headView({ number: texts.experimentOf(at + 1), title, see: story })}
    ${pictures(stage, bench, id, outcome)}
    ${bench.frame && html`<iframe title=${texts.frameTitle} src=${bench.frame}></iframe>`}
    ${formView(stage, bench, id)} ${outcome ? resultView(stage, id, outcome) : nothing}
    <p class="way">
      <a class="button" href=${hashOf(next ? { kind: 'experiment', id: next } : { kind: 'result' })}>
        ${texts.next}${next ? texts.experiments[next].title : texts.table.title}
      </a>
    </p>`
}

/** Before the experiment has run, the pictures show what is going to be sent. */
function pictures(stage: Stage, bench: Bench, id: ExperimentId, outcome: Outcome | undefined) {
  const { texts } = stage
  if (id === 'balancer') return balancerView(stage, outcome?.hits)
  const acts = outcome?.acts ?? []
  const act = acts[bench.shown] ?? acts[0]
  if (act === undefined)
    return html`<div class="two">${lanes.map((lane) => laneView(stage, lane, { scene: plannedScene(stage, id, lane), key: `planned ${id}` }))}</div>`
  const choice = ({ label }: Act, at: number) =>
    html`<button type="button" aria-pressed=${act === acts[at]} @click=${() => bench.show(at)}>${texts.acts[label]}</button>`
  return html`${acts.length > 1 ? html`<div class="acts" role="group" aria-label=${texts.moments}>${acts.map(choice)}</div>` : nothing}
    <div class="two">
      ${lanes.map((lane) => (act[lane].length === 0 ? nothing : laneView(stage, lane, { scene: actScene(stage, lane, act), key: `${id} ${act.label}`, exchanges: act[lane] })))}
    </div>`
}

function actScene(stage: Stage, lane: Lane, act: Act): Scene {
  const scene = sceneOf(lane, act[lane], stage)
  if (!['during', 'duringList'].includes(act.label)) return scene
  const { gone } = stage.texts.things
  return {
    ...scene,
    things: scene.things.map((thing) => (thing.at === 'store' ? { ...thing, text: gone, tone: 'bad' } : thing)),
  }
}

/** Who sends the requests of an experiment; the reader's browser does in the others. */
const senders: Partial<Record<ExperimentId, 'thief' | 'site'>> = { stolen: 'thief', signOut: 'thief', form: 'site' }

function plannedScene({ texts }: Stage, id: ExperimentId, lane: Lane): Scene {
  const { places, things } = texts
  const sender = senders[id] ?? 'browser'
  const names = { ...places, browser: places[sender] }
  const held =
    sender === 'site' ? 'nothing' : sender === 'thief' ? copies[lane] : lane === 'session' ? 'cookie' : 'token'
  const targets = cellsOf[id].includes(`${lane} other`) ? (['server', 'other'] as const) : (['server'] as const)
  const hops = targets.flatMap((to): Hop[] => [
    { from: 'browser', to, label: '', sentence: '', tone: sender === 'site' ? 'plain' : lane },
    { from: to, to: 'browser', label: '?', sentence: '?', tone: 'plain' },
  ])
  const inBrowser = { at: 'browser', text: things[held], tone: sender === 'site' ? 'plain' : lane } as const
  return { names, hops, things: [inBrowser, ...keptThings(texts, lane, { hasRow: lane === 'session' })] }
}

const copies = { session: 'copiedCookie', token: 'copiedToken' } as const

function formView(stage: Stage, bench: Bench, id: ExperimentId) {
  const { texts, world, language } = stage
  const { problem } = bench
  const submit = async (event: Event) => {
    event.preventDefault()
    const { parentElement } = event.currentTarget as HTMLElement
    // The reader hears the result, not only that a button was pressed.
    if (await bench.run(id, { world, texts, language }))
      parentElement?.querySelector<HTMLElement>('.result h3')?.focus()
  }
  return html`<form class="predictions" @submit=${submit}>
    <h3>${texts.predict}</h3>
    ${cellsOf[id].map((cell) => predictionView(stage, bench, id, cell))}
    <button class="primary" aria-disabled=${bench.running !== undefined}>${bench.outcomeOf(id) ? texts.runAgain : texts.run}</button>
    <p role="status" class="note">${bench.running === id ? texts.running : nothing}</p>
    <p role="alert" class="fault">${problem?.id === id ? problemText(stage, problem) : nothing}</p>
  </form>`
}

function problemText({ texts }: Stage, { what, retryAfter }: NonNullable<Bench['problem']>): string {
  if (what === 'choose') return texts.choose
  return [texts.troubles[what], retryAfter && texts.freeIn(Math.ceil(retryAfter / 60))].filter(Boolean).join(' ')
}

/** A proof works or is refused; a question has a yes or a no. */
function answerText({ answers }: Stage['texts'], cell: Cell, answer: boolean): string {
  const isProof = /(this|other)$/.test(cell)
  return answers[answer ? (isProof ? 'works' : 'yes') : isProof ? 'fails' : 'no']
}

function predictionView({ texts }: Stage, bench: Bench, id: ExperimentId, cell: Cell) {
  const choice = (answer: boolean) =>
    html`<label class="choice">
      <input
        type="radio"
        name="${id} ${cell}"
        .checked=${bench.predictionsOf(id)[cell] === answer}
        @change=${() => bench.predict(id, cell, answer)}
      />${answerText(texts, cell, answer)}
    </label>`
  return html`<fieldset class="lane-${cell.split(' ')[0]}"><legend>${texts.cells[cell]}</legend>${choice(true)} ${choice(false)}</fieldset>`
}

function resultView({ texts }: Stage, id: ExperimentId, { answers, facts, predicted }: Result) {
  const { why, follows } = texts.experiments[id]
  return html`<section class="result">
    <h3 tabindex="-1">${texts.result}</h3>
    <ul class="verdicts">
      ${cellsOf[id].map((cell) => {
        const text = texts.cells[cell]
        const answer = answers[cell]
        if (typeof answer !== 'boolean') return html`<li>${text}: <b>${texts.unmeasured}</b></li>`
        const isRight = predicted[cell] === answer
        return html`<li class="lane-${cell.split(' ')[0]}">
          ${text}: <b>${answerText(texts, cell, answer)}</b>
          <span class=${isRight ? 'done' : 'surprise'}>${isRight ? texts.right : texts.wrong}</span>
        </li>`
      })}
    </ul>
    ${facts.map((fact) => html`<p class="note">${fact}</p>`)}
    <p>${why}</p>
    <p class="finding">${follows}</p>
  </section>`
}
