// `npm run pictures` writes the pictures of docs/images; look at each before you commit it. With
// SCREENSHOTS=1 alone, a test takes them anew: they may not differ by more than a machine can
// cause.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { type AnimationFrame, encodeAnimation, encodePng, type Pixels } from './png.ts'

export const imageFolder = new URL('../../../docs/images/', import.meta.url)
const names = [
  'front',
  'live',
  'live-still',
  'bell',
  'inbox',
  'arabic',
  'sign-in-page',
  'inbox-page',
  'demonstration-page',
  'operator-page',
] as const
export type PictureName = `${(typeof names)[number]}-${'light' | 'dark'}`
export const files = names.flatMap((name) => [`${name}-dark.png`, `${name}-light.png`])
const maxBytes = 160_000
const maxRecordingBytes = 900_000
/** A recording plays so often, and then stays at its last frame. */
const plays = 3
/**
 * Machines smooth text differently; a changed colour of the background or of a button differs far
 * more than this share.
 */
const tolerance = 0.02

/** `page` is any page of the browser: it decodes both pictures. */
export async function assertPicture(name: PictureName, taken: Buffer, page: Page): Promise<void> {
  const file = new URL(`${name}.png`, imageFolder)
  if (process.env.SCREENSHOTS === '1') write(file, encodePng(await pixelsOf(page, taken)))
  const kept = readFileSync(file)
  assert.ok(kept.length < maxBytes, `${name}.png has ${kept.length} bytes`)
  await assertSame(name, { kept, taken }, page)
}

/** All `frames` have one size, and a time each. `page`: as above, at an address that is secure. */
export async function assertRecording(
  name: PictureName,
  frames: readonly { picture: Buffer; ms: number }[],
  page: Page,
): Promise<void> {
  const file = new URL(`${name}.png`, imageFolder)
  if (process.env.SCREENSHOTS === '1') {
    const decoded: AnimationFrame[] = []
    for (const { picture, ms } of frames)
      decoded.push({ pixels: await pixelsOf(page, picture), ms })
    write(file, encodeAnimation(decoded, plays))
  }
  const kept = readFileSync(file)
  assert.ok(kept.length < maxRecordingBytes, `${name}.png has ${kept.length} bytes`)
  const recording = await decodeRecording(page, kept)
  assert.deepEqual(
    recording.delays,
    frames.map(({ ms }) => ms),
  )
  assert.equal(recording.repetitions, plays - 1)
  await assertSame(name, { kept: recording.last, taken: frames.at(-1)?.picture as Buffer }, page)
}

function write(file: URL, content: Buffer): void {
  mkdirSync(imageFolder, { recursive: true })
  writeFileSync(file, content)
}

async function assertSame(
  name: PictureName,
  { kept, taken }: { kept: Buffer; taken: Buffer },
  page: Page,
) {
  const percent = ((await difference(page, kept, taken)) * 100).toFixed(1)
  assert.ok(
    Number(percent) < tolerance * 100,
    `${percent} % of the pixels of ${name}.png differ. Write it again with \`npm run pictures\`.`,
  )
}

async function pixelsOf(page: Page, picture: Buffer): Promise<Pixels> {
  const { bytes, ...size } = await page.evaluate(async (base64) => {
    const image = await createImageBitmap(
      new Blob([Uint8Array.fromBase64(base64)], { type: 'image/png' }),
    )
    const { width, height } = image
    const context = new OffscreenCanvas(width, height).getContext(
      '2d',
    ) as OffscreenCanvasRenderingContext2D
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    return { width, height, bytes: new Uint8Array(data.buffer).toBase64() }
  }, picture.toString('base64'))
  const { buffer } = Uint8Array.from(Buffer.from(bytes, 'base64'))
  return { ...size, colors: new Uint32Array(buffer) }
}

/**
 * Decodes as the browser plays it: milliseconds for each frame, repetitions after the first time,
 * and the last frame as PNG.
 */
async function decodeRecording(page: Page, recording: Buffer) {
  const { last, ...times } = await page.evaluate(async (base64) => {
    const data = Uint8Array.fromBase64(base64)
    const decoder = new ImageDecoder({ data, type: 'image/png' })
    await decoder.tracks.ready
    const { frameCount, repetitionCount } = decoder.tracks.selectedTrack as ImageTrack
    const canvas = new OffscreenCanvas(1, 1)
    const delays: number[] = []
    for (let frameIndex = 0; frameIndex < frameCount; frameIndex++) {
      const { image } = await decoder.decode({ frameIndex })
      delays.push((image.duration ?? 0) / 1000)
      Object.assign(canvas, { width: image.displayWidth, height: image.displayHeight })
      canvas.getContext('2d')?.drawImage(image, 0, 0)
      image.close()
    }
    const blob = await canvas.convertToBlob()
    return { delays, repetitions: repetitionCount, last: (await blob.bytes()).toBase64() }
  }, recording.toString('base64'))
  return { ...times, last: Buffer.from(last, 'base64') }
}

/** Throws if the sizes differ. */
export async function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
  return page.evaluate(
    async (pictures64) => {
      const [a, b] = await Promise.all(
        pictures64.map(async (base64) => {
          const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
          const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
          const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
          context?.drawImage(image, 0, 0)
          return context?.getImageData(0, 0, image.width, image.height) as ImageData
        }),
      )
      if (!a || !b || a.width !== b.width || a.height !== b.height)
        throw new Error(
          `The sizes differ: ${a?.width} x ${a?.height} and ${b?.width} x ${b?.height}.`,
        )
      let different = 0
      for (let at = 0; at < a.data.length; at += 4) {
        const distance = [0, 1, 2].map((part) =>
          Math.abs((a.data[at + part] ?? 0) - (b.data[at + part] ?? 0)),
        )
        if (Math.max(...distance) > 24) different++
      }
      return different / (a.data.length / 4)
    },
    [one, other].map((picture) => picture.toString('base64')),
  )
}
