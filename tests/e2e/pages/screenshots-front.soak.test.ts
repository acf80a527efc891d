// The first picture of README.md: the bell in a page of an application, and the inbox page, of one user of a real service.
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { Frame, screenWidth } from '../../support/pages/frame.ts'
import { deliverNotices, harbour, listed, passToOrders } from '../../support/pages/harbour.ts'
import { assertPicture } from '../../support/pages/pictures.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

passToOrders(service)
const ann = await service.user('ann')
// With one user alone, the inbox page has the first steps.
await service.user('ben')
await deliverNotices(service, ann)

const scale = 2
const window = { width: 668, height: 559 }
const telephone = { width: 390, height: 715 }
const screenshot = { animations: 'disabled', caret: 'hide' } as const

for (const theme of ['light', 'dark'] as const)
  test(`docs/images/front-${theme}.png displays the bell and the inbox page as they are`, async () => {
    const look = { theme, now: service.now(), user: ann }
    await using orders = await pages.open('/orders', { ...look, ...window, scale, site: harbour })
    await orders.page.getByRole('button', { name: 'Notifications, 3 unread' }).click()
    await listed(orders.page, 6)
    await orders.page.mouse.move(0, 0)

    const shrunk = (scale * screenWidth) / telephone.width
    const small = { ...telephone, scale: shrunk, isTelephone: true }
    await using inbox = await pages.open('/inbox', { ...look, ...small, site: harbour })
    await listed(inbox.page, 6)
    await inbox.page.getByRole('combobox').waitFor()

    await using frame = await Frame.open(pages, { theme, scale })
    const taken = await frame.picture({
      views: [
        {
          label: 'A page of an application',
          width: window.width,
          picture: await orders.page.screenshot(screenshot),
        },
        {
          label: 'The inbox page of Carillon',
          isTelephone: true,
          width: screenWidth,
          picture: await inbox.page.screenshot(screenshot),
        },
      ],
    })
    await assertPicture(`front-${theme}`, taken, frame.page)
  })
