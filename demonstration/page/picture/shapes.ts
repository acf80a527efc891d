import { nothing, svg } from 'lit/html.js'
import type { Tone } from './hops.ts'

export type Box = { x: number; y: number; w: number; h: number }
export type Point = readonly [x: number, y: number]
export type Lettering = { at: Point; room: number; anchor?: 'start' | 'middle' | 'end' }

let ruler: CanvasRenderingContext2D | null | undefined

export function textShape(text: string, { at: [x, y], room, anchor = 'middle' }: Lettering) {
  ruler ??= document.createElement('canvas').getContext('2d')
  if (ruler) ruler.font = '650 14px system-ui, sans-serif'
  const isLong = ruler && ruler.measureText(text).width > room
  return svg`<text x=${x} y=${y} text-anchor=${anchor} textLength=${isLong ? room : nothing} lengthAdjust="spacingAndGlyphs">${text}</text>`
}

export function rectShape({ x, y, w, h }: Box, radius: number) {
  return svg`<rect x=${x} y=${y} width=${w} height=${h} rx=${radius}></rect>`
}

export function placeShape(name: string, box: Box, content: unknown) {
  return svg`<g class="place">
    ${rectShape(box, 12)} <g class="place-name">${textShape(name, middleOf(box, 21))}</g> ${content}
  </g>`
}

export function thingShape(text: string, tone: Tone, box: Box) {
  return svg`<g class="thing tone-${tone}">${rectShape(box, 7)}${textShape(text, middleOf(box, 16))}</g>`
}

export function middleOf({ x, y, w }: Box, below: number): Lettering {
  return { at: [x + w / 2, y + below], room: w - 8 }
}

export const lineShape = (from: Point, to: Point) => svg`<path d="M${from} L${to}"></path>`

/** Arrows are horizontal or vertical. */
export function arrowShape(from: Point, to: Point) {
  const [dx, dy] = along(from, to, 8)
  return svg`<path d="M${from} L${to} l${-dx - dy / 2} ${dx / 2 - dy} M${to} l${dy / 2 - dx} ${-dx / 2 - dy}"></path>`
}

export function badgeShape(n: number, from: Point, to: Point) {
  const [dx, dy] = along(from, to, 14)
  const x = from[0] + dx
  const y = from[1] + dy
  return svg`<circle class="badge" cx=${x} cy=${y} r="8.5"></circle>
    <text class="badge-text" x=${x} y=${y + 4} text-anchor="middle">${n}</text>`
}

function along(from: Point, to: Point, length: number): Point {
  return [Math.sign(to[0] - from[0]) * length, Math.sign(to[1] - from[1]) * length]
}
