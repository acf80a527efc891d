// Draws a picture: four places, what each keeps, numbered arrows, and an envelope that travels along them. Below it stands the same as a list.
import { ref } from 'lit/directives/ref.js'
import { html, nothing, svg } from 'lit/html.js'
import type { Hop, PlaceId, Scene, Thing } from './picture.ts'

const places: readonly PlaceId[] = ['browser', 'server', 'store', 'other']
const lineHeight = 26
const wireHeight = 40
/** A longer list would take more room than the picture. */
const maxOpen = 6
/** The average letter of a label, in pixels. */
const letterWidth = 6.4
const hopMs = 750

type Box = { x: number; y: number; w: number; h: number }
type Point = readonly [x: number, y: number]
type Drawn = { hop: Hop; n: number; from: Point; to: Point }

/** `width`: in pixels. The envelope of a new picture travels once. */
export function pictureView(scene: Scene, { title, width }: { title: string; width: number }) {
  const { names, hops } = scene
  const wayOf = ({ from, to }: Hop) => (from === to ? names[to] : `${names[from]} › ${names[to]}`)
  const legend = html`<ol class="legend" aria-label=${title}>
    ${hops.filter(({ sentence }) => sentence !== '').map((hop) => html`<li class="tone-${hop.tone}"><span class="way-of">${wayOf(hop)} · </span>${hop.sentence}</li>`)}
  </ol>`
  return html`<figure class="picture">
    ${drawing(scene, width)}
    ${hops.length > maxOpen ? html`<details><summary>${title}</summary>${legend}</details>` : legend}
  </figure>`
}

function drawing(scene: Scene, width: number) {
  const boxes = boxesOf(scene, width)
  const height = boxes.store.y + boxes.store.h + 2
  const drawn = drawnHops(scene, boxes)
  const stops = drawn.flatMap(({ from, to }) => [from, to])
  return svg`<svg width=${width} height=${height} viewBox="0 0 ${width} ${height}" aria-hidden="true">
    ${places.map((place) => boxView(scene, place, boxes[place], drawn))}
    ${drawn.map((one) => (one.hop.from === one.hop.to ? nothing : arrowView(one)))}
    <g class="traveller" opacity="0" data-stops=${JSON.stringify(stops)} ${ref(play)}>${envelope()}</g>
  </svg>`
}

/** `work`: what a place does by itself. Wires lie between browser and server; the others go down, to the place of that name. */
type Kind = 'work' | 'wire' | 'store' | 'other'

function kindOf({ from, to }: Hop): Kind {
  if (from === to) return 'work'
  if (to === 'store') return 'store'
  return from === 'other' || to === 'other' ? 'other' : 'wire'
}

function boxesOf({ hops, things }: Scene, width: number): Record<PlaceId, Box> {
  const w = Math.min(190, Math.max(104, Math.floor(width * 0.36)))
  const linesAt = (place: PlaceId) =>
    [...things.filter(({ at }) => at === place), ...hops.filter(({ from, to }) => from === place && to === place)]
      .length
  const heightOf = (place: PlaceId) => 38 + Math.max(1, linesAt(place)) * lineHeight
  const wires = hops.filter((hop) => kindOf(hop) === 'wire').length
  const top = Math.max(heightOf('browser'), heightOf('server'), 24 + wires * wireHeight)
  // Room below the upper boxes for the arrows down; those to the other server have two labels.
  const lowerY = top + (hops.some(({ to }) => to === 'other') ? 66 : 46)
  const lower = { y: lowerY, w, h: Math.max(heightOf('store'), heightOf('other')) }
  const upper = { y: 1, w, h: top }
  const right = width - w - 1
  return {
    browser: { x: 1, ...upper },
    server: { x: right, ...upper },
    other: { x: 1, ...lower },
    store: { x: right, ...lower },
  }
}

/** Wires lie one below the other, arrows down one beside the other. */
function drawnHops({ hops }: Scene, { browser, server, store, other }: Record<PlaceId, Box>): Drawn[] {
  const downs = hops.filter((hop) => kindOf(hop) === 'store').length
  const step = Math.min(34, (server.w - 22) / Math.max(1, downs - 1))
  const counts = { work: 0, wire: 0, store: 0, other: 0 }
  return hops.map((hop, at) => {
    const kind = kindOf(hop)
    const nth = counts[kind]++
    const wireY = 42 + nth * wireHeight
    const otherX = browser.x + 22 + nth * 34
    const storeX = server.x + server.w / 2 + (nth - (downs - 1) / 2) * step
    const box = hop.from === 'other' ? other : server
    const middle: Point = [box.x + box.w / 2, box.y + box.h / 2]
    const ends: Record<Kind, { from: Point; to: Point }> = {
      work: { from: middle, to: middle },
      wire: { from: [browser.x + browser.w, wireY], to: [server.x, wireY] },
      store: { from: [storeX, server.y + server.h], to: [storeX, store.y] },
      other: { from: [otherX, browser.y + browser.h], to: [otherX, other.y] },
    }
    const { from, to } = ends[kind]
    return { hop, n: at + 1, ...(hop.to === 'browser' ? { from: to, to: from } : { from, to }) }
  })
}

function boxView(scene: Scene, place: PlaceId, box: Box, drawn: readonly Drawn[]) {
  const { x, y, w, h } = box
  const works = drawn.filter(({ hop }) => hop.from === place && hop.to === place)
  const things = scene.things.filter(({ at }) => at === place)
  const lineY = (at: number) => y + 32 + at * lineHeight
  return svg`<g class="place">
    <rect x=${x} y=${y} width=${w} height=${h - 1} rx="12"></rect>
    <text class="place-name" x=${x + w / 2} y=${y + 21} text-anchor="middle">${scene.names[place]}</text>
    ${things.map((thing, at) => thingView(thing, { x: x + 8, y: lineY(at), w: w - 16 }))}
    ${works.map(({ hop, n }, at) => workView(hop, n, { x: x + 8, y: lineY(things.length + at), w: w - 34 }))}
  </g>`
}

function thingView({ text, tone }: Thing, { x, y, w }: Omit<Box, 'h'>) {
  return svg`<g class="thing tone-${tone}">
    <rect x=${x} y=${y} width=${w} height=${lineHeight - 5} rx="7"></rect>
    ${fitted(text, [x + w / 2, y + 15], w - 8, 'middle')}
  </g>`
}

function workView({ label, tone }: Hop, n: number, { x, y, w }: Omit<Box, 'h'>) {
  return svg`<g class="work tone-${tone}">${badge(n, [x + 9, y + 11])}${fitted(label, [x + 22, y + 15], w, 'start')}</g>`
}

/** A text that is narrowed if its room is too small for it. */
function fitted(text: string, [x, y]: Point, room: number, anchor: 'start' | 'middle') {
  const length = text.length * letterWidth > room ? room : nothing
  return svg`<text x=${x} y=${y} text-anchor=${anchor} textLength=${length} lengthAdjust="spacingAndGlyphs">${text}</text>`
}

/** An arrow from left to right that is turned into its direction, and what belongs to its kind: number, label, envelope. */
function arrowView(drawn: Drawn) {
  const { hop, from, to } = drawn
  const dx = to[0] - from[0]
  const dy = to[1] - from[1]
  const length = Math.abs(dx + dy)
  const turned = `translate(${from}) rotate(${(Math.atan2(dy, dx) * 180) / Math.PI})`
  const middle: Point = [from[0] + dx / 2, from[1] + dy / 2]
  return svg`<g class="arrow tone-${hop.tone}">
    <g class="tip" transform=${turned}><line x2=${length}></line><path d="M${length - 8} -4 L${length} 0 L${length - 8} 4"></path></g>
    ${dy === 0 ? wireView(drawn, middle, length) : downView(drawn, middle)}
  </g>`
}

function wireView({ hop, n, from }: Drawn, [x, y]: Point, length: number) {
  return svg`<g transform="translate(${x} ${y})">${envelope()}</g>
    <g class="label">${fitted(hop.label, [x, y - 12], length - 8, 'middle')}</g>
    ${badge(n, [from[0] + 14 * Math.sign(x - from[0]), y])}`
}

/** The arrows to the other server and back have their labels on the same side, one above the other. */
function downView({ hop, n }: Drawn, [x, y]: Point) {
  const [right, below] = hop.to === 'other' ? [48, -9] : [14, 16]
  const label = svg`<text class="label" x=${x + right} y=${y + below}>${hop.label}</text>`
  return svg`${hop.to === 'store' ? nothing : label} ${badge(n, [x, y])}`
}

function badge(n: number, [x, y]: Point) {
  return svg`<circle class="badge" cx=${x} cy=${y} r="8.5"></circle><text class="badge-text" x=${x} y=${y + 4} text-anchor="middle">${n}</text>`
}

const envelope = () =>
  svg`<g class="envelope"><rect x="-11" y="-7.5" width="22" height="15" rx="2"></rect><path d="M-11 -6 L0 2 L11 -6"></path></g>`

/** Moves the envelope along the arrows, unless the reader prefers no motion: the numbers say the order, too. */
function play(traveller: Element | undefined): void {
  // lit calls it at each rendering.
  if (!(traveller instanceof SVGElement) || 'played' in traveller.dataset) return
  traveller.dataset.played = ''
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  const stops: Point[] = JSON.parse(traveller.dataset.stops ?? '[]')
  const hops = stops.length / 2
  const frames = stops.map(([x, y], at) => ({
    transform: `translate(${x}px, ${y}px)`,
    opacity: 1,
    offset: Math.ceil(at / 2) / hops,
  }))
  traveller.animate(frames, { duration: hops * hopMs })
}
