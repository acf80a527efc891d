// The service worker of web push, which the service serves as /carillon-push.js. A site that has
// its own service worker imports this one there: importScripts('/bell/carillon-push.js').

/**
 * @typedef {{ data: { ids?: string[], url?: string } | null, close(): void }} Shown
 * @typedef {{ url: string, focus(): Promise<unknown> }} Page
 * @typedef {{
 *   registration: { showNotification(title: string, options: object): Promise<void>, getNotifications(): Promise<Shown[]>, pushManager: PushManager },
 *   location: { href: string },
 *   clients: { matchAll(options: object): Promise<Page[]>, openWindow(url: string): Promise<unknown> },
 *   navigator: { setAppBadge?(count: number): Promise<void> },
 *   addEventListener(type: string, listener: (event: any) => void): void,
 * }} Worker
 * @typedef {{ title: string, navigate: string, tag: string, lang: string, body?: string, data: { ids: string[] } }} Message
 */

const worker = /** @type {Worker} */ (/** @type {unknown} */ (self))

/** Browsers withdraw the permission for pushes that show nothing, so each shows one. @param {{ notification: Message, app_badge: number, unread: string[] }} push */
async function show({
  notification: { title, navigate, data, ...options },
  app_badge: count,
  unread,
}) {
  await worker.registration.showNotification(title, {
    ...options,
    renotify: true,
    data: { ...data, url: navigate },
  })
  for (const shown of await worker.registration.getNotifications()) {
    const ids = shown.data?.ids
    if (ids && !ids.some((id) => unread.includes(id))) shown.close()
  }
  // Some browsers refuse it outside of an installed application.
  await worker.navigator.setAppBadge?.(count).catch(() => {})
}

/** @param {string} url */
async function open(url) {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const page = pages.find((one) => one.url === url)
  await (page ? page.focus() : worker.clients.openWindow(url))
}

/** The browser has replaced the subscription. The new one takes the place of the old one. */
async function renew() {
  const subscriptions = new URL('api/me/push-subscriptions', worker.location.href)
  const response = await fetch(subscriptions)
  if (!response.ok) return
  const { publicKey, items } = (await response.json()).data
  const before = items.find((/** @type {{ current: boolean }} */ one) => one.current)
  const subscription = await worker.registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  })
  const { endpoint, keys } = subscription.toJSON()
  const added = await fetch(subscriptions, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint, keys, replaces: before?.id ?? 'ended' }),
  })
  // This sign-in had none.
  if (added.status === 404) await subscription.unsubscribe()
}

worker.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew()))
worker.addEventListener('push', (event) => {
  const push = event.data?.json()
  // Another part of the site may send pushes of its own.
  if (push?.web_push === 8030 && push.unread) event.waitUntil(show(push))
})
worker.addEventListener('notificationclick', (event) => {
  const { data } = event.notification
  if (!data?.url) return
  event.notification.close()
  event.waitUntil(open(data.url))
})
