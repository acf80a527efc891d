// Makes the recording of docs/first-steps.md: a delivery arrives in two tabs and on a telephone, is
// read in one tab, and is gone in the others. The pages and the service are real.
import { test } from 'node:test'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { Film } from '../../support/pages/film.ts'
import { Frame, screenWidth } from '../../support/pages/frame.ts'
import { deliverNotices, harbour, listed, passToOrders } from '../../support/pages/harbour.ts'
import { assertPicture, assertRecording } from '../../support/pages/pictures.ts'

const scale = 1.5
const tab = { width: 640, height: 372 }
const lowTab = { ...tab, height: 176 }
const telephone = { width: 390, height: 769 }
const lastsMs = 12_000
const title = 'Order 10483 has arrived'

for (const theme of ['light', 'dark'] as const)
  test(`docs/images/live-${theme}.png plays how a delivery arrives, and is read, in each page of its user`, async () => {
    await using pages = await BrowserPages.start()
    const { service } = pages
    passToOrders(service)
    const ann = await service.user('ann')
    // With one user alone, the inbox page has the first steps.
    await service.user('ben')
    await deliverNotices(service, ann)
    const look = { theme, now: service.now(), user: ann, site: harbour }
    await using orders = await pages.open('/orders', { ...look, ...tab, scale })
    await using customers = await pages.open('/customers', { beside: orders })
    await customers.page.setViewportSize(lowTab)
    const shrunk = (scale * screenWidth) / telephone.width
    await using inbox = await pages.open('/inbox', {
      ...look,
      ...telephone,
      scale: shrunk,
      isTelephone: true,
    })
    await using frame = await Frame.open(pages, { theme, scale })

    const bellOf = ({ page }: BrowserPage, unread: number) =>
      page.getByRole('button', { name: `Notifications, ${unread} unread` })
    const count = (unread: number) =>
      Promise.all([orders, customers].map((opened) => bellOf(opened, unread).waitFor()))
    const onTelephone = inbox.page.getByRole('article').filter({ hasText: title })
    await inbox.page.getByRole('tab', { name: /^Unread/ }).click()
    await listed(inbox.page, 3)
    await count(3)

    const film = new Film(frame, [
      { label: 'Tab 1', page: orders.page, width: tab.width },
      { label: 'Tab 2', page: customers.page, width: tab.width },
      { label: 'Telephone', page: inbox.page, width: screenWidth, isTelephone: true },
    ])
    await film.show('Ann has three pages open.')
    await film.hold(1_800)
    await film.show('The application sends her a notification …')
    await film.hold(1_200)

    await service.deliver({
      to: ann,
      title,
      body: 'Ito Ceramics, € 265.00',
      category: 'Orders',
      icon: 'bell',
    })
    await Promise.all([count(4), onTelephone.waitFor()])
    await film.show('… and it is in all of them.', ['a delivery', 'a delivery', 'a delivery'])
    await film.hold(2_400)

    await film.pointAt(bellOf(orders, 4))
    await bellOf(orders, 4).click()
    const item = orders.page.getByRole('article').filter({ hasText: title })
    await listed(orders.page, 7)
    await film.show('She opens the bell in tab 1 …')
    await film.hold(1_400)

    const markAsRead = item.getByRole('button', { name: 'Mark as read' })
    await film.pointAt(markAsRead)
    await markAsRead.click()
    await Promise.all([count(3), onTelephone.waitFor({ state: 'detached' })])
    await film.show('… and reads it: it is gone in the others.', ['read here', 'gone', 'gone'])
    await film.hold(lastsMs - film.ms)

    await assertRecording(`live-${theme}`, film.frames, frame.page)
    await assertPicture(`live-still-${theme}`, film.last, frame.page)
  })
