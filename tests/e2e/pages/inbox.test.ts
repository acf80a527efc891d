// The inbox page in a real Chromium: list, categories, languages, the end of a session, and a service that is gone.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { putCategory } from '../../../server/preferences/preferences.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { type BrowserPage, BrowserPages, becomes } from '../../support/pages/browser-page.ts'
import { soakTest } from '../../support/soak.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

async function userWithMail() {
  const user = await service.user()
  await service.deliver({ to: user, title: 'Invoice 7', category: 'billing' })
  await service.deliver({
    to: user,
    title: 'Tea is ready',
    body: 'In the kitchen',
    category: 'kitchen',
  })
  await service.deliver({ to: user, title: 'Door open' })
  return user
}

test('the link of a mail brings its notification into focus, and marks it as read only when the reader opens it', async () => {
  const user = await service.user()
  const [id] = await service.deliver({ to: user, title: 'Invoice 8' })
  await service.deliver({ to: user, title: 'Invoice 9' })
  await using opened = await pages.open(`/inbox#${id}`, { user })
  const { page } = opened
  await page.locator(`article:focus[data-id="${id}"]`).waitFor()
  const proof = await service.issueToken(user)
  const isRead = async () => (await service.get(`/api/notifications/${id}`, proof)).json().data.read
  assert.equal(await isRead(), false)
  await page.keyboard.press('Enter')
  await becomes(async () => String(await isRead()), 'true')
})

test('the link of a mail moves nothing any more once the reader has done something', async () => {
  const user = await service.user()
  const [id = ''] = await service.deliver({ to: user, title: 'Invoice 8' })
  for (let number = 0; number < 21; number++) await service.deliver({ to: user, title: 'Newer' })
  await using opened = await pages.open(`/inbox#${id}`, { user, height: 400 })
  const { page } = opened
  await page.getByRole('article').nth(19).waitFor()
  await page.keyboard.press('j')
  await page.mouse.wheel(0, 9_999)
  await page.getByText('Invoice 8').waitFor()
  await page
    .locator('carillon-inbox')
    .evaluate((inbox: HTMLElementTagNameMap['carillon-inbox']) => {
      inbox.requestUpdate()
      return inbox.updateComplete
    })
  await opened.hasFocus(/Newer/)
})

test('a signed-in user reads, filters and marks notifications; new ones arrive without a reload', async () => {
  const user = await userWithMail()
  await using opened = await pages.open('/inbox', { user })
  const { page } = opened
  await opened.heading('Inbox')
  await page.getByRole('article').nth(2).waitFor()
  await page.waitForFunction(() => document.title.startsWith('(3) Inbox'))
  await opened.isAccessible('inbox')

  const category = page.getByRole('combobox', { name: 'Category' })
  const options = () => category.locator('option').allTextContents()
  await becomes(async () => (await options()).join(), 'All categories,billing,kitchen')
  await category.selectOption('kitchen')
  await page.getByText('Invoice 7').waitFor({ state: 'detached' })
  await page.getByText('Tea is ready').waitFor()
  await becomes(async () => opened.path, '/inbox?category=kitchen')

  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.waitForFunction(() => document.title.startsWith('(2) Inbox'))
  await service.deliver({ to: user, title: 'Soup is ready', category: 'soup' })
  await category.locator('option', { hasText: 'soup' }).waitFor({ state: 'attached' })

  await page.reload()
  await page.getByText('Tea is ready').waitFor()
  await becomes(() => category.inputValue(), 'kitchen')
  await category.selectOption('All categories')
  await page.getByText('Soup is ready', { exact: true }).waitFor()
  await becomes(async () => opened.path, '/inbox')
})

test('the choice of a category names each as the list does, in the language of the reader, and has room for a long one', async () => {
  const user = await service.user()
  await service.store.write(updateUser, { userId: user.id, locale: 'de' })
  const label = JSON.stringify({ en: 'Orders', de: 'Bestellungen'.repeat(4) })
  const declared = {
    application: '',
    name: 'declared',
    label,
    description: null,
    mandatory: 0,
  } as const
  await service.store.write(putCategory, declared)
  await service.deliver({ to: user, title: 'Tee', category: 'declared' })
  await using opened = await pages.open('/inbox', { user, width: 390 })
  const select = opened.page.getByRole('combobox', { name: 'Kategorie' })
  const option = select.locator('option', { hasText: 'BestellungenBestellungen' })
  await option.waitFor({ state: 'attached' })
  const { x = 0, width = 0 } = (await select.boundingBox()) ?? {}
  assert.ok(x + width <= 374, `${x + width}`)
})

soakTest('page and element have the language of the browser, then that of the user', async () => {
  const user = await userWithMail()
  for (const [language, heading, category, markAll] of [
    ['de-CH', 'Posteingang', 'Kategorie', 'Alle als gelesen markieren'],
    ['fr', 'Boîte de réception', 'Catégorie', 'Tout marquer comme lu'],
  ] as const) {
    await using opened = await pages.open('/inbox', { user, language })
    await opened.heading(heading)
    await opened.page.getByRole('button', { name: markAll }).waitFor()
    await opened.page.getByRole('combobox', { name: category }).waitFor()
    await opened.isAccessible(`inbox-${language}`)
  }
  const change = {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...(await service.signIn(user, 'stateful')) },
  }
  assert.equal(
    (await service.request('/api/me', { ...change, body: JSON.stringify({ locale: 'de' }) }))
      .status,
    200,
  )
  await using opened = await pages.open('/inbox', { user, language: 'fr' })
  await opened.heading('Posteingang')
})

const actions = [
  { label: 'Accept', url: '/livez' },
  { label: 'Decline', url: '/livez' },
]

/** Returns how many rows are displayed whole, and where the titles begin. */
async function rowsOf({ page }: BrowserPage) {
  return page.locator('carillon-inbox').evaluate((inbox) => {
    const articles = [...(inbox.shadowRoot?.querySelectorAll('article') ?? [])]
    return {
      whole: articles.filter((article) => article.getBoundingClientRect().bottom <= innerHeight)
        .length,
      title: Math.max(
        ...articles.map(
          (one) => one.querySelector('[part=item-title]')?.getBoundingClientRect().left ?? 999,
        ),
      ),
    }
  })
}

test('a screen of 1280 x 860 has eight mixed rows or thirteen plain ones, and on a phone titles begin at 64 px', async () => {
  const mixed = await service.user()
  const plain = await service.user()
  for (let number = 1; number <= 14; number++) {
    const extra = [{}, { actions }, { icon: 'check' as const }][number % 3]
    const body =
      number % 5 === 0 ? {} : { body: 'What it is about, in one sentence. And a second one.' }
    await service.deliver({
      to: mixed,
      title: `Mixed ${number}`,
      category: 'news',
      ...body,
      ...extra,
    })
    await service.deliver({ to: plain, title: `Plain ${number}` })
  }
  for (const [user, least] of [
    [mixed, 8],
    [plain, 13],
  ] as const) {
    await using opened = await pages.open('/inbox', { user, height: 860 })
    await opened.page.getByRole('article').nth(13).waitFor()
    const { whole } = await rowsOf(opened)
    assert.ok(whole >= least, `${whole} rows`)
  }
  await using phone = await pages.open('/inbox', {
    user: mixed,
    width: 390,
    height: 844,
    isTelephone: true,
  })
  await phone.page.getByRole('article').nth(13).waitFor()
  const { title } = await rowsOf(phone)
  assert.ok(title <= 64, `${title} px`)
})

test('on a phone, the button for the preferences stands beside the title, in French too', async () => {
  await using opened = await pages.open('/inbox', {
    user: await userWithMail(),
    language: 'fr',
    width: 390,
  })
  const title = await opened.page.locator('h1').boundingBox()
  const button = await opened.page.locator('main a.button').boundingBox()
  assert.ok(title && button && button.x >= title.x + title.width)
  assert.ok(button.y < title.y + title.height && title.y < button.y + button.height)
})

test('a reader without a session gets the sign-in page, which leads back; so does the link after the session has ended', async () => {
  const response = await service.request('/inbox', {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  })
  assert.deepEqual(
    [response.status, response.headers.get('location')],
    [303, '/sign-in?return_to=%2Finbox'],
  )

  const user = await userWithMail()
  await using opened = await pages.open('/inbox', { user })
  await opened.page.getByText('Door open').waitFor()
  opened.expects(/^401 /)
  await opened.context.clearCookies()
  await service.signIn(user, 'stateful')
  await service.request('/api/me/sessions', {
    method: 'DELETE',
    headers: await service.signIn(user, 'stateful'),
  })
  const link = opened.page.locator('carillon-inbox').getByRole('link', { name: 'Sign in' })
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), '/sign-in?return_to=%2Finbox')
  const header = opened.page.locator('header.top')
  await header.getByRole('link', { name: 'Sign in' }).waitFor()
  assert.equal(await header.getByRole('button').count(), 0)
  assert.equal(await header.getByRole('link', { name: /Inbox|Account/ }).count(), 0)
  await opened.isAccessible('inbox-signed-out')
})

soakTest(
  'without a script the page says what to do, and so it does if the script of the element does not arrive',
  async () => {
    const user = await service.user()
    {
      await using opened = await pages.open('/inbox', { user, hasScript: false })
      await opened.heading('Inbox')
      await opened.page.locator('noscript p').waitFor()
      assert.ok(await opened.page.getByRole('button', { name: 'Sign out' }).isVisible())
    }
    await using opened = await pages.open('/', { user })
    opened.expects(/ERR_FAILED/)
    await opened.page.route(/carillon-inbox-[0-9a-f]+\.js/, (route) => route.abort())
    await opened.page.goto(`${pages.url}/inbox`)
    await opened.page.getByText('This page did not start.').waitFor()
  },
)

test('a list that failed offers to try again, and says nothing about the connection', async () => {
  const user = await userWithMail()
  await using opened = await pages.open('/', { user })
  const { page } = opened
  opened.expects(/^500 /)
  await page.addInitScript(() => {
    addEventListener('click', () => document.documentElement.classList.add('clicked'), true)
  })
  // The page tries again by itself, too: it fails until the reader has clicked.
  await page.route('**/api/notifications?**', async (route) => {
    if ((await page.locator('html.clicked').count()) > 0) await route.continue()
    else await route.fulfill({ status: 500, body: '{}' })
  })
  await page.goto(`${pages.url}/inbox`)
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  await page.getByText('The server reported a problem.').waitFor()
  assert.equal(await page.getByText(/connection/).count(), 0)
  await opened.isAccessible('inbox-failed')
  await again.click()
  await page.getByText('Door open').waitFor()
})

test('the offer to undo is above the report of a lost connection', async () => {
  await using opened = await pages.open('/inbox', { user: await userWithMail() })
  const { page } = opened
  await page.getByText('Door open').waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  // With the focus the offer stays.
  await page.locator('[part=undo-button]').focus()
  // The stream still lives, and its next event removes the report: said again until both are there.
  const places = await page.waitForFunction(() => {
    globalThis.dispatchEvent(new Event('offline'))
    const inbox = document.querySelector('carillon-inbox')?.shadowRoot
    const [toast, report] = ['undo', 'offline'].map((part) =>
      inbox?.querySelector(`[part=${part}]`)?.getBoundingClientRect().toJSON(),
    )
    return toast && report && { toast, report }
  })
  const { toast, report } = (await places.jsonValue()) as { toast: DOMRect; report: DOMRect }
  assert.ok(toast.bottom <= report.top, JSON.stringify({ toast, report }))
})

test('an empty inbox, an empty archive and an empty category say different things', async () => {
  await using opened = await pages.open('/inbox', { user: await service.user() })
  const { page } = opened
  await page.getByText('No notifications yet').waitFor()
  assert.ok(await page.locator('#category').isHidden())
  await opened.isAccessible('inbox-empty')
  await page.getByRole('tab', { name: 'Archived' }).click()
  await page.getByText('What you archive is kept here.').waitFor()
  await page.goto(`${pages.url}/inbox?category=tea`)
  await page.getByText('Nothing in this category').waitFor()
})

test('by keyboard alone, a reader signs in and archives the newest notification', async () => {
  const user = await userWithMail()
  await using opened = await pages.open('/sign-in')
  const { page } = opened
  await opened.hasFocus('Username')
  await page.keyboard.type(user.username)
  await page.keyboard.press('Tab')
  await page.keyboard.type(user.password)
  await page.keyboard.press('Enter')
  await page.getByText('Door open').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('e')
  await page.getByText('Door open').waitFor({ state: 'detached' })
  await opened.hasFocus(/Tea is ready/)
  await page.getByRole('tab', { name: 'Archived' }).press('Enter')
  await page.getByText('Door open').waitFor()
})

test('an address with a slash at its end is the page', async () => {
  const user = await userWithMail()
  await using opened = await pages.open('/inbox/', { user })
  await opened.page.getByText('Door open').waitFor()
  await opened.page.goto(`${pages.url}/account/`)
  await opened.page.getByRole('heading', { name: 'Devices' }).waitFor()
})
