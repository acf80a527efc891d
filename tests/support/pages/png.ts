// Encodes small PNG files, with up to 256 colours, and animated ones (APNG):
// https://www.w3.org/TR/png-3/. Each further frame is the rectangle that changed.
import { crc32, deflateSync } from 'node:zlib'

/** Each pixel is a number, row by row, as the bytes red, green, blue and 255. */
export type Pixels = { width: number; height: number; colors: Uint32Array }
export type AnimationFrame = { pixels: Pixels; ms: number }
type Area = { x: number; y: number; width: number; height: number }

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const maxColors = 256
/**
 * The most frequent colours make a shadow smooth; the others are for small parts, such as a face.
 */
const maxFrequent = 176

export function encodePng(pixels: Pixels): Buffer {
  const colors = new Palette([pixels])
  const data = deflated(pixels, wholeOf(pixels), colors)
  return Buffer.concat([
    signature,
    header(pixels),
    colors.chunk,
    chunk('IDAT', data),
    chunk('IEND'),
  ])
}

/** The animation plays `plays` times, and then stays at its last frame. */
export function encodeAnimation(frames: readonly AnimationFrame[], plays: number): Buffer {
  const [first] = frames
  if (!first) throw new Error('an animation has a frame')
  const colors = new Palette(frames.map(({ pixels }) => pixels))
  const parts = frames.map(({ pixels, ms }, index) => {
    const before = frames[index - 1]?.pixels
    const area = before ? changedArea(before, pixels) : wholeOf(pixels)
    return { area, ms, data: deflated(pixels, area, colors) }
  })
  let sequence = 0
  const chunks = parts.map(({ area, ms, data }, index) => {
    const control = chunk(
      'fcTL',
      numbers(sequence++, area.width, area.height, area.x, area.y),
      delayOf(ms),
    )
    return Buffer.concat([
      control,
      index === 0 ? chunk('IDAT', data) : chunk('fdAT', numbers(sequence++), data),
    ])
  })
  const control = chunk('acTL', numbers(frames.length, plays))
  return Buffer.concat([
    signature,
    header(first.pixels),
    control,
    colors.chunk,
    ...chunks,
    chunk('IEND'),
  ])
}

/** Each colour of the pictures becomes the nearest of these. */
class Palette {
  readonly chunk: Buffer
  readonly #colors: readonly number[]
  readonly #indexes: Map<number, number>

  constructor(pictures: readonly Pixels[]) {
    const counts = new Map<number, number>()
    for (const { colors } of pictures)
      for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
    const sorted = [...counts].sort(([, one], [, other]) => other - one).map(([color]) => color)
    const frequent = sorted.slice(0, maxFrequent)
    let difference = 0
    let chosen = withRare(frequent, sorted, difference)
    while (chosen.length > maxColors) chosen = withRare(frequent, sorted, ++difference)
    this.#colors = chosen
    this.#indexes = new Map(chosen.map((color, index) => [color, index]))
    this.chunk = chunk('PLTE', Buffer.from(chosen.flatMap(partsOf)))
  }

  indexOf(color: number): number {
    const known = this.#indexes.get(color)
    if (known !== undefined) return known
    const distances = this.#colors.map((one) => distance(one, color))
    const nearest = distances.indexOf(Math.min(...distances))
    this.#indexes.set(color, nearest)
    return nearest
  }
}

/** Adds the colours that differ more than this from all before them. It ends with one too many. */
function withRare(
  frequent: readonly number[],
  all: readonly number[],
  difference: number,
): number[] {
  const chosen = [...frequent]
  for (const color of all) {
    if (chosen.length > maxColors) break
    if (chosen.every((one) => distance(one, color) > difference ** 2)) chosen.push(color)
  }
  return chosen
}

function partsOf(color: number): [red: number, green: number, blue: number] {
  return [color & 255, (color >> 8) & 255, (color >> 16) & 255]
}

function distance(one: number, other: number): number {
  const [red, green, blue] = partsOf(one)
  const [otherRed, otherGreen, otherBlue] = partsOf(other)
  return (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2
}

function wholeOf({ width, height }: Pixels): Area {
  return { x: 0, y: 0, width, height }
}

/** A frame has at least one pixel, also if nothing changed. */
function changedArea(before: Pixels, after: Pixels): Area {
  let left = after.width
  let top = after.height
  let right = 0
  let bottom = 0
  for (let at = 0; at < after.colors.length; at++) {
    if (before.colors[at] === after.colors[at]) continue
    const x = at % after.width
    const y = (at - x) / after.width
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = y
  }
  if (left > right) return { x: 0, y: 0, width: 1, height: 1 }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

/** Rows are indexes of colours, each after the type of its filter: none. */
function deflated({ width, colors }: Pixels, area: Area, palette: Palette): Buffer {
  const rows = Buffer.alloc((area.width + 1) * area.height)
  let at = 0
  for (let y = area.y; y < area.y + area.height; y++) {
    at++
    for (let x = area.x; x < area.x + area.width; x++)
      rows[at++] = palette.indexOf(colors[y * width + x] ?? 0)
  }
  return deflateSync(rows, { level: 9, memLevel: 9 })
}

/** A pixel has eight bits, an index of the palette. */
function header({ width, height }: Pixels): Buffer {
  return chunk('IHDR', numbers(width, height), Buffer.from([8, 3, 0, 0, 0]))
}

/** The frame stays, and the next one is drawn over it. */
function delayOf(ms: number): Buffer {
  return Buffer.from([ms >> 8, ms & 255, 1000 >> 8, 1000 & 255, 0, 0])
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}

function chunk(type: string, ...data: Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), ...data])
  return Buffer.concat([numbers(content.length - 4), content, numbers(crc32(content))])
}
