// The pictures of README.md and of the documents, taken of the gallery. `SCREENSHOTS=1` writes them; look at each before you commit
// it. Without that, the test renders them again: the design may not differ from the pictures by more than a machine can cause.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Gallery, type Look, openBell } from '../../support/gallery.ts'

const folder = new URL('../../../docs/images/', import.meta.url)
const maxBytes = 100_000
/** Of the pixels. Text is smoothed differently by machines; a changed colour of the background or of a button is far above. */
const tolerance = 0.02

const gallery = await Gallery.start()
after(() => gallery[Symbol.asyncDispose]())

type Picture = Look & { name: string; isOpen?: boolean; selector: string }

const pictures: Picture[] = (['light', 'dark'] as const).flatMap((theme) => [
  { name: `bell-${theme}`, state: 'bell', theme, isOpen: true, selector: '#page', width: 880, height: 760 },
  { name: `inbox-${theme}`, state: 'many', theme, selector: 'carillon-inbox', width: 640, height: 860 },
  { name: `arabic-${theme}`, state: 'arabic', theme, selector: 'carillon-inbox', width: 640, height: 860 },
])

async function take({ isOpen, selector, ...look }: Picture): Promise<Buffer> {
  const page = await gallery.open(look)
  try {
    if (isOpen) await openBell(page)
    await page.mouse.move(0, 0)
    return await page.locator(selector).screenshot({ animations: 'disabled', caret: 'hide' })
  } finally {
    await page.close()
  }
}

/** The share of pixels that differ visibly. The browser decodes both pictures. Throws if their sizes differ. */
async function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
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

for (const picture of pictures)
  test(`docs/images/${picture.name}.png displays the elements as they are`, async () => {
    const taken = await take(picture)
    const file = new URL(`${picture.name}.png`, folder)
    if (process.env.SCREENSHOTS === '1') {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, taken)
    }
    const kept = readFileSync(file)
    assert.ok(kept.length < maxBytes, `${kept.length} bytes`)
    const page = await gallery.open({ state: 'empty' })
    const share = await difference(page, kept, taken)
    await page.close()
    assert.ok(
      share < tolerance,
      `${(share * 100).toFixed(1)} % of the pixels differ. Write it again with SCREENSHOTS=1.`,
    )
  })

test('the comparison of pictures sees a changed theme', async () => {
  const [light, dark] = await Promise.all(pictures.filter(({ state }) => state === 'many').map(take))
  const page = await gallery.open({ state: 'empty' })
  assert.ok((await difference(page, light as Buffer, dark as Buffer)) > 0.5)
  await page.close()
})

test('docs/images has no picture that no test takes', () => {
  assert.deepEqual(
    readdirSync(folder).filter((file) => !pictures.some(({ name }) => `${name}.png` === file)),
    [],
  )
})
