// The pictures of the elements in README.md and the documents, taken of the gallery (tests/support/pages/pictures.ts).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Gallery, type Look, openBell } from '../../support/gallery.ts'
import { assertPicture, difference, type PictureName } from '../../support/pages/pictures.ts'

const gallery = await Gallery.start()
after(() => gallery[Symbol.asyncDispose]())

type Picture = Look & { name: PictureName; isOpen?: boolean; selector: string }

const pictures = (['light', 'dark'] as const).flatMap((theme): Picture[] => [
  { name: `bell-${theme}`, state: 'bell', theme, isOpen: true, selector: '#page', width: 880, height: 760 },
  { name: `inbox-${theme}`, state: 'many', theme, selector: 'carillon-inbox', width: 640, height: 860 },
  {
    name: `arabic-${theme}`,
    state: 'many',
    language: 'ar',
    theme,
    selector: 'carillon-inbox',
    width: 640,
    height: 860,
  },
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

for (const picture of pictures)
  test(`docs/images/${picture.name}.png displays the elements as they are`, async () => {
    const page = await gallery.open({ state: 'empty' })
    await assertPicture(picture.name, await take(picture), page)
    await page.close()
  })

test('the comparison of pictures sees a changed theme', async () => {
  const [light, dark] = await Promise.all(pictures.filter(({ name }) => name.startsWith('inbox-')).map(take))
  const page = await gallery.open({ state: 'empty' })
  assert.ok((await difference(page, light as Buffer, dark as Buffer)) > 0.5)
  await page.close()
})
