// What the walk and the experiments share: the head of a place, and one lane with its picture and all that is folded below it.
import { html, nothing } from 'lit/html.js'
import type { Exchange } from '../server/api.ts'
import type { Scene } from './picture.ts'
import { pictureView } from './picture-view.ts'
import type { Stage } from './stage.ts'
import { closerView } from './wire-view.ts'
import type { Lane } from './world.ts'

/** `see`: the one sentence that says what to look at. */
export function headView({ number, title, see }: { number?: string; title: string; see: string }) {
  return html`<header class="step-head">
    ${number && html`<p class="step-number">${number}</p>`}
    <h2 id="place" tabindex="-1">${title}</h2>
    <p class="see">${see}</p>
  </header>`
}

/** `key`: names the moment. `exchanges`: undefined before they were sent. `more`: what else is folded. */
export type Moment = { scene: Scene; key: string; exchanges?: readonly Exchange[]; more?: unknown }

export function laneView(stage: Stage, lane: Lane, { scene, key, exchanges, more = nothing }: Moment) {
  const { texts, width } = stage
  const name = texts.laneNames[lane]
  const picture = { key: `${key} ${lane} ${exchanges?.[0]?.n}`, title: texts.picture(name), width }
  return html`<section class="lane lane-${lane} ${exchanges ? '' : 'is-planned'}" aria-label=${name}>
    <h3 class="lane-name">${name}</h3>
    ${pictureView(texts, scene, picture)} ${exchanges && closerView(stage, exchanges, { title: name, more })}
  </section>`
}
