// One experiment on the page: question, predictions, the button, and the result of both lanes.
import { html, nothing } from 'lit/html.js'
import { arrowOf } from '../../arrows.ts'
import { curlView } from '../../view/curl-view.ts'
import { sentenceOf } from '../../view/diagram.ts'
import type { DemonstrationOptions, Texts as WalkTexts } from '../../view/stage.ts'
import { type Exchange, type Lane, lanes, type Message } from '../../world.ts'
import type { Bench } from '../bench.ts'
import type { Answer, Experiment, ExperimentId, Fact, Measured, Texts } from '../experiment.ts'
import type { Result } from '../kept-results.ts'

export type View = Pick<DemonstrationOptions, 'base' | 'language'> & {
  bench: Bench
  texts: Texts
  walk: WalkTexts
  run: (experiment: Experiment) => void
}

/** The id of the element: what the link of an experiment points to. */
export const anchorOf = (id: ExperimentId) =>
  `experiment-${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

export function experimentView(view: View, experiment: Experiment) {
  const { texts, bench } = view
  const { id } = experiment
  const { title, question } = texts.experiments[id]
  const result = bench.results[id]
  return html`<details class="experiment" id=${anchorOf(id)} name="experiment">
    <summary><h3>${title}</h3></summary>
    <div class="inside">
      <p>${question} <a href="#${anchorOf(id)}" class="deep-link" aria-label=${texts.link(title)}>#</a></p>
      ${predictionsView(view, experiment)} ${id === bench.running ? frameView(view) : nothing}
      ${result && id !== bench.running ? resultView(view, id, result) : nothing}
    </div>
  </details>`
}

function predictionsView(view: View, experiment: Experiment) {
  const { texts, bench } = view
  const { id } = experiment
  const isRunning = bench.running === id
  const submit = (event: Event) => {
    event.preventDefault()
    view.run(experiment)
  }
  const { problem, secondsLeft } = bench
  const progress = secondsLeft === undefined ? texts.running : texts.outage(secondsLeft)
  return html`<form @submit=${submit}>
    <div class="lanes">${lanes.map((lane) => predictionView(view, id, lane))}</div>
    <button class="primary" aria-disabled=${bench.running !== undefined}>
      ${bench.results[id] ? texts.runAgain : texts.run}
    </button>
    <p role="status" class="progress">${isRunning ? progress : nothing}</p>
    <p role="alert" class="fault">${problem?.id === id ? problemText(view, problem.what) : nothing}</p>
  </form>`
}

function problemText({ texts, walk }: View, what: NonNullable<Bench['problem']>['what']): string {
  if (what === 'choose') return texts.choose
  return what === 'otherTab' ? texts.tabs.running : `${walk.troubles[what]} ${texts.again}`
}

function predictionView({ texts, walk, bench }: View, id: ExperimentId, lane: Lane) {
  const choice = (answer: Answer) =>
    html`<label class="choice">
      <input
        type="radio"
        name="${id}-${lane}"
        .checked=${bench.predictionOf(id)[lane] === answer}
        @change=${() => bench.predict(id, lane, answer)}
      />${texts.experiments[id][answer]}
    </label>`
  return html`<fieldset class="lane-${lane}">
    <legend>${texts.predict(walk.laneNames[lane])}</legend>
    ${choice('yes')} ${choice('no')}
  </fieldset>`
}

/** The origin of a sandboxed page is no site at all, so to the service it is another site. The page sends its form by itself. */
function frameView({ bench: { frame }, texts, base }: View) {
  if (frame === undefined) return nothing
  return html`<iframe
    class="for-readers"
    tabindex="-1"
    sandbox="allow-forms allow-scripts"
    title=${texts.frameTitle}
    src=${base + frame.address}
    @load=${frame.loaded}
  ></iframe>`
}

function resultView(view: View, id: ExperimentId, result: Result) {
  const { texts } = view
  return html`<div class="result">
    <h4 tabindex="-1">${texts.result}</h4>
    <div class="lanes">${lanes.map((lane) => laneView(view, id, { lane, result }))}</div>
    <h4>${texts.whyTitle}</h4>
    <p>${texts.experiments[id].why}</p>
  </div>`
}

function laneView(view: View, id: ExperimentId, { lane, result }: { lane: Lane; result: Result }) {
  const { texts, walk } = view
  const measured = result.measured[lane]
  const predicted = result.predicted[lane]
  const verdict =
    measured.answer === predicted
      ? html`<p class="done">${texts.right}</p>`
      : html`<p class="surprise">${texts.wrong(texts.experiments[id][predicted])}</p>`
  return html`<section class="measured lane-${lane}">
    <h5>${walk.laneNames[lane]}: ${measuredText(texts, id, measured)}</h5>
    ${measured.answer === null ? nothing : verdict}
    <ol class="facts">${measured.facts.map((fact) => factView(view, fact))}</ol>
  </section>`
}

export function measuredText(texts: Texts, id: ExperimentId, { answer }: Measured): string {
  return answer === null ? texts.notMeasured : texts.experiments[id][answer]
}

function statusView(status = 0) {
  return html`<strong class="status ${status < 400 ? 'done' : 'fault'}">${status}</strong>`
}

function factView(view: View, { label, line, status, exchange, value }: Fact) {
  const { texts } = view
  return html`<li>
    <span>${texts.facts[label]}${line === undefined && value === undefined ? '' : ': '}</span>
    ${line === undefined ? nothing : html`<code>${line}</code> ${statusView(status)}`}
    ${value === undefined ? nothing : html`<code class="value">${value}</code>`}
    ${
      exchange === undefined
        ? nothing
        : html`<details>
            <summary>${texts.wire}<span class="for-readers">: ${texts.facts[label]}</span></summary>
            ${wireView(view, exchange)}
          </details>`
    }
  </li>`
}

/** What the server has of one exchange: the messages as they were on the wire, its own trace, and the request as a command. */
function wireView({ texts, walk, language, base, bench }: View, exchange: Exchange) {
  const { request, response, trace } = exchange
  const cookieName = bench.world.visit?.cookieName ?? ''
  return html`<pre class="wire" tabindex="0">${textOf(request)}</pre>
    <pre class="wire" tabindex="0">${textOf(response)}</pre>
    ${
      trace === null || trace.length === 0
        ? nothing
        : html`<p>${texts.trace}</p>
          <ul class="trace">${trace.map((call) => html`<li>${sentenceOf({ texts: walk, language }, arrowOf(call))}</li>`)}</ul>`
    }
    ${curlView({ texts: walk, base, cookieName }, exchange)}`
}

function textOf({ line, fields, body }: Message): string {
  return [line, ...fields.map(([name, value]) => `${name}: ${value}`), ...(body === '' ? [] : ['', body])].join('\n')
}
