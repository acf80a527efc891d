// What the page can change in a world: its clock, its database and its keys; and what others do in it, such as a thief.
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { CarillonError, conflict } from '../../server/basics/errors.ts'
import { newId } from '../../server/basics/ids.ts'
import { integer, object, oneOf, optional, type Schema, type TypeOf, text } from '../../server/http/openapi/schema.ts'
import { sessionSecret } from '../../server/http/request/credentials.ts'
import { sealingSecrets } from '../../server/start/sealing-secret.ts'
import { makeSigningKey, sealingOf, signToken } from '../../server/tokens/key-material.ts'
import { lastOf, publishedAheadMs } from '../../server/tokens/key-schedule.ts'
import { claimsOf } from '../../server/tokens/read-token.ts'
import { addSigningKey, dropSigningKey, signingKeys } from '../../server/tokens/signing-keys.store.ts'
import type { ComposedService, World } from './world.ts'

/** Where this process reaches a path below `demonstration/`, and the fields that let a request through. */
export type Way = {
  urlOf: (path: string) => URL
  fieldsOf: (address: string, by: string) => [name: string, value: string]
}

/** The address is for documentation only (RFC 5737). */
const thief = {
  address: '203.0.113.66',
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
}
const measuredRequests = 100
const timedRequests = 50

type From = { raw: IncomingMessage; way: Way }

/** `act` gets what fits the schema. It counts as one request of the world. */
function control<In, Out>(body: Schema<In>, act: (world: World, wanted: In, from: From) => Promise<Out>) {
  return { body, act }
}

/** What each control takes, and the data of its response; without any, the response has `{}`. */
export type Controls = {
  [Name in keyof typeof controls]: {
    in: TypeOf<(typeof controls)[Name]['body']>
    out: Awaited<ReturnType<(typeof controls)[Name]['act']>>
  }
}

const seconds = (minimum: number, maximum: number) => object({ seconds: integer({ minimum, maximum }) })
const proof = oneOf(['session', 'token'])
/** No line break: it becomes a header field. */
const token = text(1, 4_000, { pattern: '^[ -~]*$' })
const path = text(1, 200, { pattern: '^(service|other-server|servers)/[\\w/-]+$' })

export const controls = {
  /** The clock goes forward, at most 35 days at once. */
  advance: control(seconds(1, 35 * 24 * 3_600), async (world, wanted) => {
    world.state.offsetMs += wanted.seconds * 1_000
  }),

  /** At most 10 seconds; 0 ends it. */
  outage: control(seconds(0, 10), async (world, wanted) => {
    world.state.outageEndsAt = world.options.wall() + wanted.seconds * 1_000
  }),

  deliver: control(object({ title: text(1, 200) }), async (world, { title }) => {
    const request = { recipients: [{ userId: world.service.userId }], title }
    await world.service.deliveries.deliver('demonstration', request)
  }),

  /** The thief copies the session cookie that this request brings, and this token. */
  steal: control(object({ token: optional(token) }), async (world, wanted, { raw }) => {
    world.stolen = { session: sessionOf(world, raw), token: wanted.token }
  }),

  /** The thief sends a request with its copy. `n` is the number of the exchange. */
  thief: control(object({ proof, method: oneOf(['GET', 'POST']), path }), async (world, wanted, from) => {
    const own = from.way.fieldsOf(thief.address, 'thief')
    const fields = ['User-Agent', thief.userAgent, ...proofFields(world, wanted, world.stolen), ...own]
    const { n, status } = await sent(world, { ...wanted, fields, agent: new Agent() }, from)
    return { n, status }
  }),

  /** With the session cookie of this request, or with this token. `ms`: the median of 50 requests; the rest is for 100, which are in no exchange. */
  measure: control(object({ proof, path, token: optional(token) }), async (world, wanted, from) => {
    const proofs = { session: sessionOf(world, from.raw), token: wanted.token }
    const own = from.way.fieldsOf('127.0.0.1', 'machine')
    const fields = [...proofFields(world, wanted, proofs), ...own]
    const before = world.state.reads
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const times: number[] = []
    let bytes = 0
    while (times.length < measuredRequests) {
      const answer = await sent(world, { ...wanted, method: 'GET', fields, agent }, from)
      times.push(answer.ms)
      bytes = answer.bytes - measuredRequests * `${own.join(': ')}\r\n`.length
    }
    agent.destroy()
    const timed = times.slice(-timedRequests).sort((a, b) => a - b)
    return {
      ms: Math.round((timed[timedRequests / 2] ?? 0) * 1_000) / 1_000,
      lookUps: world.state.reads - before,
      bytes,
    }
  }),

  /** The next key is in the key set at once, and signs six minutes of the world later (`advance`). */
  'rotate-key': control(object({}), async ({ service }) => {
    const { known, key } = await newKey(service, service.now() + publishedAheadMs)
    await service.store.write(addSigningKey, { key, after: lastOf(known)?.kid ?? null })
    await service.keys.tend()
  }),

  /** A thief has the private key, and signs a token for any name with it. */
  forge: control(object({ username: text(1, 60) }), async ({ service }, { username }) => {
    const { keys, config, now } = service
    const at = now()
    const signIn = { userId: newId(at), username, signInId: newId(at), signedInAt: at, generation: 0 }
    const claims = claimsOf(signIn, { issuer: config.publicUrl, at, endsAt: at + config.tokenLifetimeMs })
    return { token: signToken(keys.current, claims), kid: keys.current.kid }
  }),

  /** This server refuses every token of the key at once, and signs with a new one. */
  'drop-key': control(object({ kid: text(1, 100) }), async ({ service }, { kid }) => {
    const { key } = await newKey(service, service.now())
    if ((await service.store.write(dropSigningKey, { kid, key })) === 'absent')
      throw new CarillonError('NOT_FOUND', 'There is no such key')
    await service.keys.tend()
  }),

  /** The other server reads the key set of this server again. */
  'read-keys': control(object({}), async (world) => {
    await world.others[0]?.keys.reload()
  }),
}

async function newKey({ store, config, now }: ComposedService, startsAt: number) {
  const known = await store.read(signingKeys)
  const sealing = await sealingOf(await sealingSecrets(config, store), known)
  return { known, key: await makeSigningKey(sealing, { createdAt: now(), startsAt }) }
}

/** The session cookie of the request, which no script can read. */
function sessionOf({ options }: World, { headers }: IncomingMessage): string | undefined {
  return sessionSecret(headers.cookie, options.cookies.cookie.name) ?? undefined
}

type Proofs = World['stolen']

/** Throws CONFLICT without such a proof. */
function proofFields({ options }: World, wanted: { proof: keyof Proofs }, proofs: Proofs): string[] {
  const presented = proofs[wanted.proof]
  if (presented === undefined) throw conflict('There is no such proof to send', 'Sign in first.')
  return wanted.proof === 'session'
    ? ['Cookie', `${options.cookies.cookie.name}=${presented}`]
    : ['Authorization', `Bearer ${presented}`]
}

type Sending = { method: string; path: string; fields: readonly string[]; agent: Agent }

/**
 * Sends a request to this process as a browser would, by way of its listener. `n`: the number of the exchange. `bytes`: so far on the
 * connection.
 */
async function sent({ options: { id } }: World, wanted: Sending, { raw, way }: From) {
  const { method, path: below, fields, agent } = wanted
  const length = method === 'GET' ? [] : ['Content-Length', '0']
  const headers = ['Host', raw.headers.host ?? '', 'Accept', '*/*', 'Carillon-Visit', id, ...length, ...fields]
  const from = performance.now()
  const outgoing = httpRequest(way.urlOf(below), { method, agent, headers }).end()
  const [received] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { socket, statusCode: status = 0 } = received
  await once(received.resume(), 'end')
  const n = Number(received.headers['carillon-exchange'])
  return { status, n, ms: performance.now() - from, bytes: socket.bytesRead + socket.bytesWritten }
}
