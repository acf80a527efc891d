// Web push in this browser. Loaded when it is used.
import type { CarillonError } from '../transport/errors.ts'
import type { CallOptions, Requests } from '../transport/requests.ts'
import type {
  Notification as Item,
  NotificationPage,
  PushSubscriptions,
} from '../transport/types.ts'

/**
 * - `unsupported`: not in this browser, or the service worker is on another origin than the page.
 * - `denied`: the reader, or the browser, has refused it for this site.
 */
export type PushState = 'on' | 'off' | 'denied' | 'unsupported'

export type PushOptions = CallOptions & {
  /**
   * The service worker, on the origin of the page. Default: `carillon-push.js` of the service. If
   * the site has a worker of its own, that one imports `carillon-push.js`.
   */
  worker?: string | URL | undefined
  /** The page that a click opens, and from which links are relative. Default: the inbox page of the service. */
  url?: string | URL | undefined
}

export type Push = {
  /** Returns whether push is on here. Tells the service, once a day, that it is in use. */
  state(options?: PushOptions): Promise<PushState>
  /**
   * Turns push on. Call it when the reader clicks, because the browser asks. Throws CONFLICT if the
   * user has 20 browsers already.
   */
  turnOn(options?: PushOptions): Promise<PushState>
  /** Turns push off in this browser. */
  turnOff(options?: PushOptions): Promise<void>
  /**
   * Closes the displayed notifications that were read, archived or removed elsewhere, and sets the
   * number on the icon. `list`: a snapshot of the inbox.
   */
  tidy(list: { items: readonly Item[]; unread: number }, options?: PushOptions): Promise<void>
}

const path = 'api/me/push-subscriptions'
const dayMs = 86_400_000

/** Undefined if this page cannot have the worker. */
function workerOf({ base }: Requests, { worker }: PushOptions): URL | undefined {
  if (!globalThis.navigator?.serviceWorker || !globalThis.PushManager || !globalThis.Notification)
    return undefined
  const url = new URL(worker ?? 'carillon-push.js', worker ? location.href : base)
  return url.origin === location.origin ? url : undefined
}

/** Undefined if the worker is not there. That of the site at the same place is another one. */
async function registered(worker: URL): Promise<ServiceWorkerRegistration | undefined> {
  const found = await navigator.serviceWorker.getRegistration(worker)
  const script = found?.active ?? found?.waiting ?? found?.installing
  return script?.scriptURL === worker.href ? found : undefined
}

/** Throws TypeError if the site has another worker there, which this one would replace. */
async function register(worker: URL): Promise<ServiceWorkerRegistration> {
  const scope = new URL('.', worker).href
  const found = await navigator.serviceWorker.getRegistration(worker)
  if (found?.scope === scope && !(await registered(worker)))
    throw new TypeError(
      `${scope} has another service worker: pass it as worker, and import ${worker} in it`,
    )
  const registration = await navigator.serviceWorker.register(worker)
  const starting = registration.installing ?? registration.waiting
  // A subscription needs an active worker.
  while (!registration.active && starting)
    await new Promise((resolve) =>
      starting.addEventListener('statechange', resolve, { once: true }),
    )
  return registration
}

const base64url = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** The id that the service gives to a subscription. */
async function idOf({ endpoint }: PushSubscription): Promise<string> {
  return base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint)))
}

function send(
  requests: Requests,
  subscription: PushSubscription,
  { url, signal }: PushOptions,
): Promise<void> {
  const { endpoint, keys } = subscription.toJSON()
  const body = { endpoint, keys, url: url === undefined ? null : new URL(url, location.href).href }
  return requests.nothing({ method: 'POST', path, body, signal })
}

export async function state(requests: Requests, options: PushOptions = {}): Promise<PushState> {
  const worker = workerOf(requests, options)
  if (!worker) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  const subscription = await (await registered(worker))?.pushManager.getSubscription()
  if (!subscription) return 'off'
  const { items } = await requests.data<PushSubscriptions>({ path, signal: options.signal })
  const id = await idOf(subscription)
  const own = items.find((one) => one.id === id)
  if (!own) return 'off'
  if (!own.current || Date.now() - Date.parse(own.lastUsedAt) > dayMs)
    await send(requests, subscription, options)
  return 'on'
}

export async function turnOn(requests: Requests, options: PushOptions = {}): Promise<PushState> {
  const worker = workerOf(requests, options)
  if (!worker) return 'unsupported'
  const permission = await Notification.requestPermission()
  if (permission !== 'granted') return permission === 'denied' ? 'denied' : 'off'
  const { pushManager } = await register(worker)
  const { publicKey } = await requests.data<PushSubscriptions>({ path, signal: options.signal })
  const before = await pushManager.getSubscription()
  const key = before?.options.applicationServerKey
  // The service has another key since.
  if (before && key && base64url(key) !== publicKey) await before.unsubscribe()
  const subscription = await pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  })
  await send(requests, subscription, options)
  return 'on'
}

export async function turnOff(requests: Requests, options: PushOptions = {}): Promise<void> {
  const worker = workerOf(requests, options)
  const subscription = worker && (await (await registered(worker))?.pushManager.getSubscription())
  if (!subscription) return
  const removal = {
    method: 'DELETE',
    path: `${path}/${await idOf(subscription)}`,
    signal: options.signal,
  } as const
  await requests.nothing(removal).catch((error: unknown) => {
    if ((error as CarillonError).code !== 'NOT_FOUND') throw error
  })
  await subscription.unsubscribe()
}

export async function tidy(
  requests: Requests,
  { items, unread }: { items: readonly Item[]; unread: number },
  options: PushOptions = {},
): Promise<void> {
  const worker = workerOf(requests, options)
  const registration = worker && (await registered(worker))
  if (!registration) return
  const shown = (await registration.getNotifications()).filter(({ data }) => data?.ids)
  const states = new Map(items.map(({ id, read }) => [id, read]))
  const isListed = shown.every(({ data }) => data.ids.every((id: string) => states.has(id)))
  const query = { status: 'unread', limit: 100 } as const
  const page =
    isListed || unread === 0
      ? undefined
      : await requests.data<NotificationPage>({
          path: 'api/notifications',
          query,
          signal: options.signal,
        })
  const isUnread = (id: string) => {
    const read = states.get(id)
    if (read !== undefined || page === undefined) return read === false
    return page.hasMore || page.items.some((one) => one.id === id)
  }
  for (const one of shown) if (!one.data.ids.some(isUnread)) one.close()
  // Some browsers refuse it outside of an installed application.
  if (await registration.pushManager.getSubscription())
    await navigator.setAppBadge?.(unread).catch(() => {})
}
