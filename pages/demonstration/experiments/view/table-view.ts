// The table that the reader fills in by running the experiments: what was measured in each lane, and what follows from it.
import { html, nothing } from 'lit/html.js'
import { lanes } from '../../world.ts'
import { experiments } from '../all.ts'
import type { ExperimentId } from '../experiment.ts'
import { anchorOf, measuredText, type View } from './experiment-view.ts'

export function tableView({ bench, texts, walk }: View) {
  const { table } = texts
  const count = Object.keys(bench.results).length
  return html`<section id="when-to-take-which" tabindex="-1" aria-labelledby="when-title">
    <h2 id="when-title">${table.title}</h2>
    <p>${table.intro} <span class="hint">${table.run(count)}</span></p>
    <table class="findings">
      <caption class="for-readers">${table.caption}</caption>
      <thead>
        <tr>
          <th scope="col">${table.experiment}</th>
          ${lanes.map((lane) => html`<th scope="col">${walk.laneNames[lane]}</th>`)}
          <th scope="col">${table.follows}</th>
        </tr>
      </thead>
      <tbody>${experiments.map(({ id }) => rowView({ bench, texts, walk }, id))}</tbody>
    </table>
    <dl class="advice">
      <div class="lane-session"><dt>${table.session}</dt><dd>${table.sessionText}</dd></div>
      <div class="lane-token"><dt>${table.token}</dt><dd>${table.tokenText}</dd></div>
    </dl>
    ${count === 0 ? nothing : html`<button type="button" @click=${() => bench.forget()}>${table.forget}</button>`}
  </section>`
}

function rowView({ bench, texts, walk }: Pick<View, 'bench' | 'texts' | 'walk'>, id: ExperimentId) {
  const result = bench.results[id]
  const title = html`<th scope="row"><a href="#${anchorOf(id)}">${texts.experiments[id].title}</a></th>`
  if (result === undefined) return html`<tr>${title}<td colspan="3" class="hint">${texts.table.notRun}</td></tr>`
  return html`<tr>
    ${title} ${lanes.map(
      (lane) => html`<td class="lane-${lane}">
        <span class="lane-name" aria-hidden="true">${walk.laneNames[lane]}: </span>${measuredText(texts, id, result.measured[lane])}
      </td>`,
    )}
    <td>${texts.experiments[id].follows}</td>
  </tr>`
}
