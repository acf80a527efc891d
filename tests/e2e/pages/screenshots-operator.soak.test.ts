// The picture of docs/operator.md: the page of the operator of a real service, whose numbers of 30 days are written into its store.
import { after, test } from 'node:test'
import { seeTime } from '../../../server/audit/time-seen.store.ts'
import { addHourly, type Hourly } from '../../../server/metrics/hourly.store.ts'
import { hourMs } from '../../../server/metrics/hourly.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { assertPicture } from '../../support/pages/pictures.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

// Doctor would find files that this machine wrote in the future, and a clock that has just jumped.
const at = Date.parse('2030-06-28T15:00:00Z')
for (const time of [at - hourMs, at]) {
  service.pass(time - service.now())
  await service.store.write(seeTime, { at: service.now() })
}
const boss = await service.user('ann')
await service.store.write(setRole, { userId: boss.id, role: 'operator' })
await service.store.write(addHourly, hoursBefore(service.now()))

function hoursBefore(now: number): Hourly[] {
  const last = Math.floor(now / hourMs)
  const hours = Array.from({ length: 30 * 24 }, (_, n) => last - n)
  return hours.flatMap((hour) => {
    const day = Math.floor(hour / 24)
    const isWeekend = [2, 3].includes(day % 7)
    const load = (isWeekend ? 0.4 : 1) * (1 + Math.sin((hour / 12) * Math.PI) / 2)
    const attack = day === Math.floor(last / 24) - 9 ? 1 : 0
    const counts = {
      'sign-ins-accepted': 12 * load,
      'sign-ins-refused': 1 + 13 * attack,
      'sign-ins-delayed': 6 * attack,
      deliveries: 140 * load,
      'delivery-to-0.01': 140 * load,
      'read-to-0.005': 320 * load,
      'requests-2xx': 1_900 * load,
      'requests-4xx': 40 * load + 400 * attack,
      timers: 20 * load,
      starts: hour === last - 500 ? 1 : 0,
    }
    const gauges = {
      'streams-open': 60 * load,
      'outbox-waiting': 4 * load,
      'database-mib': 420 - (last - hour) / 8,
      'log-mib': 4,
    }
    return [
      ...Object.entries(counts).map(([name, count]) => {
        return { name, hour, count: Math.round(count), max: 0 }
      }),
      ...Object.entries(gauges).map(([name, max]) => {
        return { name, hour, count: 0, max: Math.round(max) }
      }),
    ]
  })
}

for (const theme of ['light', 'dark'] as const)
  test(`docs/images/operator-page-${theme}.png displays the page as it is`, async () => {
    const look = { theme, width: 1_000, height: 860, now: service.now(), user: boss }
    await using opened = await pages.open('/operator', look)
    const { page } = opened
    await page.getByRole('button', { name: '30 days' }).click()
    await page.locator('[aria-pressed=true]').filter({ hasText: '30 days' }).waitFor()
    await page.locator('operator-strip canvas').nth(4).waitFor()
    await page.mouse.move(0, 0)
    const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' })
    await assertPicture(`operator-page-${theme}`, taken, page)
  })
