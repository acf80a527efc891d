// Draws a picture at one moment. Its places never move, also before a run.
import { html, nothing, svg } from 'lit/html.js'
import type { Stage } from '../demonstration-page.ts'
import type { Cell } from '../experiments/experiments.ts'
import type { Hop, PlaceId } from './hops.ts'
import { actorAt, type Scene, thingsAt } from './picture.ts'
import {
  arrowShape,
  type Box,
  badgeShape,
  type Lettering,
  type Point,
  placeShape,
  rectShape,
  textShape,
  thingShape,
} from './shapes.ts'

const places: readonly PlaceId[] = ['browser', 'server', 'store', 'other']
type Boxes = Record<PlaceId, Box>
const lineHeight = 26
/** On a narrow screen, the picture has this width in pixels and is scaled. */
const minWidth = 400

export type Chips = (cell: Cell, answer: boolean | undefined) => unknown
/** `beside`: pictures in line with this one. */
type Picture = { scene: Scene; beside: readonly Scene[]; chips: Chips }

export function pictureView(stage: Stage, { scene, beside, chips }: Picture) {
  const { at } = stage.player
  const width = Math.max(minWidth, stage.width)
  const boxes = boxesOf([scene, ...beside], width)
  const height = boxes.store.y + boxes.store.h + 2
  const drawn = scene.hops.map((hop, before) => ({
    ...lineOf(scene, boxes, hop),
    hop,
    n: before + 1,
  }))
  return html`<div class="canvas">
    ${svg`<svg width=${width} viewBox="0 0 ${width} ${height}" font-size="14" aria-hidden="true">
      ${places.map((place) => boxView(stage, scene, { place, box: boxes[place] }))}
      ${drawn.slice(0, at).map((one) => hopView(one, one.n === at))}
    </svg>`}
    ${drawn.map((one) => one.hop.cell && html`<div class="chips at-${one.label.anchor}" .style=${chipsStyle(one)}>${chips(one.hop.cell, one.n <= at ? one.hop.works : undefined)}</div>`)}
  </div>`
}

function chipsStyle({ label: { at, anchor } }: Drawn): string {
  return `left:${at[0]}px;top:${at[1] + (anchor === 'middle' ? 25 : 8)}px`
}

function kindOf({ from, to }: Hop): string {
  if (from === to) return `in ${from}`
  if (to === 'store') return 'store'
  return from === 'other' || to === 'other' ? 'other' : 'wire'
}

const ofKind = ({ hops }: Scene, kind: string) => hops.filter((hop) => kindOf(hop) === kind)

function heightsOf(scene: Scene): { top: number; gap: number; low: number } {
  const chips = scene.hops.some(({ cell }) => cell) ? 28 : 0
  const heightOf = (place: PlaceId) => {
    const works = ofKind(scene, `in ${place}`).map(linesOf)
    return 38 + works.reduce((sum, lines) => sum + lines, thingLines(scene, place)) * lineHeight
  }
  const wires = 28 + ofKind(scene, 'wire').length * 38 + chips
  const arrows = Math.max(ofKind(scene, 'store').length, ofKind(scene, 'other').length)
  return {
    top: Math.max(38 + 4 * lineHeight, heightOf('browser'), heightOf('server'), wires),
    gap: 28 + arrows * 18 + chips,
    low: Math.max(heightOf('store'), heightOf('other')),
  }
}

const linesOf = ({ cell }: Hop) => (cell ? 2 : 1)

function boxesOf(scenes: readonly Scene[], width: number): Boxes {
  const w = Math.min(220, width * 0.33)
  const heights = scenes.map(heightsOf)
  const top = Math.max(...heights.map((one) => one.top))
  const gap = Math.max(...heights.map((one) => one.gap))
  const lower = { y: top + gap, w, h: Math.max(...heights.map((one) => one.low)) }
  const upper = { y: 1, w, h: top }
  const right = width - w - 1
  return {
    browser: { x: 1, ...upper },
    server: { x: right, ...upper },
    other: { x: 1, ...lower },
    store: { x: right, ...lower },
  }
}

function thingLines({ states }: Scene, place: PlaceId): number {
  return Math.max(...states.map(({ things }) => things.filter(({ at }) => at === place).length))
}

/** `ends`: the left or upper first. */
type Line = { ends: readonly [Point, Point]; label: Required<Lettering> }
type Drawn = Line & { hop: Hop; n: number }

function lineOf(scene: Scene, boxes: Boxes, hop: Hop): Line {
  const kind = kindOf(hop)
  const all = ofKind(scene, kind)
  const nth = all.indexOf(hop)
  if (kind === 'wire') return wire(boxes, nth)
  if (kind === 'store') return down([boxes.server, boxes.store], nth, all.length)
  if (kind === 'other') return down([boxes.browser, boxes.other], nth, all.length)
  return work(boxes[hop.from], thingLines(scene, hop.from) + nth * linesOf(hop))
}

function work(box: Box, line: number): Line {
  const y = lineY(box, line)
  const at: Point = [box.x + 17, y + 11]
  const label = { at: [box.x + 30, y + 16], room: box.w - 34, anchor: 'start' } as const
  return { ends: [at, at], label }
}

function wire({ browser, server }: Boxes, nth: number): Line {
  const y = 42 + nth * 38
  const left = browser.x + browser.w
  const room = server.x - left - 8
  const label = { at: [left + room / 2 + 4, y - 12], room, anchor: 'middle' } as const
  return {
    ends: [
      [left, y],
      [server.x, y],
    ],
    label,
  }
}

/** Labels are on the inner side, where no arrow crosses them. */
function down([upper, lower]: readonly [Box, Box], nth: number, count: number): Line {
  const step = Math.min(34, (upper.w - 22) / Math.max(1, count - 1))
  const middle = upper.x + upper.w / 2
  const half = ((count - 1) / 2) * step
  const x = middle - half + nth * step
  const top = upper.y + upper.h
  const isRight = upper.x > upper.w
  const labelX = isRight ? middle - half - 14 : middle + half + 14
  return {
    ends: [
      [x, top],
      [x, lower.y],
    ],
    label: { at: [labelX, top + 18 + nth * 18], room: 1_000, anchor: isRight ? 'end' : 'start' },
  }
}

const lineY = ({ y }: Box, line: number) => y + 32 + line * lineHeight

function boxView(stage: Stage, scene: Scene, { place, box }: { place: PlaceId; box: Box }) {
  const things = thingsAt(scene, stage.player.at).filter(({ at }) => at === place)
  const content = things.map(({ text, tone }, line) =>
    thingShape(text, tone, { x: box.x + 8, y: lineY(box, line), w: box.w - 16, h: lineHeight - 4 }),
  )
  return placeShape(actorAt(stage, scene, place), box, content)
}

function hopView({ hop, n, ends, label }: Drawn, isNow: boolean) {
  const [first, second] = ends
  const isBack = hop.to === 'browser'
  const from = isBack ? second : first
  const to = isBack ? first : second
  const isWork = hop.from === hop.to
  const kind = isWork ? 'work' : 'arrow'
  return svg`<g class="${kind} tone-${hop.tone} ${isNow ? 'now' : ''}">
    ${isWork ? nothing : arrowShape(from, to)}
    ${kindOf(hop) === 'wire' && hop.label !== '?' ? envelopeAt(label.at[0], to[1]) : nothing}
    <g class="label">${textShape(hop.label, label)}</g>
    ${badgeShape(n, from, to)}
  </g>`
}

function envelopeAt(x: number, y: number) {
  return svg`<g class="envelope">${rectShape({ x: x - 11, y: y - 7.5, w: 22, h: 15 }, 2)}<path d="M${x - 11} ${y - 6} l11 8 l11 -8"></path></g>`
}
