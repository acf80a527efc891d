// The result: the table of measured values, the three sentences, the link that has the values, and a folded step on keys.
import { html, nothing } from 'lit/html.js'
import { copyView, headView } from './lane-view.ts'
import { fragmentOf, keyStory, measure } from './result.ts'
import type { Stage } from './stage.ts'
import { type Lane, lanes } from './world.ts'

export function resultView(stage: Stage) {
  const { texts, world, result } = stage
  const { table } = texts
  const act = async () => {
    result.measurement = await measure(world)
    result.isShared = false
    history.replaceState(null, '', fragmentOf(result.measurement))
  }
  return html`${headView(texts.places.result, texts.see.result)} ${tableView(stage)}
    ${result.isShared ? html`<p class="hint">${texts.shared}</p>` : nothing}
    <div class="way buttons">
      <button type="button" class="primary" aria-disabled=${world.running !== undefined} @click=${() => void world.run('measure', act)}>${table.measure}</button>
      ${result.measurement && copyView(texts, table.share, location.href)}
      <span role="status" class="hint">${world.running ? texts.sending : nothing}</span>
    </div>
    <ul class="advice">
      ${(['session', 'token', 'both'] as const).map((which) => html`<li class="lane-${which}">${texts.advice[which]}</li>`)}
    </ul>
    ${keysView(stage)}`
}

const rows = ['lookUps', 'bytes', 'ms', 'stolen'] as const

function tableView({ texts, result: { measurement }, language }: Stage) {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 })
  const { table, cells, laneNames } = texts
  const titles = { ...table, stolen: texts.secondsStolen }
  const textOf = (lane: Lane, row: (typeof rows)[number]) => {
    if (measurement === undefined) return '–'
    const value = number.format(measurement[lane][row])
    if (row !== 'stolen' || lane === 'session') return value
    return `${value} ${cells.this}, ${number.format(measurement.token.elsewhere)} ${cells.other}`
  }
  return html`<table class="findings">
    <caption class="for-readers">${texts.see.result}</caption>
    <thead><tr>
      <td></td> ${lanes.map((lane) => html`<th scope="col" class="lane-${lane} lane-name">${laneNames[lane]}</th>`)}
    </tr></thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr>
          <th scope="row">${titles[row]}</th>
          ${lanes.map((lane) => html`<td>${textOf(lane, row)}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>`
}

function keysView(stage: Stage) {
  const { texts, world, result } = stage
  const { keys, actors } = texts
  const act = async () => {
    result.keys = await keyStory(world)
  }
  return html`<details class="fold card">
    <summary>${keys.title}</summary>
    <p>${texts.aboutKeys}</p>
    <button type="button" aria-disabled=${world.running !== undefined} @click=${() => void world.run('keys', act)}>${keys.run}</button>
    <ol>
      ${result.keys?.map(
        ({ event, here, there, kids }) => html`<li>
          ${keys[event]}
          <span class="hint">${actors.server} ${here} · ${actors.other} ${there} · kid ${kids.map((kid) => kid.slice(0, 6)).join(', ')}</span>
        </li>`,
      )}
    </ol>
  </details>`
}
