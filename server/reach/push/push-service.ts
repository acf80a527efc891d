// Encrypts a push for the browser (RFC 8291) and signs it for the push service (RFC 8292).
// Endpoints come from clients, so hosts have to be known.
import { createECDH, type ECDH } from 'node:crypto'
import { importJWK, type JWK, SignJWT } from 'jose'
import { boundedFetch } from '../../basics/bounded-fetch.ts'
import { CarillonError, unavailable } from '../../basics/errors.ts'
import { isLoopback } from '../../config/values.ts'
import { Refused } from '../outbox.ts'
import type { Subscription } from './subscriptions.store.ts'

const services = new Set([
  'fcm.googleapis.com',
  'jmt17.google.com',
  'updates.push.services.mozilla.com',
  'web.push.apple.com',
])
/** Each of these has many hosts. */
const families = ['.push.services.mozilla.com', '.notify.windows.com', '.push.apple.com']

/** `others`: from CARILLON_PUSH_HOSTS, such as `push.example.org` or `localhost:9100`. */
export function isKnownEndpoint(endpoint: string, others: readonly string[]): boolean {
  const url = URL.parse(endpoint)
  // Browsers write it so, and no two parsers may read different hosts.
  if (url === null || url.href !== endpoint || url.username !== '' || url.password !== '')
    return false
  const { protocol, hostname, host, port } = url
  const isOther = others.includes(host)
  if (protocol === 'http:')
    return isOther && port !== '' && isLoopback(hostname.replace(/^\[|\]$/g, ''))
  if (protocol !== 'https:') return false
  return (
    isOther ||
    (port === '' && (services.has(host) || families.some((family) => host.endsWith(family))))
  )
}

/** The keys are a point of P-256, and 16 bytes. */
export function areKeys({ p256dh, auth }: Pick<Subscription, 'p256dh' | 'auth'>): boolean {
  const point = Buffer.from(p256dh, 'base64url')
  if (point.length !== 65 || point[0] !== 4 || Buffer.from(auth, 'base64url').length !== 16)
    return false
  try {
    newKeyPair().computeSecret(point)
    return true
  } catch {
    return false
  }
}

function newKeyPair(): ECDH {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair
}

/** A record of at most 4,096 bytes has a header of 86, a delimiter and a tag of 16 (RFC 8188, section 2; RFC 8291, section 4). */
export const maxPayload = 3_993

const ttlSeconds = 86_400
/** At most 24 hours (RFC 8292, section 2). */
const tokenSeconds = 12 * 3_600
const timeoutMs = 10_000
const maxResponse = 64 * 1024
const maxWaitSeconds = 86_400

export type Push = { payload: string; topic: string; urgency: 'low' | 'normal' | 'high' }

/** Browsers take an uncompressed point. */
export function publicKeyOf({ x = '', y = '' }: JWK): string {
  const point = [x, y].map((text) => Buffer.from(text, 'base64url'))
  return Buffer.concat([Buffer.of(4), ...point]).toString('base64url')
}

type Sender = { key: JWK; contact: string | undefined; now: number }

async function authorizationFor(audience: string, { key, contact, now }: Sender): Promise<string> {
  const token = await new SignJWT({ ...(contact !== undefined && { sub: contact }) })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
    .setAudience(audience)
    .setExpirationTime(Math.floor(now / 1_000) + tokenSeconds)
    .sign(await importJWK(key, 'ES256'))
  return `vapid t=${token}, k=${publicKeyOf(key)}`
}

/**
 * Resolves with 'gone' if the subscription has ended. Throws Refused if the push service does not
 * take this push, TOO_MANY_REQUESTS if it says when it takes the next, and another error if a retry
 * may succeed. No error has the endpoint, a secret of the browser.
 */
export async function sendPush(
  { endpoint, p256dh, auth }: Subscription,
  { payload, topic, urgency }: Push,
  sender: Sender,
): Promise<'sent' | 'gone'> {
  const { encrypt } = await import('http_ece')
  const options = {
    version: 'aes128gcm',
    privateKey: newKeyPair(),
    dh: p256dh,
    authSecret: auth,
  } as const
  const body = encrypt(Buffer.from(payload), options)
  const { host, origin } = new URL(endpoint)
  const headers = {
    authorization: await authorizationFor(origin, sender),
    'content-encoding': 'aes128gcm',
    'content-type': 'application/octet-stream',
    ttl: String(ttlSeconds),
    topic,
    urgency,
  }
  const fault = () => unavailable(`the push service ${host} did not respond as it should`)
  const bounds = { timeoutMs, maxSize: maxResponse, fault }
  const response = await boundedFetch(
    endpoint,
    { method: 'POST', headers, body: new Uint8Array(body) },
    bounds,
  )
  const { status } = response
  if (response.ok) return 'sent'
  if (status === 404 || status === 410) return 'gone'
  const problem = `the push service ${host} answered ${status}`
  const retryAfter = secondsIn(response.headers.get('retry-after'), sender.now)
  if (retryAfter !== undefined)
    throw new CarillonError('TOO_MANY_REQUESTS', problem, { retryAfter })
  if (status < 500 && status !== 408 && status !== 429) throw new Refused(problem)
  throw unavailable(problem)
}

/** RFC 9110, section 10.2.3, allows seconds, or a date. */
function secondsIn(field: string | null, now: number): number | undefined {
  if (field === null) return undefined
  const seconds = /^\d{1,9}$/.test(field)
    ? Number(field)
    : Math.ceil((Date.parse(field) - now) / 1_000)
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), maxWaitSeconds) : undefined
}
