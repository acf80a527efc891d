// The pictures of the elements in the documents: in pages of an application, with a real service (tests/support/pages/harbour.ts).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { samples } from '../../../element/gallery/samples.ts'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { harbour, listed, passToOrders } from '../../support/pages/harbour.ts'
import { assertPicture, difference, type PictureName } from '../../support/pages/pictures.ts'
import type { TestUser } from '../../support/service.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

const readers = { en: await service.user('ann'), ar: await service.user('aya') }
await deliverSamples()

type Picture = {
  name: PictureName
  theme: 'light' | 'dark'
  language: keyof typeof readers
  path: string
  width: number
  height: number
  ready(opened: BrowserPage): Promise<void>
}

const listAlone = {
  path: '/list',
  width: 640,
  height: 860,
  ready: ({ page }: BrowserPage) => listed(page, 7),
}
const pictures = (['light', 'dark'] as const).flatMap((theme): Picture[] => [
  {
    name: `bell-${theme}`,
    theme,
    language: 'en',
    path: '/orders',
    width: 880,
    height: 665,
    ready: openBell,
  },
  { name: `inbox-${theme}`, theme, language: 'en', ...listAlone },
  { name: `arabic-${theme}`, theme, language: 'ar', ...listAlone, path: '/list/ar' },
])

/** Each reader gets the samples of their language, each at its time. The last three stay unread. */
async function deliverSamples(): Promise<void> {
  passToOrders(service)
  const all = Object.entries(readers).map(([language, to]) => ({
    to,
    list: samples(language, service.now()).toReversed(),
  }))
  const newest = service.now()
  const ages = all[0]?.list.map(({ createdAt }) => newest - Date.parse(createdAt)) ?? []
  for (const [index, age] of ages.entries()) {
    for (const { to, list } of all) await send(to, list[index] as ReturnType<typeof samples>[0])
    service.pass(age - (ages[index + 1] ?? 0))
  }
}

async function send(to: TestUser, sample: ReturnType<typeof samples>[0]): Promise<void> {
  const { title, body, url, category, actor, icon, actions, format, count, read } = sample
  const known = Object.entries({ body, url, category, actor, icon, actions }).filter(
    ([, value]) => value !== null,
  )
  const content = { title, format, ...Object.fromEntries(known) }
  let id: string | undefined
  for (let times = 0; times < count; times++)
    [id] = await service.deliver({
      to,
      ...content,
      ...(count > 1 && { key: 'renotify', renotify: true }),
    })
  if (read)
    await service.patch(`/api/notifications/${id}/read`, await service.signIn(to, 'stateful'))
}

async function openBell({ page }: BrowserPage): Promise<void> {
  await page.locator('carillon-bell [part=bell]').click()
  await listed(page, 7)
}

async function take({ path, language, theme, width, height, ready }: Picture): Promise<Buffer> {
  const look = {
    theme,
    language,
    width,
    height,
    now: service.now(),
    user: readers[language],
    site: harbour,
  }
  await using opened = await pages.open(path, look)
  await ready(opened)
  const { page } = opened
  await page.mouse.move(0, 0)
  const options = { animations: 'disabled', caret: 'hide' } as const
  return await (path === '/orders' ? page : page.locator('carillon-inbox')).screenshot(options)
}

for (const picture of pictures)
  test(`docs/images/${picture.name}.png displays the elements as they are`, async () => {
    await using decoder = await pages.open('/empty', { site: harbour })
    await assertPicture(picture.name, await take(picture), decoder.page)
  })

test('the comparison of pictures sees a changed theme', async () => {
  const [light, dark] = await Promise.all(
    pictures.filter(({ name }) => name.startsWith('inbox-')).map(take),
  )
  await using decoder = await pages.open('/empty', { site: harbour })
  assert.ok((await difference(decoder.page, light as Buffer, dark as Buffer)) > 0.5)
})
