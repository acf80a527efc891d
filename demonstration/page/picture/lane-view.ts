import { html, nothing } from 'lit/html.js'
import type { Exchange } from '../../server/api.ts'
import type { Stage } from '../demonstration-page.ts'
import { exchangeView } from '../proof/exchange-view.ts'
import { type Lane, lanes } from '../world.ts'
import { copySvgView } from './copy.ts'
import type { Hop } from './hops.ts'
import { actorAt, type Scene } from './picture.ts'
import { type Chips, pictureView } from './picture-view.ts'
import { barView } from './player.ts'

const maxOpen = 7

export function headView(title: string, see: string) {
  return html`<header class="step-head">
    <h2 id="place" tabindex="-1">${title}</h2>
    <p class="see">${see}</p>
  </header>`
}

export type LaneMoment = {
  scene: Scene
  exchanges: readonly Exchange[]
  chips?: Chips
  notes?: readonly string[]
}
type BothLanes = { moment: unknown; laneOf: (lane: Lane) => LaneMoment; acts: unknown }

export function lanesView(stage: Stage, { moment, laneOf, acts }: BothLanes) {
  const both = lanes.map(laneOf)
  const scenes = both.map(({ scene }) => scene)
  return html`${barView(stage, { moment, lanes: scenes.map(({ hops }) => hops), acts })}
    <div class="two">${both.map((one, at) => laneView(stage, lanes[at] ?? 'token', one, scenes))}</div>`
}

function laneView(stage: Stage, lane: Lane, of: LaneMoment, scenes: readonly Scene[]) {
  const { scene, exchanges, chips, notes = [] } = of
  const { texts, player, isWide } = stage
  const { hops } = scene
  const name = texts.laneNames[lane]
  const now = hops[Math.min(player.at, hops.length) - 1]
  const picture = { scene, beside: isWide ? scenes : [], chips: chips ?? (() => nothing) }
  const legend = legendView(stage, scene)
  const closer = html`<details class="fold card">
    <summary>${texts.closer}<span class="for-readers">: ${name}</span></summary>
    ${chips ? legend : nothing} ${copySvgView(texts)}
    ${exchanges.map((exchange) => exchangeView(stage, lane, exchange))}
    <p class="hint">${texts.visitField}</p>
  </details>`
  return html`<section class="lane card lane-${lane}" aria-label=${name}>
    <div class="lane-head">
      <h3 class="lane-name">${name}</h3>
      <p class="now tone-${now?.tone}">${now?.sentence}</p>
    </div>
    <figure class="picture">${pictureView(stage, picture)}</figure>
    ${chips ? nothing : legend}
    ${notes.map((note) => html`<p class="note ${player.at < hops.length ? 'waiting' : ''}">${note}</p>`)}
    ${exchanges.length === 0 ? nothing : closer}
  </section>`
}

function legendView(stage: Stage, scene: Scene) {
  const { texts, isWide } = stage
  const nameOf = (place: Hop['to']) => actorAt(stage, scene, place)
  const wayOf = ({ from, to }: Hop) =>
    from === to ? nameOf(to) : `${nameOf(from)} › ${nameOf(to)}`
  return html`<details class="picture" ?open=${isWide && scene.hops.length <= maxOpen}>
    <summary>${texts.inOrder}</summary>
    <ol class="legend">
      ${scene.hops.map((hop) => html`<li class="tone-${hop.tone}"><span class="way-of">${wayOf(hop)} · </span>${hop.sentence}</li>`)}
    </ol>
  </details>`
}
