// The five servers behind a balancer.
import { html, nothing, svg } from 'lit/html.js'
import type { Exchange } from '../../server/api.ts'
import { filled } from '../../texts/texts.ts'
import type { Stage } from '../demonstration-page.ts'
import { copySvgView } from '../picture/copy.ts'
import { isOfStore, statusOf } from '../picture/hops.ts'
import type { Chips } from '../picture/picture-view.ts'
import { barView } from '../picture/player.ts'
import { type Box, lineShape, middleOf, placeShape, textShape } from '../picture/shapes.ts'
import { type Way, wayNames, ways } from './experiments.ts'

const balancer: Box = { x: 105, y: 14, w: 120, h: 34 }
const store: Box = { x: 45, y: 196, w: 240, h: 38 }
const serverBox = (server: number): Box => ({ x: 8 + (server - 1) * 65, y: 92, w: 54, h: 62 })

type Hits = Readonly<Record<Way, readonly Exchange[]>>
/** `hits`: undefined before the run. */
type Servers = { hits: Hits | undefined; chips: Chips; acts: unknown }

export function balancerView(stage: Stage, { hits, chips, acts }: Servers) {
  const { texts, player } = stage
  const figure = (way: Way) => {
    const all = hits?.[way] ?? []
    const made = all.slice(0, player.at)
    const accepted = made.filter((hit) => statusOf(hit) === 200).length
    const isDone = hits !== undefined && made.length === all.length
    const lookUps = made.flatMap(({ steps }) => steps.filter(isOfStore)).length
    return html`<figure class="picture card lane-${ways[way]}">
      <figcaption class="lane-name">${texts.balancer[way]}</figcaption>
      <div class="canvas">${drawing(stage, way, made)}</div>
      <div class="chips">${chips(`${ways[way]} ${way}`, isDone ? accepted === all.length : undefined)}</div>
      <p class="hint counted">${hits && filled(texts.counted, accepted, lookUps)}</p>
      ${copySvgView(texts)}
    </figure>`
  }
  const statuses = (way: Way) =>
    (hits?.[way] ?? []).map((hit) => ({ sentence: `${texts.balancer[way]}: ${statusOf(hit)}` }))
  return html`${barView(stage, { moment: hits, lanes: wayNames.map(statuses), acts })}
    <div class="three">${wayNames.map(figure)}</div>`
}

function drawing({ texts: { actors, things } }: Stage, way: Way, hits: readonly Exchange[]) {
  const boxes = [1, 2, 3, 4, 5].map(serverBox)
  const row = svg`<g class="tone-session">
    ${boxes.map(({ x, w, y, h }) => lineShape([x + w / 2, y + h], [165, store.y]))}
    ${placeShape(`${actors.store}: ${things.row}`, store, nothing)}
  </g>`
  return svg`<svg viewBox="0 0 330 240" width="100%" font-size="14" aria-hidden="true">
    ${boxes.map(({ x, w, y }) => lineShape([165, 48], [x + w / 2, y]))}
    ${placeShape(actors.balancer, balancer, nothing)}
    ${boxes.map((box, at) => serverView(box, at + 1, { way, hits }))} ${way === 'store' ? row : nothing}
  </svg>`
}

type Played = { way: Way; hits: readonly Exchange[] }

function serverView(box: Box, server: number, { way, hits }: Played) {
  const hit = hits.find((one) => one.server === server)
  const status = hit && statusOf(hit)
  const isHolder = way === 'key' || (way === 'memory' && server === 1)
  const tones: Readonly<Record<number, string>> = { 200: 'good', 401: 'bad' }
  const dot = svg`<circle class="tone-${ways[way]}" cx=${box.x + 27} cy=${box.y + 32} r="6"></circle>`
  return placeShape(
    String(server),
    box,
    svg`${isHolder ? dot : nothing}
      <g class="tone-${tones[status ?? 0]}">${textShape(String(status ?? '?'), middleOf(box, 54))}</g>`,
  )
}
