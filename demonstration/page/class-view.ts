import { html } from 'lit/html.js'
import { filled } from '../texts/texts.ts'
import type { Stage } from './demonstration-page.ts'
import { experimentIds } from './experiments/experiments.ts'
import { timeText } from './picture/hops.ts'
import { headView } from './picture/lane-view.ts'
import { hashOf, nameOf, type Place } from './places.ts'
import { partsView } from './proof/exchange-view.ts'
import { tokenParts } from './proof/proof-parts.ts'
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
  const quiz = Object.values(texts.quiz)
  const linked = answers.map(
    (place, at) => html`<li>${quiz[at]} <a href=${hashOf(place)}>${nameOf(texts, place)}</a></li>`,
  )
  const row = (id: keyof typeof texts.titles) =>
    html`<p><b>${texts.titles[id]}.</b> ${texts.see[id]} ${texts.follows[id]}</p>`
  return html`${headView(texts.places.class, texts.see.class)}
    <div class="two">
      <section class="card">
        <h3>${texts.quizTitle}</h3>
        <ol>${linked}</ol>
        <button type="button" @click=${() => print()}>${texts.print}</button>
      </section>
      ${pasteView(stage)}
    </div>
    <section class="handout" aria-hidden="true">
      <h2>${texts.walk}</h2>
      ${lanes.map((lane) => html`<p><b>${texts.laneNames[lane]}.</b> ${texts.says[lane]}</p>`)} ${[...stepIds, ...experimentIds].map(row)}
      <h2 class="next-page">${texts.quizTitle}</h2>
      <ol>${quiz.map((question) => html`<li>${question}</li>`)}</ol>
      ${Object.values(texts.advice).map((sentence) => html`<p>${sentence}</p>`)}
    </section>`
}

function pasteView(stage: Stage) {
  const { texts, language, result, world } = stage
  const { paste } = texts
  const edit = ({ target }: Event) => {
    result.pasted = (target as HTMLTextAreaElement).value.trim()
    world.changed()
  }
  const { pasted = '' } = result
  const words = pasted.split(/[^\w.-]/)
  const { header = [], claims = [] } = words.map(tokenParts).find(Boolean) ?? {}
  const end = claims.find(({ name }) => name === 'exp')?.time
  const ofToken = filled(paste.token, end ? timeText(end, language) : '–')
  const about = header.length > 0 ? ofToken : paste.cookie
  return html`<section class="card">
    <h3>${paste.title}</h3>
    <label for="pasted">${paste.label}</label>
    <textarea id="pasted" rows="4" spellcheck="false" autocomplete="off" autocapitalize="off" .value=${pasted} @input=${edit}></textarea>
    <p role="status">${pasted === '' ? paste.nothing : about}</p>
    ${partsView(stage, [...header, ...claims])}
  </section>`
}
