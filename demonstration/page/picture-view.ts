// Draws a picture at one moment. Its places are the same at every moment, also before a run.
import { html, nothing, svg } from 'lit/html.js'
import type { Cell } from './experiments.ts'
import type { Hop, PlaceId } from './hops.ts'
import { type Scene, type Thing, thingsAt } from './picture.ts'

const places: readonly PlaceId[] = ['browser', 'server', 'store', 'other']
const lineHeight = 26
/** From this width in pixels, letters have the size of the text. */
const wideFrom = 420
const letters = { wide: 14, narrow: 11.5 }
const wireHeight = (width: number) => (width < wideFrom ? 36 : 42)

type Box = { x: number; y: number; w: number; h: number }
type Point = readonly [x: number, y: number]
type Drawn = { hop: Hop; n: number; from: Point; to: Point; labelAt: Point }

export type Chips = (cell: Cell, hasArrived: boolean) => unknown
/**
 * `beside`: pictures with which its places are in line. `width`: in pixels. `shown`: how many hops
 * have arrived.
 */
export type Picture = {
  scene: Scene
  beside: readonly Scene[]
  width: number
  shown: number
  chips: Chips
}

export function pictureView({ scene, beside, width, shown, chips }: Picture) {
  const boxes = boxesOf([scene, ...beside], width)
  const height = boxes.store.y + boxes.store.h + 2
  const all = drawnHops(scene, boxes)
  const size = width < wideFrom ? letters.narrow : letters.wide
  const drawn = all.filter(({ n }) => n <= shown)
  return html`<div class="canvas">
    ${svg`<svg width=${width} height=${height} viewBox="0 0 ${width} ${height}" font-size=${size} aria-hidden="true">
      ${places.map((place) => boxView(scene, { place, box: boxes[place], shown, size }, drawn))}
      ${drawn.map((one) => (one.hop.from === one.hop.to ? nothing : arrowView(one, { size, isNow: one.n === shown })))}
    </svg>`}
    ${all.map(({ hop, n, from, to }) => hop.cell && html`<div class="chips" .style=${placeOf(from, to)}>${chips(hop.cell, n <= shown)}</div>`)}
  </div>`
}

function placeOf(from: Point, to: Point): string {
  if (from[1] !== to[1]) return `left:${from[0] + 12}px;top:${Math.max(from[1], to[1]) - 34}px`
  return `left:${(from[0] + to[0]) / 2}px;top:${from[1] + 13}px;--shift:-50%`
}

/** Wires lie between browser and server; the other arrows go down. */
type Kind = 'work' | 'wire' | 'store' | 'other'

function kindOf({ from, to }: Hop): Kind {
  if (from === to) return 'work'
  if (to === 'store') return 'store'
  return from === 'other' || to === 'other' ? 'other' : 'wire'
}

function heightsOf(scene: Scene, width: number): { top: number; gap: number; low: number } {
  const { hops } = scene
  const hasChips = hops.some(({ cell }) => cell !== undefined)
  const linesAt = (place: PlaceId) => {
    const works = hops.filter(({ from, to }) => from === place && to === place)
    return thingLines(scene, place) + works.length + works.filter(({ cell }) => cell).length
  }
  const heightOf = (place: PlaceId) => 38 + Math.max(1, linesAt(place)) * lineHeight
  const countOf = (kind: Kind) => hops.filter((hop) => kindOf(hop) === kind).length
  const wires = 24 + countOf('wire') * wireHeight(width) + (hasChips ? 26 : 0)
  return {
    top: Math.max(
      heightOf('browser'),
      heightOf('server'),
      wires,
      hasChips ? 38 + 4 * lineHeight : 0,
    ),
    gap: Math.max(46, 18 + countOf('store') * 18, countOf('other') > 0 ? 90 : 0),
    low: Math.max(heightOf('store'), heightOf('other')),
  }
}

function boxesOf(scenes: readonly Scene[], width: number): Record<PlaceId, Box> {
  const w = Math.min(220, Math.max(104, Math.floor(width * 0.33)))
  const heights = scenes.map((scene) => heightsOf(scene, width))
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

function drawnHops(scene: Scene, boxes: Record<PlaceId, Box>): Drawn[] {
  const { browser, server, store, other } = boxes
  const downs = scene.hops.filter((hop) => kindOf(hop) === 'store').length
  const step = Math.min(34, (server.w - 22) / Math.max(1, downs - 1))
  const counts = { work: 0, wire: 0, store: 0, other: 0 }
  return scene.hops.map((hop, at) => {
    const kind = kindOf(hop)
    const nth = counts[kind]++
    const wireY = 42 + nth * wireHeight(server.x + server.w)
    const otherX = browser.x + 22 + nth * 34
    const storeX = server.x + server.w / 2 + (nth - (downs - 1) / 2) * step
    const box = boxes[hop.from]
    const line = thingLines(scene, hop.from) + nth * (hop.cell ? 2 : 1)
    const middle: Point = [box.x + box.w / 2, lineY(box, line) + 11]
    const ends: Record<Kind, { from: Point; to: Point }> = {
      work: { from: middle, to: middle },
      wire: { from: [browser.x + browser.w, wireY], to: [server.x, wireY] },
      store: { from: [storeX, server.y + server.h], to: [storeX, store.y] },
      other: { from: [otherX, browser.y + browser.h], to: [otherX, other.y] },
    }
    const { from, to } = ends[kind]
    const labelAt: Point = [storeX - nth * step - 14, server.y + server.h + 18 + nth * 18]
    return {
      hop,
      n: at + 1,
      labelAt,
      ...(hop.to === 'browser' ? { from: to, to: from } : { from, to }),
    }
  })
}

const lineY = ({ y }: Box, at: number) => y + 32 + at * lineHeight

type Placed = { place: PlaceId; box: Box; shown: number; size: number }

function boxView(scene: Scene, { place, box, shown, size }: Placed, drawn: readonly Drawn[]) {
  const { x, y, w, h } = box
  const works = drawn.filter(({ hop }) => hop.from === place && hop.to === place)
  const things = thingsAt(scene, shown).filter(({ at }) => at === place)
  const rows = works.flatMap((one) => (one.hop.cell ? [one, undefined] : [one]))
  const isLost = scene.isLost && place === 'store'
  return svg`<g class="place ${isLost ? 'lost tone-bad' : ''}">
    <rect x=${x} y=${y} width=${w} height=${h - 1} rx="12"></rect>
    <g class="place-name">${fitted(scene.names[place], { at: [x + w / 2, y + 21], room: w - 8, anchor: 'middle', size })}</g>
    ${things.map((thing, at) => thingView(thing, { x: x + 8, y: lineY(box, at), w: w - 16 }, size))}
    ${rows.map((one, at) => one && workView(one, { x: x + 8, y: lineY(box, thingLines(scene, place) + at), w: w - 34 }, size))}
  </g>`
}

function thingView({ text, tone }: Thing, { x, y, w }: Omit<Box, 'h'>, size: number) {
  return svg`<g class="thing tone-${tone}">
    <rect x=${x} y=${y} width=${w} height=${lineHeight - 4} rx="7"></rect>
    ${fitted(text, { at: [x + w / 2, y + 16], room: w - 8, anchor: 'middle', size })}
  </g>`
}

function workView({ hop, n }: Drawn, { x, y, w }: Omit<Box, 'h'>, size: number) {
  const label = fitted(hop.label, { at: [x + 22, y + 16], room: w, anchor: 'start', size })
  return svg`<g class="work tone-${hop.tone}">${badge(n, [x + 9, y + 11])}${label}</g>`
}

type Room = { at: Point; room: number; anchor: 'start' | 'middle' | 'end'; size: number }
let ruler: CanvasRenderingContext2D | null | undefined

/** A text that is too long is narrowed. */
function fitted(text: string, { at: [x, y], room, anchor, size }: Room) {
  ruler ??= document.createElement('canvas').getContext('2d')
  if (ruler) ruler.font = `650 ${size}px system-ui, sans-serif`
  const isLong = ruler && ruler.measureText(text).width > room
  return svg`<text x=${x} y=${y} text-anchor=${anchor} textLength=${isLong ? room : nothing} lengthAdjust="spacingAndGlyphs">${text}</text>`
}

type Look = { size: number; isNow: boolean }

function arrowView(drawn: Drawn, look: Look) {
  const { hop, from, to } = drawn
  const dx = to[0] - from[0]
  const dy = to[1] - from[1]
  const length = Math.abs(dx + dy)
  const turned = `translate(${from}) rotate(${(Math.atan2(dy, dx) * 180) / Math.PI})`
  const middle: Point = [from[0] + dx / 2, from[1] + dy / 2]
  return svg`<g class="arrow tone-${hop.tone} ${look.isNow ? 'now' : ''}">
    <g class="tip" transform=${turned}><line x2=${length}></line><path d="M${length - 8} -4 L${length} 0 L${length - 8} 4"></path></g>
    ${dy === 0 ? wireView(drawn, { middle, length }, look) : downView(drawn, middle, look)}
  </g>`
}

function wireView(
  { hop, n, from }: Drawn,
  { middle: [x, y], length }: { middle: Point; length: number },
  look: Look,
) {
  const label = fitted(hop.label, {
    at: [x, y - 12],
    room: length - 8,
    anchor: 'middle',
    size: look.size,
  })
  return svg`<g transform="translate(${x} ${y})">${hop.label === '?' ? nothing : envelope()}</g>
    <g class="label">${label}</g>
    ${badge(n, [from[0] + 14 * Math.sign(x - from[0]), y])}`
}

/** Labels of the arrows to the database are on the other side, so that they do not cross. */
function downView({ hop, n, labelAt }: Drawn, [x, y]: Point, { size }: Look) {
  const isStore = hop.to === 'store'
  const beside: Point = hop.to === 'other' ? [x + 48, y - 26] : [x + 14, y - 4]
  const place = isStore
    ? ({ at: labelAt, anchor: 'end' } as const)
    : ({ at: beside, anchor: 'start' } as const)
  return svg`<g class="label">${fitted(hop.label, { ...place, room: 1_000, size })}</g> ${badge(n, [x, y])}`
}

function badge(n: number, [x, y]: Point) {
  return svg`<circle class="badge" cx=${x} cy=${y} r="8.5"></circle><text class="badge-text" x=${x} y=${y + 4} text-anchor="middle">${n}</text>`
}

const envelope = () =>
  svg`<g class="envelope"><rect x="-11" y="-7.5" width="22" height="15" rx="2"></rect><path d="M-11 -6 L0 2 L11 -6"></path></g>`
