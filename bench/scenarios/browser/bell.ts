// The bell in a real browser on SQLite: from a delivery to the number on the bell, a list of 1,000 notifications that is scrolled, and
// 200 arrivals a second in an open list.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { Chromium } from '../../../tests/support/chromium.ts'
import { deliveryRequest, send } from '../../load/listener.ts'
import { Connection, requestText } from '../../load/requests.ts'
import type { Bench, Scenario } from '../../report/scenario.ts'
import { asMs, type Row } from '../../report/table.ts'
import { fillInboxes, type Prepared, prepareReaders, type Reader } from '../../setup/inboxes.ts'
import { startService } from '../../setup/service.ts'
import { type Noted, noteInPage, scrollInPage } from './in-page.ts'

const maxMs = { badge: 100, frame: 50 }
const everyMs = 50
const scrolled = 1_000
const arrivals = { perSecond: 200, seconds: 10 }

export const bell: Scenario = {
  name: 'bell',
  question:
    'from a delivery to the number on the bell in a browser, scrolling 1,000 notifications, and 200 arrivals a second',
  seconds: 10,
  async run(bench) {
    const { dir, progress } = bench
    const prepared = await prepareReaders(dir, { users: 3, proofs: 1 })
    const [latest, full, busy] = prepared.readers as [Reader, Reader, Reader]
    await fillInboxes(dir, { userIds: [full.userId], count: scrolled })
    const { port } = bench.using(await startService({ dir, role: 'anywhere' }))
    const pages = bench.using(await Pages.start(port))
    progress('deliveries to the badge')
    const badge = await badgeTimes(bench, { pages, reader: latest, port, prepared })
    progress('scrolling')
    const scroll = await pages.measured(full, '<carillon-inbox></carillon-inbox>', (page) =>
      page.evaluate(scrollInPage, scrolled),
    )
    progress('arrivals')
    const flow = await pages.measured(busy, '<carillon-bell></carillon-bell><carillon-inbox></carillon-inbox>', () =>
      arrive({ port, prepared, reader: busy }),
    )
    return {
      rows: [
        badgeRow(badge),
        frameRow(`${scrolled} notifications scrolled`, scroll, scroll.longestFrameMs),
        frameRow(`${arrivals.perSecond} arrivals a second for ${arrivals.seconds} s`, flow, flow.longestTaskMs),
      ],
      notes: [
        `In the Chromium of the tests, without a GPU; browser, service and load on all cores. One delivery every ${everyMs} ms, from the ` +
          'start of the request to the frame that displays the number.',
        'A frame is the time between two calls of requestAnimationFrame, a task what the Long Tasks API reports (from 50 ms on).',
        'Scrolled: 200 px in each frame down to the last of all pages, and up again. Arrivals: the list is open and at its top.',
      ],
    }
  },
}

/** Pages of the service's own origin, each in a browser of its own user. */
class Pages {
  readonly #chromium: Chromium
  readonly #origin: string

  private constructor(chromium: Chromium, origin: string) {
    this.#chromium = chromium
    this.#origin = origin
  }

  static async start(port: number): Promise<Pages> {
    return new Pages(await Chromium.start(), `http://127.0.0.1:${port}`)
  }

  stop(): Promise<void> {
    return this.#chromium[Symbol.asyncDispose]()
  }

  /** Opens a page with these elements, and closes it after `work`. Returns what the page noted in between. */
  async measured(reader: Reader, elements: string, work: (page: Page) => Promise<void>): Promise<Noted> {
    const { context } = this.#chromium
    const [name = '', value = ''] = reader.cookies[0]?.replace('Cookie: ', '').split('=') ?? []
    await context.clearCookies()
    await context.addCookies([{ name, value, url: this.#origin }])
    const style = 'carillon-inbox { --carillon-max-height: 600px; inline-size: 400px }'
    const body = `<!doctype html><style>${style}</style><script type="module" src="/carillon-inbox.js"></script>${elements}`
    await context.route('**/bench.html', (route) => route.fulfill({ contentType: 'text/html', body }))
    const page = await this.#chromium.page(`${this.#origin}/bench.html`)
    await page.waitForFunction(
      () => document.querySelector('carillon-bell, carillon-inbox')?.shadowRoot?.firstElementChild,
    )
    await pause(1_000)
    await page.evaluate(noteInPage)
    await work(page)
    await pause(500)
    const noted = await page.evaluate(() => (globalThis as unknown as { noted: Noted }).noted)
    await page.close()
    return noted
  }
}

type Load = { port: number; prepared: Prepared; reader: Reader }

/** Milliseconds from the start of each delivery to the frame with its number. */
async function badgeTimes({ seconds }: Bench, { pages, ...load }: Load & { pages: Pages }): Promise<number[]> {
  const sentAt: number[] = []
  const { counts } = await pages.measured(load.reader, '<carillon-bell></carillon-bell>', async () => {
    const endsAt = performance.now() + seconds * 1_000
    const connection = new Connection(load.port)
    while (performance.now() < endsAt) {
      sentAt.push(performance.timeOrigin + performance.now())
      await Promise.all([send(connection, deliveryTo(load)), pause(everyMs)])
    }
    connection.close()
  })
  return sentAt.map((at, i) => {
    const shown = counts.find(({ unread }) => unread > i)
    assert.ok(shown, `the bell did not display ${i + 1}`)
    return shown.at - at
  })
}

/** A delivery every 5 ms, on several connections, so that a slow commit delays no other. */
async function arrive(load: Load): Promise<void> {
  const connections = Array.from({ length: 20 }, () => new Connection(load.port))
  const startedAt = performance.now()
  const sent: Promise<unknown>[] = []
  const last: Promise<unknown>[] = connections.map(() => Promise.resolve())
  for (let i = 0; i < arrivals.perSecond * arrivals.seconds; i++) {
    const wait = startedAt + (i * 1_000) / arrivals.perSecond - performance.now()
    if (wait > 0) await pause(wait)
    const turn = i % connections.length
    last[turn] = (last[turn] as Promise<unknown>).then(() => send(connections[turn] as Connection, deliveryTo(load)))
    sent.push(last[turn] as Promise<unknown>)
  }
  await Promise.all(sent)
  const state = await connections[0]?.request(
    requestText('GET', '/api/notifications?limit=1', { proof: load.reader.tokens[0] as string }),
  )
  assert.equal(JSON.parse(state?.body ?? '').data.unread, arrivals.perSecond * arrivals.seconds)
  for (const connection of connections) connection.close()
}

function deliveryTo({ prepared: { producer }, reader }: Load): string {
  return deliveryRequest(producer, [reader.username])
}

function badgeRow(times: number[]): Row {
  const sorted = times.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
  return {
    what: 'from a delivery to the number on the bell',
    measured: `p50 ${asMs(at(0.5))}, p95 ${asMs(at(0.95))}, longest ${asMs(at(1))}, of ${times.length}`,
    floor: '',
    ratio: '',
    target: `p95 < ${maxMs.badge} ms`,
    met: at(0.95) < maxMs.badge,
  }
}

function frameRow(what: string, { frames, longestFrameMs, longestTaskMs }: Noted, decides: number): Row {
  const task = longestTaskMs === 0 ? 'no task of 50 ms' : `longest task ${asMs(longestTaskMs)}`
  return {
    what,
    measured: `longest frame ${asMs(longestFrameMs)} of ${frames}, ${task}`,
    floor: '',
    ratio: '',
    target: `< ${maxMs.frame} ms`,
    met: decides < maxMs.frame,
  }
}
