// The walk as a whole: the list of steps, the step that the reader is at with both lanes, and the buttons.
import { html, nothing } from 'lit/html.js'
import { type StepId, stepIds } from '../steps.ts'
import type { Walk } from '../walk.ts'
import { type Lane, lanes, type Sent } from '../world.ts'
import { apartView } from './apart-view.ts'
import { curlView } from './curl-view.ts'
import { diagramView } from './diagram.ts'
import { browserView, serverView } from './kept-view.ts'
import { messageView } from './message-view.ts'
import type { Stage, Texts } from './stage.ts'

export type Actions = {
  go: (place: Walk['place']) => void
  startAgain: () => void
}

type WalkView = { walk: Walk; texts: Texts; stage: Stage | undefined; actions: Actions }

export function walkView(view: WalkView) {
  const { walk, texts, stage } = view
  const { place } = walk
  const result = place === 'start' ? undefined : walk.results.get(place)
  const isAtStart = place === 'start' || result === undefined || stage === undefined
  return html`<div class="bar">${stepsView(view)} ${isAtStart ? nothing : forwardView(view)}</div>
    ${troubleView(view)}
    <div class="step" aria-busy=${walk.sending !== undefined}>
      ${isAtStart ? startView(texts) : stepView(view, { stage, place, result })}
    </div>
    ${isAtStart ? forwardView(view) : nothing}`
}

function stepsView({ walk, texts, actions }: WalkView) {
  const link = (place: Walk['place'], number: number, text: string) => html`<li>
    <a
      href="#${place}"
      class=${walk.results.has(place as StepId) ? 'is-done' : ''}
      aria-current=${walk.place === place ? 'step' : nothing}
      @click=${(event: Event) => {
        event.preventDefault()
        actions.go(place)
      }}
      ><span class="number">${number}</span> ${text}</a
    >
  </li>`
  return html`<nav class="steps" aria-label=${texts.walk}>
    <ol>
      ${stepIds.map((id, at) => link(id, at + 1, texts.steps[id].short))}
      <li><a href="#experiments"><span class="number">?</span> ${texts.experiments.title}</a></li>
    </ol>
  </nav>`
}

function startView(texts: Texts) {
  return html`<div class="two ideas">
      ${lanes.map((lane) => {
        const { title, text, like } = texts.ideas[lane]
        return html`<section class="idea lane-${lane}">
          <p class="lane-name">${texts.laneNames[lane]}</p>
          <h2>${title}</h2>
          <p>${text}</p>
          <p><em>${like}</em></p>
        </section>`
      })}
    </div>
    <p class="note own-world">${texts.ownWorld}</p>`
}

type Shown = { stage: Stage; place: StepId; result: Readonly<Record<Lane, Sent>> }

function stepView(view: WalkView, { stage, place, result }: Shown) {
  const { texts, walk } = view
  const { title, intro, finding } = texts.steps[place]
  const unexpected = walk.unexpected(place)
  return html`<header class="step-head">
      <p class="step-number">${texts.stepOf(stepIds.indexOf(place) + 1)}</p>
      <h2 id=${place} tabindex="-1">${title}</h2>
      <p>${intro}</p>
    </header>
    <div class="two">${lanes.map((lane) => diagramView(stage, lane, result[lane]))}</div>
    ${unexpected.length === 0 ? html`<p class="finding">${finding}</p>` : nothing}
    ${lanes.map((lane) => laneView(view, { stage, lane, place, sent: result[lane], isUnexpected: unexpected.includes(lane) }))}
    ${place === 'sign-in' ? apartView(stage, result) : nothing}
    <ul class="notes">
      <li><code>Carillon-Visit</code> ${texts.visitField}</li>
      <li>${texts.otherCookies}</li>
      ${result.session.exchange.trace === null ? html`<li>${texts.noTrace}</li>` : nothing}
    </ul>`
}

type ShownLane = { stage: Stage; lane: Lane; place: StepId; sent: Sent; isUnexpected: boolean }

function laneView(view: WalkView, { stage, lane, place, sent, isUnexpected }: ShownLane) {
  const { texts, walk } = view
  const { exchange, status } = sent
  const signedIn = place === 'without-proof' ? undefined : walk.results.get('sign-in')?.[lane]
  const name = (kind: string) => `${place} ${lane} ${kind}`
  return html`<section class="lane lane-${lane}" aria-labelledby="lane-${lane}">
    <h3 id="lane-${lane}" class="lane-head"><span class="lane-name">${texts.laneNames[lane]}</span> <span class="status ${status < 400 ? 'done' : 'fault'}">${exchange.response.line.split(' ').slice(1).join(' ')}</span></h3>
    ${isUnexpected ? html`<p class="fault lane-fault" role="alert">${texts.unexpected[lane]} <button type="button" @click=${view.actions.startAgain}>${texts.startAgain}</button></p>` : nothing}
    <div class="columns-3">
      <div class="side"><h4 class="column-title">${texts.columns.browser}</h4>${browserView(stage, lane, { signedIn, sent })}</div>
      <div class="side wire-side">
        <h4 class="column-title">${texts.columns.wire}</h4>
        ${messageView(stage, 'request', { name: name('request'), message: exchange.request })}
        ${messageView(stage, 'response', { name: name('response'), message: exchange.response })}
        ${curlView({ ...stage, cookieName: stage.visit.cookieName }, exchange)}
      </div>
      <div class="side"><h4 class="column-title">${texts.columns.server}</h4>${serverView(stage, lane, { results: walk.results, sent })}</div>
    </div>
  </section>`
}

function troubleView({ walk, texts, actions }: WalkView) {
  if (walk.trouble === undefined) return nothing
  const { error, wanted } = walk.trouble
  const minutes = error.retryAfter === undefined ? undefined : Math.ceil(error.retryAfter / 60)
  const isOver = error.trouble === 'gone'
  return html`<div class="card trouble" role="alert" id="trouble" tabindex="-1">
    <p class="fault">${texts.troubles[error.trouble]} ${minutes === undefined ? nothing : texts.freeIn(minutes)}</p>
    <button type="button" class="primary" @click=${() => (isOver ? actions.startAgain() : actions.go(wanted))}>${isOver ? texts.startAgain : texts.tryAgain}</button>
  </div>`
}

/** One button for the way on: below the introduction, then beside the list of steps. */
function forwardView({ walk, texts, actions }: WalkView) {
  const { next, sending, place } = walk
  const label = place === 'start' ? texts.begin : next && `${texts.next}${texts.steps[next].short}`
  return html`<div class="forward">
    ${
      next === undefined
        ? html`<a class="button primary" href="#experiments">${texts.toExperiments}</a>`
        : html`<button type="button" class="primary" id="next" aria-disabled=${sending !== undefined} @click=${() => sending === undefined && actions.go(next)}>${label}</button>`
    }
    <span class="sending" role="status">${sending === undefined ? nothing : html`<span class="hint late">${texts.sending}${stepIds.indexOf(sending) + 1}</span>`}</span>
  </div>`
}
