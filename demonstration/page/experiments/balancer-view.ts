// The picture of the five servers behind a balancer.
import { html, nothing, svg } from 'lit/html.js'
import type { Exchange } from '../../server/api.ts'
import { filled } from '../../texts/texts.ts'
import type { Stage } from '../demonstration-page.ts'
import { copySvgView } from '../picture/copy.ts'
import { statusOf } from '../picture/hops.ts'
import type { Chips } from '../picture/picture-view.ts'
import { type Box, lineShape, middleOf, placeShape, textShape } from '../picture/shapes.ts'
import { type Way, wayNames, ways } from './experiments.ts'

const balancer: Box = { x: 105, y: 14, w: 120, h: 34 }
const store: Box = { x: 45, y: 196, w: 240, h: 38 }
const serverBox = (server: number): Box => ({ x: 8 + (server - 1) * 65, y: 92, w: 54, h: 62 })

/** `hits`: undefined before the run. */
export function balancerView(
  stage: Stage,
  hits: Readonly<Record<Way, readonly Exchange[]>> | undefined,
  chips: Chips,
) {
  const { texts, player } = stage
  const figure = (way: Way) => {
    const made = hits?.[way].slice(0, player.at) ?? []
    const accepted = made.filter((hit) => statusOf(hit) === 200).length
    const lookUps = made
      .flatMap(({ steps }) => steps)
      .filter(({ name }) => name.startsWith('store.'))
    return html`<figure class="picture card lane-${ways[way]}">
      <figcaption class="lane-name">${texts.balancer[way]}</figcaption>
      <div class="canvas">${drawing(stage, way, made)}</div>
      <div class="chips">${chips(`${ways[way]} ${way}`, made.length > 0 && made.length === hits?.[way].length)}</div>
      <p class="hint counted">${hits && filled(texts.counted, accepted, lookUps.length)}</p>
      ${copySvgView(texts)}
    </figure>`
  }
  return html`<div class="three">${wayNames.map(figure)}</div>`
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
