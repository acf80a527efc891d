// For tests: what the headless Chromium of the tests does not have of web push. The service worker
// is real and gets real push events, through the DevTools; but it can display no notification and no
// number on an icon, and has no push service. So a list takes the place of the lock screen, and a
// subscription of our push service that of the browser's.
import assert from 'node:assert/strict'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import type { BrowserSubscription } from '../network/push-service.ts'
import { untilSo } from '../processes/nodes.ts'

export type ShownPush = {
  title: string
  body?: string
  tag: string
  data: { ids: string[]; url: string }
}

/**
 * At the beginning of the worker. A page asks it for the list, and closes an entry of it. It is in a
 * cache, because the browser ends an idle worker, and with it what the worker has in memory.
 */
const lockScreen = `
let turn = Promise.resolve()
const change = (by) => (turn = turn.then(async () => {
  const cache = await caches.open('lock screen')
  const state = (await (await cache.match('/state'))?.json()) ?? { shown: {}, badge: 0 }
  const result = by(state)
  await cache.put('/state', new Response(JSON.stringify(state)))
  return result
}))
const close = (tag) => change(({ shown }) => delete shown[tag])
registration.showNotification = (title, options) => change(({ shown }) => {
  shown[options.tag] = { title, ...options }
})
navigator.setAppBadge = (count) => change((state) => { state.badge = count })
registration.getNotifications = async () => {
  const all = await change(({ shown }) => Object.values(shown))
  return all.map((one) => ({ ...one, close: () => close(one.tag) }))
}
addEventListener('message', (event) => {
  const { data, ports } = event
  event.waitUntil(change((state) => {
    if (data.close) delete state.shown[data.close]
    if ('badge' in data) state.badge = data.badge
    ports[0].postMessage(data.isAboutBadge ? state.badge : Object.values(state.shown))
  }))
})
`

/** In each page, before its scripts. */
function onPage({ endpoint, keys }: BrowserSubscription): void {
  const worker = ServiceWorkerRegistration.prototype
  const ask = (registration: ServiceWorkerRegistration, data: object) =>
    new Promise<(Notification & { tag: string })[]>((resolve) => {
      // The browser loses a message to a worker that starts or ends at this moment.
      const timer = setInterval(send, 1_000)
      function send() {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = (event) => {
          clearInterval(timer)
          resolve(event.data)
        }
        registration.active?.postMessage(data, [port2])
      }
      send()
    })
  Object.assign(globalThis, { ask })
  worker.getNotifications = async function () {
    const found = await ask(this, {})
    return found.map((one) => ({ ...one, close: () => void ask(this, { close: one.tag }) }))
  }
  navigator.setAppBadge = async (badge) => {
    const registration = await navigator.serviceWorker.getRegistration('/')
    if (registration) await ask(registration, { badge })
  }
  Object.defineProperty(Notification, 'permission', {
    get: () => localStorage.getItem('permission') ?? 'default',
  })
  Notification.requestPermission = async () => {
    localStorage.setItem('permission', localStorage.getItem('next-permission') ?? 'granted')
    return Notification.permission
  }
  const subscription = {
    endpoint,
    options: { applicationServerKey: null },
    toJSON: () => ({ endpoint, keys }),
    unsubscribe: async () => localStorage.removeItem('subscribed') === undefined,
  }
  const manager = PushManager.prototype as unknown as Record<string, unknown>
  manager.getSubscription = async () => (localStorage.getItem('subscribed') ? subscription : null)
  manager.subscribe = async () => {
    localStorage.setItem('subscribed', 'yes')
    return subscription
  }
}

export class PushBrowser {
  readonly #page: Page
  readonly #devTools: CDPSession
  #registration = '-1'

  private constructor(page: Page, devTools: CDPSession) {
    this.#page = page
    this.#devTools = devTools
  }

  /** Before the profile has loaded a page of the service that it uses. */
  static async prepare(
    context: BrowserContext,
    page: Page,
    subscription: BrowserSubscription,
  ): Promise<PushBrowser> {
    await context.addInitScript(onPage, subscription)
    await context.route('**/carillon-push.js', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: lockScreen + (await response.text()) })
    })
    const devTools = await context.newCDPSession(page)
    const browser = new PushBrowser(page, devTools)
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      // It also reports those of other profiles: ours is the newest.
      const ids = registrations
        .filter(({ isDeleted }) => !isDeleted)
        .map(({ registrationId }) => Number(registrationId))
      browser.#registration = String(Math.max(Number(browser.#registration), ...ids))
    })
    await devTools.send('ServiceWorker.enable')
    return browser
  }

  /** The browser gets a push. Resolves when the worker has displayed it. */
  async receive(payload: { notification: { tag: string; title: string } }): Promise<void> {
    const { origin } = new URL(this.#page.url())
    const { tag, title } = payload.notification
    assert.notEqual(this.#registration, '-1', 'no worker was registered')
    const data = JSON.stringify(payload)
    await this.#devTools.send('ServiceWorker.deliverPushMessage', {
      origin,
      registrationId: this.#registration,
      data,
    })
    await untilSo(async () =>
      (await this.shown()).some((one) => one.tag === tag && one.title === title),
    )
  }

  /** The browser replaces its subscription. Resolves when the worker has dealt with it. */
  async renew(subscription: BrowserSubscription): Promise<void> {
    const [worker = assert.fail('no worker runs')] = this.#page.context().serviceWorkers()
    await worker.evaluate(async (json) => {
      PushManager.prototype.subscribe = async () =>
        ({ toJSON: () => json }) as unknown as PushSubscription
      const event = new Event('pushsubscriptionchange')
      const work: Promise<unknown>[] = []
      Object.assign(event, { waitUntil: (done: Promise<unknown>) => work.push(done) })
      dispatchEvent(event)
      await Promise.all(work)
    }, subscription)
  }

  /** The number on the icon. */
  badge(): Promise<number> {
    return this.#page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration('/')
      const { ask } = globalThis as unknown as {
        ask: (of: unknown, data: object) => Promise<number>
      }
      return ask(registration, { isAboutBadge: true })
    })
  }

  /** What is on the lock screen. */
  shown(): Promise<ShownPush[]> {
    return this.#page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration('/')
      return JSON.parse(JSON.stringify((await registration?.getNotifications()) ?? []))
    })
  }
}
