// The result: the table of measured values, the three sentences, the link that has the values, and a folded step on keys.
import { html, nothing } from 'lit/html.js'
import { headView } from './lane-view.ts'
import { fragmentOf, type KeyStep, keyStory, type Measurement, measure, measurementIn } from './result.ts'
import type { Stage } from './stage.ts'
import { copy } from './wire-view.ts'
import { lanes, WorldError } from './world.ts'

export class ResultState {
  measurement: Measurement | undefined
  /** The values came with the link. */
  isShared = false
  keys: readonly KeyStep[] | undefined
  running: 'values' | 'keys' | undefined
  trouble: WorldError | undefined
  isCopied: boolean | undefined
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Reads the values of a link. Those that were measured here stay in the address, so a link of its own is nothing new. */
  read(fragment: string): void {
    const found = measurementIn(fragment)
    if (found === undefined || (this.measurement && fragmentOf(this.measurement) === fragment)) return
    this.measurement = found
    this.isShared = true
  }

  async run(what: 'values' | 'keys', { world }: Stage): Promise<void> {
    if (this.running !== undefined) return
    this.running = what
    this.trouble = this.isCopied = undefined
    this.#changed()
    try {
      if (what === 'keys') this.keys = await world.alone(() => keyStory(world))
      else {
        this.measurement = await world.alone(() => measure(world))
        this.isShared = false
        history.replaceState(null, '', fragmentOf(this.measurement))
      }
    } catch (error) {
      this.trouble = error instanceof WorldError ? error : new WorldError('other')
      if (this.trouble.trouble === 'gone') world.leave()
    } finally {
      this.running = undefined
      this.#changed()
    }
  }

  async share(): Promise<void> {
    this.isCopied = await copy(location.href)
    this.#changed()
  }
}

export function resultView(stage: Stage, state: ResultState) {
  const { texts } = stage
  const { table } = texts
  const { measurement, running, trouble, isCopied } = state
  return html`${headView({ title: table.title, see: table.lead })}
    ${tableView(stage, measurement)}
    ${state.isShared ? html`<p class="note">${table.shared}</p>` : nothing}
    <p class="buttons">
      <button type="button" class="primary" aria-disabled=${running !== undefined} @click=${() => void state.run('values', stage)}>${table.measure}</button>
      ${measurement && html`<button type="button" @click=${() => void state.share()}>${table.share}</button>`}
      <span role="status" class="note">${running === 'values' ? table.measuring : isCopied === undefined ? nothing : isCopied ? table.copied : table.notCopied}</span>
    </p>
    <p role="alert" class="fault">${trouble ? texts.troubles[trouble.trouble] : nothing}</p>
    <dl class="advice">
      ${(['session', 'token', 'both'] as const).map((which) => {
        const { title, text } = texts.advice[which]
        return html`<div class="lane-${which}"><dt>${title}</dt><dd>${text}</dd></div>`
      })}
    </dl>
    ${keysView(stage, state)}`
}

function tableView({ texts: { laneNames, table }, language }: Stage, measurement: Measurement | undefined) {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 })
  const cell = (lane: 'session' | 'token', row: 'lookUps' | 'bytes' | 'ms' | 'stolen') => {
    if (measurement === undefined) return '–'
    const values = measurement[lane]
    const value = number.format(values[row])
    return row === 'stolen' && lane === 'token' ? table.stolen(value, number.format(values.elsewhere)) : value
  }
  return html`<table class="findings">
    <caption class="for-readers">${table.lead}</caption>
    <thead>
      <tr>
        <th scope="col">${table.quantity}</th>
        ${lanes.map((lane) => html`<th scope="col" class="lane-${lane} lane-name">${laneNames[lane]}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${(['lookUps', 'bytes', 'ms', 'stolen'] as const).map(
        (row) => html`<tr>
          <th scope="row">${table.rows[row]}</th>
          ${lanes.map((lane) => html`<td>${cell(lane, row)}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>`
}

function keysView(stage: Stage, state: ResultState) {
  const { texts } = stage
  const { keys } = texts
  return html`<details class="fold">
    <summary>${keys.title}</summary>
    <p>${keys.text}</p>
    <button type="button" aria-disabled=${state.running !== undefined} @click=${() => void state.run('keys', stage)}>${keys.run}</button>
    <p role="status" class="note">${state.running === 'keys' ? texts.running : nothing}</p>
    <ol>
      ${state.keys?.map(
        ({ event, here, there, kids }) => html`<li>
          ${keys.events[event]}
          <span class="note">${keys.responses(here, there, kids.map((kid) => kid.slice(0, 6)).join(', '))}</span>
        </li>`,
      )}
    </ol>
  </details>`
}
