// Builds the site as `npm run website` does and opens it in a real Chromium: links, accessibility,
// both themes, a narrow screen, the search. SCREENSHOTS=folder keeps a picture of each page that
// axe checks.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, posix } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { Chromium } from '../tests/support/chromium.ts'
import { violationsIn } from '../tests/support/pages/axe.ts'
import { type Item, linksIn } from './pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const built = join(root, 'website/.vitepress/dist')
const narrow = { width: 390, height: 844 }
const wide = { width: 1280, height: 800 }
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

const { status, stdout, stderr } = spawnSync('npm', ['run', 'website'], {
  cwd: root,
  encoding: 'utf8',
})
assert.equal(status, 0, stdout + stderr)
const site: { base: string; sidebar: Item[] } = JSON.parse(
  readFileSync(join(root, 'website/dist/site.json'), 'utf8'),
)
const pages = globSync('**/*.html', { cwd: built }).filter((path) => path !== '404.html')

/** A folder is its index.html, as at a host of static files. */
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://site')
  const path = fileAt(pathname)
  if (path === undefined) response.writeHead(404).end()
  else
    response
      .writeHead(200, { 'content-type': types[extname(path)] ?? 'text/plain' })
      .end(readFileSync(path))
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const browser = await Chromium.start()
after(async () => {
  await browser[Symbol.asyncDispose]()
  server.close()
  server.closeAllConnections()
})

function fileAt(pathname: string): string | undefined {
  if (!pathname.startsWith(site.base)) return undefined
  const path = join(built, decodeURIComponent(pathname.slice(site.base.length)))
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path
  return existsSync(file) ? file : undefined
}

type Opened = { page: Page; complaints: string[]; elsewhere: string[] }

/** `elsewhere` has the requests that left the site. */
async function profile(colorScheme: 'light' | 'dark', viewport: typeof wide): Promise<Opened> {
  const context = await browser.newContext({
    colorScheme,
    viewport,
    reducedMotion: 'reduce',
    locale: 'en',
  })
  const page = await context.newPage()
  const complaints: string[] = []
  const elsewhere: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !url.startsWith('data:')) elsewhere.push(url)
  })
  page.on(
    'response',
    (response) =>
      response.status() >= 400 && complaints.push(`${response.status()} ${response.url()}`),
  )
  return { page, complaints, elsewhere }
}

const at = (path: string) => `${origin}${site.base}${path}`
const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

test('every link inside the site leads to a page and to a heading of it', () => {
  const texts = new Map(pages.map((path) => [path, readFileSync(join(built, path), 'utf8')]))
  const ids = new Map(
    [...texts].map(([path, text]) => [
      path,
      new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  )
  let followed = 0
  const broken = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/<(?:a|img|script|link|iframe)\b[^>]*? (?:href|src)="([^"]+)"/g)].flatMap(
      ([, address = '']) => {
        const link = new URL(address.replaceAll('&amp;', '&'), at(path))
        if (link.origin !== origin) return []
        followed++
        const file = fileAt(link.pathname)
        if (file === undefined) return [`${path} links to ${address}, which does not exist`]
        const anchor = decodeURIComponent(link.hash.slice(1))
        const has = anchor === '' || ids.get(posix.relative(built, file))?.has(anchor)
        return has ? [] : [`${path} links to ${address}, which has no such heading`]
      },
    ),
  )
  assert.deepEqual([...new Set(broken)], [])
  assert.ok(followed > pages.length * 20, `only ${followed} links`)
})

test('a Markdown file lies beside each page, its links lead to files, and llms.txt and llms-full.txt have all of them', () => {
  const files = globSync('**/*.md', { cwd: built })
  const withPage = pages
    .filter((path) => !/^(gallery|demonstration)\//.test(path))
    .map((path) => path.replace(/\.html$/, '.md'))
  assert.deepEqual(files.toSorted(), withPage.toSorted())
  const broken = [...files, 'llms.txt'].flatMap((file) =>
    linksIn(readFileSync(join(built, file), 'utf8'))
      .map(({ target }) => posix.join(posix.dirname(file), target.replace(/#.*/, '')))
      .filter((target) => !existsSync(join(built, target)))
      .map((target) => `${file} links to ${target}`),
  )
  assert.deepEqual(broken, [])
  const full = readFileSync(join(built, 'llms-full.txt'), 'utf8')
  for (const file of files) assert.ok(full.includes(readFileSync(join(built, file), 'utf8')), file)
  const listed = linksIn(readFileSync(join(built, 'llms.txt'), 'utf8')).map(({ target }) =>
    target.replace(/#.*/, ''),
  )
  const unlisted = files.filter((file) => !listed.includes(file)).sort()
  assert.deepEqual(unlisted, ['docs/index.md', 'index.md', 'see.md'])
})

/**
 * Returns the front page, the pages of the site's own, and the first page of each door and of the
 * API.
 */
function tenPages(): string[] {
  const firstOfDoors = site.sidebar
    .slice(1)
    .map(({ items }) => items?.[0]?.link?.slice(1).replace(/#.*/, '') ?? '')
  const ten = new Set([
    '',
    'see.html',
    'api/health.html',
    'docs/config.html',
    ...firstOfDoors,
    'SECURITY.html',
  ])
  assert.equal(ten.size, 10, [...ten].join(' '))
  return [...ten]
}

for (const theme of ['light', 'dark'] as const)
  for (const [size, viewport] of Object.entries({ narrow, wide }))
    test(`ten pages are accessible, complete and not wider than the screen, ${theme}, ${viewport.width} px`, async (t) => {
      const { page, complaints, elsewhere } = await profile(theme, viewport)
      t.after(() => page.context().close())
      const faults: string[] = []
      for (const path of tenPages()) {
        await page.goto(at(path), { waitUntil: 'networkidle' })
        const { SCREENSHOTS } = process.env
        if (SCREENSHOTS)
          await page.screenshot({
            path: join(SCREENSHOTS, `${path.replaceAll('/', '-') || 'front'}-${size}-${theme}.png`),
          })
        if ((await overflowOf(page)) > 0) faults.push(`${path} scrolls sideways`)
        faults.push(...(await violationsIn(page)).map((violation) => `${path}: ${violation}`))
      }
      assert.deepEqual(
        { faults, complaints, elsewhere },
        { faults: [], complaints: [], elsewhere: [] },
      )
    })

test('no page scrolls sideways on a narrow screen, and none requests anything from elsewhere', async (t) => {
  const { page, elsewhere } = await profile('light', narrow)
  t.after(() => page.context().close())
  const sideways: string[] = []
  for (const path of pages) {
    await page.goto(at(path), { waitUntil: 'load' })
    if ((await overflowOf(page)) > 0) sideways.push(path)
  }
  assert.deepEqual({ sideways, elsewhere }, { sideways: [], elsewhere: [] })
})

test('pictures and the gallery follow the switch of the site', async (t) => {
  const { page } = await profile('light', wide)
  t.after(() => page.context().close())
  await page.goto(at('see.html'), { waitUntil: 'networkidle' })
  const shown = () =>
    page.evaluate(() => [
      [...document.querySelectorAll<HTMLImageElement>('main img')]
        .filter((one) => one.checkVisibility())
        .every((one) => one.src.includes('-light')),
      document.querySelector('iframe')?.src.includes('theme=light'),
    ])
  assert.deepEqual(await shown(), [true, true])
  await page.locator('.VPNavBarAppearance button').click()
  await page.locator('img.in-dark').first().waitFor()
  assert.deepEqual(await shown(), [false, false])
  const gallery = page.frameLocator('iframe')
  await gallery.locator('carillon-inbox [part=item-title]').first().waitFor()
  const addresses = await gallery
    .locator('carillon-inbox :is(a[href], img[src])')
    .evaluateAll((all) =>
      all.map(
        (one) => new URL((one as HTMLAnchorElement).href ?? (one as HTMLImageElement).src).pathname,
      ),
    )
  assert.ok(addresses.length > 5)
  assert.deepEqual(
    addresses.filter((address) => fileAt(address) === undefined),
    [],
  )
})

test('the search finds a page by its words and opens it by the keyboard', async (t) => {
  const { page, elsewhere } = await profile('dark', narrow)
  t.after(() => page.context().close())
  await page.goto(at(''), { waitUntil: 'networkidle' })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('searchbox').fill('bulk act')
  await page.locator('.VPLocalSearchBox .result').first().waitFor()
  const { SCREENSHOTS } = process.env
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, 'search-narrow-dark.png') })
  assert.equal(await overflowOf(page), 0)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\.html#/)
  assert.deepEqual(elsewhere, [])
})
