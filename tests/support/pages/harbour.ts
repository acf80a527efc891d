// Harbour is an application whose pages have the elements of a real service, at its origin, as
// behind a proxy. Fonts, faces and look are those of the gallery.
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { files as galleryFiles } from '../../../element/gallery/serve.ts'
import type { DeliveryRequest } from '../../../server/delivery/deliver.ts'
import type { TestService, TestUser } from '../service.ts'

export type SiteFile = { contentType: string; body: string | Buffer }

const shared = Object.fromEntries(
  Object.entries(galleryFiles)
    .filter(([path]) => path !== '/')
    .map(([path, [contentType, url]]) => [path, { contentType, body: readFileSync(url) }]),
)

const styles = `main.one { display: block; min-block-size: auto }
  nav { min-block-size: 2.5rem }
  h1 { padding: 0 0 0.75rem; font-size: 1.375rem }
  table, td { border: 0 solid light-dark(#e4e5ec, #2f313c) }
  table { inline-size: 100%; border-width: 1px; border-spacing: 0; border-radius: 14px; background: light-dark(#fff, #18191f) }
  th, td { padding: 0.75rem 1.25rem; text-align: start; white-space: nowrap }
  td { border-block-start-width: 1px }
  th { font-size: 0.875rem; font-weight: 500 }`

const orders = `Order | Customer | Placed | Total
  10482 | Nordwind GmbH | today | € 1,240.00
  10481 | Atelier Marchand | today | € 318.50
  10480 | Okafor &amp; Daughters | yesterday | € 2,075.20
  10479 | Café Lumière | yesterday | € 96.40
  10478 | Hansen Boats | 19 November | € 12,900.00
  10477 | Studio Vermeer | 19 November | € 450.00
  10476 | Nordwind GmbH | 18 November | € 1,612.00`
const customers = `Customer | Town | Orders | Since
  Nordwind GmbH | Kiel | 14 | 2024
  Hansen Boats | Svendborg | 9 | 2025`

function tableOf(text: string): string {
  const [head = [], ...rows] = text
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const rowOf = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table>${rowOf(head, 'th')}${rows.map((cells) => rowOf(cells, 'td')).join('')}</table>`
}

function pageOf(content: string, language = 'en'): SiteFile {
  const body = `<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Harbour</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/gallery.css">
  <style>${styles}</style>
  ${content}
</html>`
  return { contentType: 'text/html; charset=utf-8', body }
}

const script = '<script type="module" src="/carillon-inbox.js"></script>'
const pageWithBell = (heading: string, table: string) =>
  pageOf(`${script}
  <nav aria-label="Harbour"><a href="/orders">Harbour</a><carillon-bell></carillon-bell></nav>
  <main class="one"><h1>${heading}</h1>${tableOf(table)}</main>`)
const listIn = (language: string) =>
  pageOf(`${script}<main class="one"><carillon-inbox></carillon-inbox></main>`, language)

export const harbour: Readonly<Record<string, SiteFile>> = {
  ...shared,
  '/orders': pageWithBell('Orders', orders),
  '/customers': pageWithBell('Customers', customers),
  '/list': listIn('en'),
  '/list/ar': listIn('ar'),
  /** An empty page is a place for a picture of pages (frame.ts). */
  '/empty': pageOf(''),
}

type Notice = Omit<DeliveryRequest, 'recipients'> & { minutesAgo: number; isRead?: boolean }

/** Harbour has sent these to Ann, the oldest first. */
const notices: readonly Notice[] = [
  {
    minutesAgo: 2990,
    isRead: true,
    title: 'Welcome to Harbour',
    body: 'This is where your notifications appear.',
  },
  {
    minutesAgo: 1560,
    isRead: true,
    title: 'Jonas Weber joined the team',
    body: 'Jonas can now see the orders.',
    category: 'Team',
    actor: { name: 'Jonas Weber', imageUrl: '/jonas-weber.svg' },
  },
  {
    minutesAgo: 190,
    isRead: true,
    title: 'The export of 480 orders is complete',
    body: 'The file is available for seven days.',
    category: 'Reports',
    icon: 'check',
  },
  {
    minutesAgo: 64,
    title: 'Delivery to Hansen Boats is late',
    body: 'The carrier says **Tuesday**.',
    format: 'markdown',
    category: 'Deliveries',
    icon: 'warning',
    actions: [
      { label: 'Track it', url: '/orders/10478/delivery' },
      { label: 'Tell the customer', url: '/orders/10478/message' },
    ],
  },
  {
    minutesAgo: 18,
    title: 'Ada Okafor mentioned you',
    body: '“Can we send 10480 today? They moved.”',
    category: 'Comments',
    actor: { name: 'Ada Okafor', imageUrl: '/ada-okafor.svg' },
    icon: 'message',
  },
  {
    minutesAgo: 2,
    title: 'Order 10482 is paid',
    body: 'Nordwind GmbH, € 1,240.00',
    category: 'Orders',
    icon: 'money',
  },
]

/** Moves the time of the service, which starts in January, to the day of the orders. */
export function passToOrders(service: TestService): void {
  service.pass(Date.UTC(2026, 10, 22, 9) - service.now())
}

/** Each is as old as it says when this resolves. */
export async function deliverNotices(service: TestService, to: TestUser): Promise<void> {
  const proof = await service.signIn(to, 'stateful')
  for (const [index, { minutesAgo, isRead, ...content }] of notices.entries()) {
    const [id] = await service.deliver({ to, ...content })
    if (isRead) await service.patch(`/api/notifications/${id}/read`, proof)
    service.pass((minutesAgo - (notices[index + 1]?.minutesAgo ?? 0)) * 60_000)
  }
}

/** Images are loaded when they come into view, so only those are waited for. */
export async function listed(page: Page, count: number): Promise<void> {
  const articles = page.getByRole('article')
  await articles.nth(count - 1).waitFor()
  for (const image of await page.locator('img').all())
    if (await image.evaluate((one) => one.getBoundingClientRect().bottom < innerHeight))
      await image.evaluate((one: HTMLImageElement) => one.decode())
}
