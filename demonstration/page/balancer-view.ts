// The picture of the five servers behind a balancer: what each did with its requests, and how often the database was read.
import { html, nothing, svg } from 'lit/html.js'
import type { Hit, Way } from './experiments.ts'
import type { Stage } from './stage.ts'

const [width, rowY, storeY] = [330, 92, 196]
const servers = [1, 2, 3, 4, 5]
const xOf = (server: number) => 35 + (server - 1) * 65
const tones = { memory: 'session', store: 'session', key: 'token' } as const

/** `hits`: undefined before the experiment has run. */
export function balancerView(stage: Stage, hits: Readonly<Record<Way, readonly Hit[]>> | undefined) {
  const { texts } = stage
  return html`<div class="three">
    ${(['memory', 'store', 'key'] as const).map((way) => {
      const made = hits?.[way] ?? []
      const accepted = made.filter(({ isAccepted }) => isAccepted).length
      return html`<figure class="picture lane-${tones[way]}">
        <figcaption class="lane-name">${texts.balancer[way]}</figcaption>
        ${drawing(stage, way, made)}
        <p class="counted">${hits === undefined ? nothing : texts.balancer.counted(accepted, lookUpsOf(made))}</p>
        <ol class="for-readers">${made.map(({ server, isAccepted }) => html`<li>${server}: ${isAccepted ? 200 : 401}</li>`)}</ol>
      </figure>`
    })}
  </div>`
}

const lookUpsOf = (hits: readonly Hit[]) => hits.reduce((sum, { lookUps }) => sum + lookUps, 0)

function drawing({ texts: { places, things } }: Stage, way: Way, hits: readonly Hit[]) {
  const tone = `tone-${tones[way]}`
  return svg`<svg viewBox="0 0 ${width} 240" width="100%" aria-hidden="true">
    ${servers.map((server) => svg`<g class="arrow tone-plain"><line x1=${width / 2} y1="48" x2=${xOf(server)} y2=${rowY}></line></g>`)}
    <g class="place"><rect x="105" y="14" width="120" height="34" rx="10"></rect><text class="place-name" x="165" y="36" text-anchor="middle">${places.balancer}</text></g>
    ${servers.map((server) =>
      serverView(
        server,
        hits.filter((hit) => hit.server === server),
      ),
    )}
    ${
      way === 'store'
        ? svg`<g class="place"><rect x="75" y=${storeY} width="180" height="38" rx="10"></rect></g>
          <g class="thing ${tone}"><text x="165" y=${storeY + 24} text-anchor="middle">${places.store}: ${things.row}</text></g>`
        : nothing
    }
    ${servers.map((server) => heldView(way, server, things))}
  </svg>`
}

function serverView(server: number, hits: readonly Hit[]) {
  const accepted = hits.filter(({ isAccepted }) => isAccepted).length
  const tone = hits.length === 0 ? 'plain' : accepted === hits.length ? 'good' : 'bad'
  return svg`<g class="place server tone-${tone}">
    <rect x=${xOf(server) - 27} y=${rowY} width="54" height="62" rx="10"></rect>
    <text class="place-name" x=${xOf(server)} y=${rowY + 20} text-anchor="middle">${server}</text>
    <text class="verdict" x=${xOf(server)} y=${rowY + 54} text-anchor="middle">${hits.length === 0 ? '' : accepted === hits.length ? '200' : '401'}</text>
  </g>`
}

/** What a server has: the session that it keeps alone, a way to the database, or the public key. */
function heldView(way: Way, server: number, { row, publicKey }: Stage['texts']['things']) {
  const x = xOf(server)
  if (way === 'store')
    return svg`<g class="arrow tone-session"><line x1=${x} y1=${rowY + 62} x2="165" y2=${storeY}></line></g>`
  if (way === 'memory' && server !== 1) return nothing
  return svg`<g class="thing tone-${tones[way]}"><title>${way === 'key' ? publicKey : row}</title><circle cx=${x} cy=${rowY + 32} r="6"></circle></g>`
}
