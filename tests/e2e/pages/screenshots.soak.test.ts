// The pictures of the service's own pages in README.md, taken of a real service with a fixed time (tests/support/pages/pictures.ts).
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, test } from 'node:test'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { assertPicture, files, imageFolder } from '../../support/pages/pictures.ts'

// The host of passkeys, and a mail server: the sign-in page then offers all that it can without a provider.
const pages = await BrowserPages.start({
  host: 'localhost',
  env: { CARILLON_SMTP_URL: 'smtp://127.0.0.1:2525', CARILLON_MAIL_FROM: 'office@harbour.example' },
})
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

const minuteMs = 60_000
const ann = await service.user('ann')
// With one user alone, the inbox page has the first steps.
await service.user('ben')
for (const [title, body, category, minutes] of [
  ['Welcome to the harbour office', 'Your berth is number 14. The water is on.', 'office', 60 * 26],
  [
    'Storm warning from Saturday noon',
    'Check your mooring lines, and take in what could fly.',
    'weather',
    60 * 5,
  ],
  ['Invoice 2026-117', 'Berth 14, January. Due within 30 days.', 'invoices', 55],
  ['The fuel station is open again', undefined, 'office', 14],
  ['A parcel has arrived for you', 'Collect it at the office until six.', 'office', 3],
] as const) {
  await service.deliver({ to: ann, title, category, ...(body && { body }) })
  service.pass(minutes * minuteMs)
}

await markOldestRead(2)

async function markOldestRead(count: number): Promise<void> {
  const proof = await service.signIn(ann, 'stateful')
  const { items } = await service.list(proof)
  for (const { id } of items.slice(-count))
    await service.patch(`/api/notifications/${id}/read`, proof)
}

type Picture = {
  name: 'sign-in-page' | 'inbox-page' | 'demonstration-page'
  path: string
  width?: number
  height: number
  isSignedIn?: boolean
  ready(opened: BrowserPage): Promise<void>
}

const pictures: Picture[] = [
  {
    name: 'sign-in-page',
    path: '/sign-in',
    height: 620,
    ready: ({ page }) => page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor(),
  },
  {
    name: 'inbox-page',
    path: '/inbox',
    height: 720,
    isSignedIn: true,
    async ready({ page }) {
      await page.getByRole('article').nth(4).waitFor()
      await page.getByRole('combobox').waitFor()
    },
  },
  {
    name: 'demonstration-page',
    path: '/demonstration',
    width: 1100,
    height: 636,
    // The pictures of the two lanes differ most in its third step; the times and keys in them are a
    // few pixels.
    async ready(opened) {
      const { page } = opened
      opened.expects(/^401 GET/)
      for (const step of [/^Start/, /^Next: Sign in/, /^Next: With proof/])
        await page.getByRole('button', { name: step }).click()
      await page.getByRole('button', { name: /^Next: Use it/ }).waitFor()
      await page.getByText('The signature is valid').waitFor()
      await page
        .getByRole('navigation', { name: 'The demonstration' })
        .evaluate((steps) => scrollTo(0, steps.getBoundingClientRect().top + scrollY - 16))
    },
  },
]

for (const picture of pictures)
  for (const theme of ['light', 'dark'] as const)
    test(`docs/images/${picture.name}-${theme}.png displays the page as it is`, async () => {
      const { name, path, width = 960, height, isSignedIn, ready } = picture
      await using opened = await pages.open(path, {
        theme,
        width,
        height,
        now: service.now(),
        ...(isSignedIn && { user: ann }),
      })
      await ready(opened)
      await opened.page.mouse.move(0, 0)
      const taken = await opened.page.screenshot({ animations: 'disabled', caret: 'hide' })
      await assertPicture(`${name}-${theme}`, taken, opened.page)
    })

test('docs/images has the pictures that tests take, and no other', () => {
  assert.deepEqual(readdirSync(imageFolder).sort(), files.toSorted())
})
