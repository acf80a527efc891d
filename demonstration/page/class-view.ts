// For a class: ten questions with the place of each answer, a proof of the reader's own, and a
// handout of two pages. The page computes all of it.
import { html, nothing } from 'lit/html.js'
import { filled } from '../texts/texts.ts'
import { experimentIds } from './experiments.ts'
import { timeText } from './hops.ts'
import { headView } from './lane-view.ts'
import { tokenParts } from './proof-parts.ts'
import { hashOf, type Place, type Stage } from './stage.ts'
import { stepIds } from './walk.ts'
import { lanes } from './world.ts'

const answers: readonly Place[] = [
  'without-proof',
  'sign-in',
  'with-proof',
  'with-proof',
  'stolen',
  'signOut',
  'form',
  'script',
  'outage',
  'result',
]

export function classView(stage: Stage) {
  const { texts } = stage
  return html`${headView(texts.places.class, texts.see.class)}
    <div class="two">
      <section class="card">
        <h3>${texts.quizTitle}</h3>
        <ol>${questionsView(stage, true)}</ol>
        <button type="button" @click=${() => print()}>${texts.print}</button>
      </section>
      ${pasteView(stage)}
    </div>
    ${handoutView(stage)}`
}

function questionsView({ texts }: Stage, hasLinks: boolean) {
  const names: Readonly<Record<string, string>> = { ...texts.titles, ...texts.places }
  return Object.values(texts.quiz).map((question, at) => {
    const place = answers[at] ?? 'start'
    return html`<li>${question} ${hasLinks ? html`<a href=${hashOf(place)}>${names[place]}</a>` : nothing}</li>`
  })
}

function pasteView({ texts, language, result, world }: Stage) {
  const { paste } = texts
  const edit = ({ target }: Event) => {
    result.pasted = (target as HTMLTextAreaElement).value.trim()
    world.changed()
  }
  const { pasted = '' } = result
  const parts = tokenParts(pasted.replace(/^Bearer /i, ''))
  const end = parts?.claims.find(({ name }) => name === 'exp')?.time
  const expiry = end ? timeText(end, language) : '–'
  const about = parts ? filled(paste.token, expiry) : paste.cookie
  return html`<section class="card">
    <h3>${paste.title}</h3>
    <label for="pasted">${paste.label}</label>
    <textarea id="pasted" rows="4" spellcheck="false" autocomplete="off" autocapitalize="off" .value=${pasted} @input=${edit}></textarea>
    <p role="status">${pasted === '' ? paste.nothing : about}</p>
    <dl class="fields">
      ${[...(parts?.header ?? []), ...(parts?.claims ?? [])].map(({ name, value }) => html`<div><dt><code>${name}</code></dt><dd><code>${value}</code></dd></div>`)}
    </dl>
  </section>`
}

function handoutView(stage: Stage) {
  const { texts } = stage
  const row = (id: keyof typeof texts.titles) =>
    html`<p><b>${texts.titles[id]}.</b> ${texts.see[id]} ${texts.follows[id]}</p>`
  return html`<section class="handout" aria-hidden="true">
    <h2>${texts.walk}</h2>
    ${lanes.map((lane) => html`<p><b>${texts.laneNames[lane]}.</b> ${texts.says[lane]}</p>`)} ${stepIds.map(row)} ${experimentIds.map(row)}
    <h2 class="next-page">${texts.quizTitle}</h2>
    <ol>${questionsView(stage, false)}</ol>
    ${Object.values(texts.advice).map((sentence) => html`<p>${sentence}</p>`)}
  </section>`
}
