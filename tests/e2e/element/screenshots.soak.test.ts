// The pictures of the elements in README.md and the documents, taken of the gallery (tests/support/pages/pictures.ts).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
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

/** What the bell's page displays: a list of orders, as an application has it. */
const orders = `<tr><th>Order</th><th>Customer</th><th>Placed</th><th>Total</th></tr>
  <tr><td>10482</td><td>Nordwind GmbH</td><td>today</td><td>€ 1,240.00</td></tr>
  <tr><td>10481</td><td>Atelier Marchand</td><td>today</td><td>€ 318.50</td></tr>
  <tr><td>10480</td><td>Okafor &amp; Daughters</td><td>yesterday</td><td>€ 2,075.20</td></tr>
  <tr><td>10479</td><td>Café Lumière</td><td>yesterday</td><td>€ 96.40</td></tr>
  <tr><td>10478</td><td>Hansen Boats</td><td>19 November</td><td>€ 12,900.00</td></tr>
  <tr><td>10477</td><td>Studio Vermeer</td><td>19 November</td><td>€ 450.00</td></tr>`
const orderStyles = `main.one { grid-template-columns: minmax(0, 1fr) }
  table, td { border: 0 solid light-dark(#e4e5ec, #2f313c) }
  table { inline-size: 100%; border-width: 1px; border-spacing: 0; border-radius: 14px; background: light-dark(#fff, #18191f) }
  th, td { padding: 0.75rem 1.25rem; text-align: start }
  td { border-block-start-width: 1px }
  th { font-size: 0.875rem; font-weight: 500 }`

async function showOrders(page: Page): Promise<void> {
  await page.evaluate(
    ([rows = '', styles = '']) => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(styles)
      document.adoptedStyleSheets.push(sheet)
      const table = document.createElement('table')
      table.innerHTML = rows
      document.querySelector('section')?.append(table)
    },
    [orders, orderStyles],
  )
}

async function take({ isOpen, selector, ...look }: Picture): Promise<Buffer> {
  const page = await gallery.open(look)
  try {
    if (isOpen) {
      await showOrders(page)
      await openBell(page)
    }
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
