// The picture of the five servers behind a balancer.
import { html, nothing, svg } from 'lit/html.js'
import { filled } from '../texts/texts.ts'
import { pictureBeside } from './copy-svg.ts'
import { type Hit, type Way, wayNames, ways } from './experiments.ts'
import { copyView } from './lane-view.ts'
import type { Chips } from './picture-view.ts'
import type { Stage } from './stage.ts'

const width = 330
const rowY = 92
const storeY = 196
const servers = [1, 2, 3, 4, 5]
const xOf = (server: number) => 35 + (server - 1) * 65

/** `hits`: undefined before the run. */
export function balancerView(
  stage: Stage,
  hits: Readonly<Record<Way, readonly Hit[]>> | undefined,
  chips: Chips,
) {
  const { texts, player } = stage
  const madeBy = (way: Way) => hits?.[way].slice(0, player.at) ?? []
  const counted = (made: readonly Hit[]) =>
    filled(
      texts.counted,
      made.filter(({ status }) => status === 200).length,
      made.reduce((sum, { lookUps }) => sum + lookUps, 0),
    )
  return html`<div class="three">
    ${wayNames.map(
      (way) => html`<figure class="picture card lane-${ways[way]}">
        <figcaption class="lane-name">${texts.balancer[way]}</figcaption>
        <div class="canvas">${drawing(stage, way, madeBy(way))}</div>
        <div class="chips">${chips(`${ways[way]} ${way}`, player.at > 0 && player.at === hits?.[way].length)}</div>
        <p class="hint counted">${hits && counted(madeBy(way))}</p>
        ${copyView(texts, texts.copySvg, pictureBeside)}
      </figure>`,
    )}
  </div>`
}

function drawing({ texts: { actors, things } }: Stage, way: Way, hits: readonly Hit[]) {
  const tone = `tone-${ways[way]}`
  const store = svg`<g class="place"><rect x="45" y=${storeY} width="240" height="38" rx="10"></rect></g>
    <g class="thing ${tone}"><text x="165" y=${storeY + 24} text-anchor="middle">${actors.store}: ${things.row}</text></g>`
  return svg`<svg viewBox="0 0 ${width} 240" width="100%" aria-hidden="true">
    ${servers.map((server) => svg`<g class="arrow tone-plain"><line x1=${width / 2} y1="48" x2=${xOf(server)} y2=${rowY}></line></g>`)}
    <g class="place"><rect x="105" y="14" width="120" height="34" rx="10"></rect><text class="place-name" x="165" y="36" text-anchor="middle">${actors.balancer}</text></g>
    ${servers.map((server) => [serverView(server, hits), heldView(way, server)])} ${way === 'store' ? store : nothing}
  </svg>`
}

const tones: Readonly<Record<string, string>> = { '?': 'plain', 200: 'good' }

function serverView(server: number, hits: readonly Hit[]) {
  const status = hits.find((one) => one.server === server)?.status ?? '?'
  return svg`<g class="place server tone-${tones[status] ?? 'bad'}">
    <rect x=${xOf(server) - 27} y=${rowY} width="54" height="62" rx="10"></rect>
    <text class="place-name" x=${xOf(server)} y=${rowY + 20} text-anchor="middle">${server}</text>
    <text class="verdict" x=${xOf(server)} y=${rowY + 54} text-anchor="middle">${status}</text>
  </g>`
}

function heldView(way: Way, server: number) {
  const x = xOf(server)
  if (way === 'store')
    return svg`<g class="arrow tone-session"><line x1=${x} y1=${rowY + 62} x2="165" y2=${storeY}></line></g>`
  if (way === 'memory' && server !== 1) return nothing
  return svg`<g class="thing tone-${ways[way]}"><circle cx=${x} cy=${rowY + 32} r="6"></circle></g>`
}
