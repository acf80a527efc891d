// Prepares a database through the service that runs on it: users, their proofs, and notifications.
import assert from 'node:assert/strict'
import { Connection, type HttpResponse, type ProofLine, requestText } from '../load/requests.ts'
import { run } from './checkout.ts'
import type { Service } from './service.ts'

const password = 'plum orchard gate 41'
/** The hash of this password, with the cost that the service itself uses. */
const passwordHash =
  '$argon2id$v=19$m=19456,t=2,p=1$Lh/RN32i166LVnOT527GuQ$atE0D0XAxD4D+YQ+ugbjJe69heSQT3rzEz3p5FIKCZA'
/** Users of a request, and recipients of a delivery. */
const maxInRequest = 1_000
const atOnce = 8

export type Kind = 'cookies' | 'tokens'
export type Reader = { username: string } & Record<Kind, ProofLine[]>
export type Prepared = { readers: Reader[]; producer: ProofLine }

/** Creates users, of whom the first `signedIn` get `proofs` proofs of each kind. */
export async function prepare(
  { checkout, port, settings }: Service,
  { users, proofs = 0, signedIn = users }: { users: number; proofs?: number; signedIn?: number },
): Promise<Prepared> {
  const args = ['key', 'add', 'bench', '--scope', 'send,users', '--json']
  const producer = `Authorization: Bearer ${JSON.parse(run(checkout.root, 'server/bin/launch.js', args, settings)).key}`
  const names = Array.from({ length: users }, (_, i) => `reader-${i + 1}`)
  const readers = names.map((username): Reader => ({ username, cookies: [], tokens: [] }))
  const entries = names.map((username) => ({ externalId: username, username, passwordHash }))
  const puts = groupsOf(entries).map((some) =>
    requestText('PUT', '/api/users', { proof: producer, body: JSON.stringify({ users: some }) }),
  )
  await sendAll(port, puts, 200, 1)
  const owners = readers.slice(0, signedIn)
  for (let n = 0; n < proofs; n++) {
    const signIns = await sendAll(port, loginsOf(owners), 200)
    const cookies = signIns.map(cookieIn)
    const exchanges = cookies.map((proof) => requestText('POST', '/api/me/token', { proof }))
    const tokens = await sendAll(port, exchanges, 201)
    for (const [i, owner] of owners.entries()) {
      owner.cookies.push(cookies[i] as ProofLine)
      owner.tokens.push(`Authorization: Bearer ${JSON.parse(tokens[i]?.body as string).data.token}`)
    }
  }
  return { readers, producer }
}

/** One sign-in of each reader. */
export function loginsOf(readers: readonly Reader[]): string[] {
  return readers.map(({ username }) =>
    requestText('POST', '/login', { body: JSON.stringify({ username, password }) }),
  )
}

function cookieIn({ headers }: HttpResponse): ProofLine {
  const values = headers
    .filter(([name]) => name.toLowerCase() === 'set-cookie')
    .map(([, value]) => value)
  return `Cookie: ${values.find((value) => value.startsWith('carillon='))?.split(';')[0]}`
}

/** Sends `count` notifications to each reader. */
export async function fillInboxes(
  { port }: Service,
  { readers, producer }: Prepared,
  count: number,
): Promise<void> {
  const deliveries = groupsOf(readers).map((some) => deliveryTo(some, producer))
  const all = Array.from({ length: count }, () => deliveries)
  await sendAll(port, all.flat(), 201)
}

/** A delivery of about 300 characters in the form that is stored. */
export function deliveryTo(
  readers: readonly Reader[],
  producer: ProofLine,
  { category = 'orders', key }: { category?: string; key?: string } = {},
): string {
  const body = JSON.stringify({
    recipients: readers.map(({ username }) => ({ username })),
    title: 'Your order 100234 is on its way',
    body: 'It left our warehouse this morning and should reach you within two working days.',
    url: '/orders/100234',
    category,
    key,
    data: { order: 100_234, parcels: 1 },
  })
  return requestText('POST', '/api/notifications', { proof: producer, body })
}

export function changeByKey(key: string, producer: ProofLine): string {
  const body = JSON.stringify({ body: 'It has reached the town of its recipient.' })
  return requestText('PATCH', `/api/notifications/by-key/${key}`, { proof: producer, body })
}

/** Sends each text once, some at a time. The responses are in the order of the texts; each must have this status. */
export async function sendAll(
  port: number,
  texts: readonly string[],
  status: number,
  connections = atOnce,
) {
  const responses: HttpResponse[] = []
  const all = texts.entries()
  const sendOn = async () => {
    using connection = new Connection(port)
    for (const [turn, text] of all) {
      const response = await connection.request(text)
      assert.equal(response.status, status, response.body)
      responses[turn] = response
    }
  }
  await Promise.all(Array.from({ length: Math.min(connections, texts.length) }, sendOn))
  return responses
}

/** The ids of the newest notifications, in whole pages of 100. */
export async function newestIds(port: number, proof: ProofLine, count: number): Promise<string[]> {
  const pages = Array.from({ length: count / 100 }, (_, i) =>
    requestText('GET', `/api/notifications?limit=100&page=${i + 1}`, { proof }),
  )
  const responses = await sendAll(port, pages, 200)
  return responses.flatMap(({ body }) =>
    (JSON.parse(body).data.items as { id: string }[]).map(({ id }) => id),
  )
}

/** One request text per proof of each reader. Neighbours in the list belong to different readers. */
export function requestsOf(
  readers: readonly Reader[],
  kind: Kind,
  text: (proof: ProofLine) => string,
): string[] {
  const each = readers[0]?.[kind] ?? []
  return each.flatMap((_, i) => readers.map((reader) => text(reader[kind][i] as ProofLine)))
}

function groupsOf<One>(all: readonly One[]): One[][] {
  const count = Math.ceil(all.length / maxInRequest)
  return Array.from({ length: count }, (_, i) =>
    all.slice(i * maxInRequest, (i + 1) * maxInRequest),
  )
}
