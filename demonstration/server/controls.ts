// What the page can change in a world: its clock, database and keys, and what a thief does.
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { CarillonError, conflict } from '../../server/basics/errors.ts'
import { newId } from '../../server/basics/ids.ts'
import {
  integer,
  object,
  oneOf,
  optional,
  type Schema,
  type TypeOf,
  text,
} from '../../server/http/openapi/schema.ts'
import { sessionSecret } from '../../server/http/request/credentials.ts'
import { makeSigningKey, sealingOf, signToken } from '../../server/tokens/key-material.ts'
import { lastOf, publishedAheadMs } from '../../server/tokens/key-schedule.ts'
import { claimsOf } from '../../server/tokens/read-token.ts'
import { sealingSecrets } from '../../server/tokens/sealing-secret.ts'
import {
  addSigningKey,
  dropSigningKey,
  signingKeys,
} from '../../server/tokens/signing-keys.store.ts'
import type { ComposedService, World } from './world.ts'

/** The address is for documentation only (RFC 5737). */
const thiefAddress = '203.0.113.66'
const thiefAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'
const measuredRequests = 100

/** Counts as one request of the world. */
function control<In, Out>(
  body: Schema<In>,
  act: (world: World, wanted: In, raw: IncomingMessage) => Promise<Out>,
) {
  return { body, act }
}

/** Without data, the response has `{}`. */
export type Controls = {
  [Name in keyof typeof controls]: {
    in: TypeOf<(typeof controls)[Name]['body']>
    out: Awaited<ReturnType<(typeof controls)[Name]['act']>>
  }
}

const seconds = (minimum: number, maximum: number) =>
  object({ seconds: integer({ minimum, maximum }) })
const proof = oneOf(['session', 'token'])
/** It becomes a header field, so it has no line break. */
const token = text(1, 4_000, { pattern: '^[ -~]*$' })
const path = text(1, 200, { pattern: '^(service|other-server|servers)/[\\w/-]+$' })

export const controls = {
  /** The clock goes forward, by 35 days at most. */
  advance: control(seconds(1, 35 * 24 * 3_600), async (world, wanted) => {
    world.state.offsetMs += wanted.seconds * 1_000
  }),

  /** The database is away for 10 seconds at most; 0 ends it. */
  outage: control(seconds(0, 10), async (world, wanted) => {
    world.state.outageEndsAt = world.options.wall() + wanted.seconds * 1_000
  }),

  deliver: control(object({ title: text(1, 200) }), async (world, { title }) => {
    const request = { recipients: [{ userId: world.service.userId }], title }
    await world.service.deliveries.deliver('demonstration', request)
  }),

  /** The cookie of this request, and this token. */
  steal: control(object({ token: optional(token) }), async (world, wanted, raw) => {
    world.stolen = { session: sessionOf(world, raw), token: wanted.token }
  }),

  /** `n`: the number of the exchange. */
  thief: control(
    object({ proof, method: oneOf(['GET', 'POST']), path }),
    async (world, wanted, raw) => {
      const { n, status } = await byThief(world, wanted, raw)
      return { n, status }
    },
  ),

  /** A thief renews the copied token every 14 minutes, until that is refused. */
  'renew-copy': control(object({}), async (world, _, raw) => {
    const began = world.service.now()
    const renewals: number[] = []
    const wanted = { proof: 'token', method: 'POST', path: 'service/token/renew' } as const
    for (let isDone = false; !isDone; ) {
      world.state.offsetMs += 14 * 60_000
      const { n, status } = await byThief(world, wanted, raw)
      renewals.push(n)
      isDone = status !== 200
      if (!isDone) world.stolen.token = JSON.parse(world.exchange(n).response.body).token
    }
    return { began, first: renewals[0] ?? 0, last: renewals.at(-1) ?? 0 }
  }),

  /** 100 requests, which are in no exchange. */
  measure: control(object({ proof, path, token: optional(token) }), async (world, wanted, raw) => {
    const own = world.options.way.fieldsOf('127.0.0.1', 'machine')
    const proofs = { session: sessionOf(world, raw), token: wanted.token }
    const fields = [...proofFields(world, wanted.proof, proofs), ...own]
    const before = world.state.reads
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    let bytes = 0
    for (let n = 0; n < measuredRequests; n++)
      bytes = (await sent(world, { ...wanted, method: 'GET', fields, agent }, raw)).bytes
    agent.destroy()
    const added = `${own.join(': ')}\r\n`.length
    return { lookUps: world.state.reads - before, bytes: bytes - measuredRequests * added }
  }),

  /** The next key is published at once, and signs six minutes later by `advance`. */
  'rotate-key': control(object({}), async ({ service }) => {
    const { known, key } = await newKey(service, service.now() + publishedAheadMs)
    await service.store.write(addSigningKey, { key, after: lastOf(known)?.kid ?? null })
    await service.keys.tend()
  }),

  /** A thief with the private key signs a token for any name. */
  forge: control(object({ username: text(1, 60) }), async ({ service }, { username }) => {
    const { keys, config, now } = service
    const at = now()
    const signIn = {
      userId: newId(at),
      username,
      signInId: newId(at),
      signedInAt: at,
      generation: 0,
    }
    const claims = claimsOf(signIn, {
      issuer: config.publicUrl,
      at,
      endsAt: at + config.tokenLifetimeMs,
    })
    return { token: signToken(keys.current, claims), kid: keys.current.kid }
  }),

  /** This server refuses every token of the key at once. */
  'drop-key': control(object({ kid: text(1, 100) }), async ({ service }, { kid }) => {
    const { key } = await newKey(service, service.now())
    if ((await service.store.write(dropSigningKey, { kid, key })) === 'absent')
      throw new CarillonError('NOT_FOUND', 'There is no such key')
    await service.keys.tend()
  }),

  'read-keys': control(object({}), async (world) => {
    await world.others[0]?.keys.reload()
  }),
}

type Wanted = { proof: keyof Proofs; method: 'GET' | 'POST'; path: string }

function byThief(world: World, wanted: Wanted, raw: IncomingMessage) {
  const proofs = proofFields(world, wanted.proof, world.stolen)
  const own = world.options.way.fieldsOf(thiefAddress, 'thief')
  const fields = ['User-Agent', thiefAgent, ...proofs, ...own]
  return sent(world, { ...wanted, fields, agent: new Agent() }, raw)
}

async function newKey({ store, config, now }: ComposedService, startsAt: number) {
  const known = await store.read(signingKeys)
  const sealing = await sealingOf(await sealingSecrets(config, store), known)
  return { known, key: await makeSigningKey(sealing, { createdAt: now(), startsAt }) }
}

function sessionOf({ options }: World, { headers }: IncomingMessage): string | undefined {
  return sessionSecret(headers.cookie, options.cookies.cookie.name) ?? undefined
}

type Proofs = World['stolen']

/** Throws CONFLICT without such a proof. */
function proofFields({ options }: World, by: keyof Proofs, proofs: Proofs): string[] {
  const presented = proofs[by]
  if (presented === undefined) throw conflict('There is no such proof to send', 'Sign in first.')
  return by === 'session'
    ? ['Cookie', `${options.cookies.cookie.name}=${presented}`]
    : ['Authorization', `Bearer ${presented}`]
}

type Sending = { method: string; path: string; fields: readonly string[]; agent: Agent }

/** Through the listener of this process, as a browser would. `n`: the number of the exchange. */
async function sent({ options }: World, wanted: Sending, raw: IncomingMessage) {
  const { method, path: below, fields, agent } = wanted
  const host = ['Host', raw.headers.host ?? '', 'Accept', '*/*', 'Carillon-Visit', options.id]
  const length = method === 'GET' ? [] : ['Content-Length', '0']
  const headers = [...host, ...length, ...fields]
  const outgoing = httpRequest(options.way.urlOf(below), { method, agent, headers }).end()
  const [received] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { socket, statusCode: status = 0 } = received
  await once(received.resume(), 'end')
  const n = Number(received.headers['carillon-exchange'])
  return { status, n, bytes: socket.bytesRead + socket.bytesWritten }
}
