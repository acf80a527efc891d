// The start, and one step of the walk: what to see, a picture for each lane, and what follows. Everything else is folded.
import { html, nothing } from 'lit/html.js'
import { apartView } from './apart-view.ts'
import { headView, laneView } from './lane-view.ts'
import { sceneOf } from './picture.ts'
import { type SignatureCheck, signatureView } from './signature-view.ts'
import type { Stage } from './stage.ts'
import { type Results, type StepId, stepIds, type Walk } from './walk.ts'
import { type Lane, lanes, type WorldError } from './world.ts'

export function startView({ texts, go }: Stage, walk: Walk) {
  const first = stepIds[0]
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
    <p class="way">
      <button type="button" class="primary" id="next" aria-disabled=${walk.sending} @click=${() => walk.sending || go({ kind: 'step', id: first })}>${texts.start}</button>
      <span role="status" class="note">${walk.sending ? texts.sending : texts.ownWorld}</span>
    </p>`
}

export function stepView(
  stage: Stage,
  { walk, id, results, check }: { walk: Walk; id: StepId; results: Results; check: SignatureCheck },
) {
  const { texts } = stage
  const { title, see, finding } = texts.steps[id]
  const momentOf = (lane: Lane) => ({
    scene: sceneOf(lane, results[lane], stage),
    key: id,
    exchanges: results[lane],
    more: id === 'sign-in' ? results[lane].map((exchange) => apartView(stage, lane, exchange)) : nothing,
  })
  return html`${headView({ number: texts.stepOf(stepIds.indexOf(id) + 1), title, see })}
    ${walk.isUnexpected(id) ? html`<p class="fault" role="alert">${texts.unexpected} <button type="button" @click=${stage.startAgain}>${texts.startAgain}</button></p>` : nothing}
    <div class="two">${lanes.map((lane) => laneView(stage, lane, momentOf(lane)))}</div>
    <div class="two">
      ${id === 'with-proof' ? signatureView(stage, check) : nothing}
      <div><p class="finding">${finding}</p>${forwardView(stage, walk, id)}</div>
    </div>`
}

function forwardView({ texts, go }: Stage, walk: Walk, id: StepId) {
  const next = stepIds[stepIds.indexOf(id) + 1]
  const label = `${texts.next}${next === undefined ? texts.experimentsTitle : texts.steps[next].short}`
  const act = () => walk.sending || go(next === undefined ? { kind: 'experiments' } : { kind: 'step', id: next })
  return html`<p class="way">
    <button type="button" class="primary" id="next" aria-disabled=${walk.sending} @click=${act}>${label}</button>
    <span role="status" class="note">${walk.sending ? texts.sending : nothing}</span>
  </p>`
}

export function troubleView(
  { texts, startAgain, go }: Stage,
  { error, wanted }: { error: WorldError; wanted: StepId },
) {
  const isOver = error.trouble === 'gone'
  const again = () => (isOver ? startAgain() : go({ kind: 'step', id: wanted }))
  return html`<div class="card trouble" role="alert" id="trouble" tabindex="-1">
    <p class="fault">${texts.troubles[error.trouble]} ${error.retryAfter === undefined ? nothing : texts.freeIn(Math.ceil(error.retryAfter / 60))}</p>
    <button type="button" class="primary" @click=${again}>${isOver ? texts.startAgain : texts.tryAgain}</button>
  </div>`
}
