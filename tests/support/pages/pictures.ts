// For tests: pictures in docs/images. `SCREENSHOTS=1` writes them; look at each before you commit it. Without that, a test renders them again: what is
// displayed may not differ from the pictures by more than a machine can cause.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

export const imageFolder = new URL('../../../docs/images/', import.meta.url)
/** Each in light and dark. */
const names = ['bell', 'inbox', 'arabic', 'sign-in-page', 'inbox-page', 'demonstration-page'] as const
export type PictureName = `${(typeof names)[number]}-${'light' | 'dark'}`
export const files = names.flatMap((name) => [`${name}-dark.png`, `${name}-light.png`])
const maxBytes = 100_000
/** Of the pixels. Text is smoothed differently by machines; a changed colour of the background or of a button is far above. */
const tolerance = 0.02

/** `page` is any page of the browser: it decodes both pictures. */
export async function assertPicture(name: PictureName, taken: Buffer, page: Page): Promise<void> {
  const file = new URL(`${name}.png`, imageFolder)
  if (process.env.SCREENSHOTS === '1') {
    mkdirSync(imageFolder, { recursive: true })
    writeFileSync(file, taken)
  }
  const kept = readFileSync(file)
  assert.ok(kept.length < maxBytes, `${name}.png has ${kept.length} bytes`)
  const percent = ((await difference(page, kept, taken)) * 100).toFixed(1)
  assert.ok(
    Number(percent) < tolerance * 100,
    `${percent} % of the pixels of ${name}.png differ. Write it again with SCREENSHOTS=1.`,
  )
}

/** The share of pixels that differ visibly. Throws if the sizes differ. */
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
        throw new Error(`The sizes differ: ${a?.width} x ${a?.height} and ${b?.width} x ${b?.height}.`)
      let different = 0
      for (let at = 0; at < a.data.length; at += 4) {
        const distance = [0, 1, 2].map((part) => Math.abs((a.data[at + part] ?? 0) - (b.data[at + part] ?? 0)))
        if (Math.max(...distance) > 24) different++
      }
      return different / (a.data.length / 4)
    },
    [one, other].map((picture) => picture.toString('base64')),
  )
}
