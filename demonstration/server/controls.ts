import type { IncomingMessage } from 'node:http'
import { conflict } from '../../server/basics/errors.ts'
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

/** An address for documentation (RFC 5737). */
const thiefAddress = '203.0.113.66'
const thiefAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'

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
  advance: control(seconds(1, 35 * 24 * 3_600), async (world, wanted) => {
    world.state.offsetMs += wanted.seconds * 1_000
  }),

  /** 0 seconds end the outage. */
  outage: control(seconds(0, 10), async (world, wanted) => {
    world.state.outageEndsAt = world.options.wall() + wanted.seconds * 1_000
  }),

  deliver: control(object({ title: text(1, 200) }), async (world, { title }) => {
    const request = { recipients: [{ userId: world.service.userId }], title }
    await world.service.deliveries.deliver('demonstration', request)
  }),

  steal: control(object({ token: optional(token) }), async (world, wanted, raw) => {
    const { cookie } = world.options.cookies
    world.stolen.session = sessionSecret(raw.headers.cookie, cookie.name) ?? undefined
    world.stolen.token = wanted.token
  }),

  thief: control(object({ proof, method: oneOf(['GET', 'POST']), path }), byThief),

  /** A thief renews the copied token every 14 minutes until that is refused. */
  'renew-copy': control(object({}), async (world, _, raw) => {
    const sent: number[] = []
    const wanted = { proof: 'token', method: 'POST', path: 'service/token/renew' } as const
    let isRenewed = true
    while (isRenewed) {
      world.state.offsetMs += 14 * 60_000
      const { n, status } = await byThief(world, wanted, raw)
      sent.push(n)
      isRenewed = status === 200
      if (isRenewed) world.stolen.token = JSON.parse(world.exchange(n).response.body).token
    }
    return { first: Math.min(...sent), last: Math.max(...sent) }
  }),

  /** Publishes the next key at once. It signs six minutes later (`advance`). */
  'rotate-key': control(object({}), async ({ service }) => {
    const { known, key } = await newKey(service, service.now() + publishedAheadMs)
    await service.store.write(addSigningKey, { key, after: lastOf(known)?.kid ?? null })
    await service.keys.tend()
  }),

  forge: control(object({}), async ({ service: { keys, config, now } }) => {
    const at = now()
    const id = newId(at)
    const signIn = { userId: id, username: 'admin', signInId: id, signedInAt: at, generation: 0 }
    const endsAt = at + config.tokenLifetimeMs
    const claims = claimsOf(signIn, { issuer: config.publicUrl, at, endsAt })
    return { token: signToken(keys.current, claims) }
  }),

  /** This server at once refuses all tokens of the key that signs. */
  'drop-key': control(object({}), async ({ service }) => {
    const { kid } = service.keys.current
    const { key } = await newKey(service, service.now())
    await service.store.write(dropSigningKey, { kid, key })
    await service.keys.tend()
  }),

  'read-keys': control(object({}), async (world) => {
    await world.others[0]?.keys.reload()
  }),
}

type Wanted = { proof: 'session' | 'token'; method: 'GET' | 'POST'; path: string }

/** Sends to this process's listener, as browsers would. Throws CONFLICT without such a proof. */
async function byThief({ options, stolen }: World, wanted: Wanted, raw: IncomingMessage) {
  const { method, proof: by } = wanted
  const copy = stolen[by]
  if (copy === undefined) throw conflict('There is no such proof to send', 'Sign in first.')
  const headers = {
    Host: raw.headers.host ?? '',
    'User-Agent': thiefAgent,
    'Carillon-Visit': options.id,
    ...(by === 'session'
      ? { Cookie: `${options.cookies.cookie.name}=${copy}` }
      : { Authorization: `Bearer ${copy}` }),
    ...options.way.fieldsOf(thiefAddress, 'thief'),
  }
  const response = await fetch(options.way.urlOf(wanted.path), { method, headers })
  await response.text()
  return { n: Number(response.headers.get('carillon-exchange')), status: response.status }
}

async function newKey({ store, config, now }: ComposedService, startsAt: number) {
  const known = await store.read(signingKeys)
  const sealing = await sealingOf(await sealingSecrets(config, store), known)
  return { known, key: await makeSigningKey(sealing, { createdAt: now(), startsAt }) }
}
