// A challenge is 32 random bytes, which a client brings back once within five minutes. The store
// has its hash.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { equalSecrets, hashOf, randomText, type Sealing } from '../basics/secrets.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import type { Cookie, Site } from '../http/site.ts'
import type { Audited } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import {
  addChallenge,
  type ChallengeKey,
  findChallenge as findStoredChallenge,
} from './factors.store.ts'

const shape = /^([0-9a-f-]{36})\.[\w-]{43}$/

type ChallengeNeeds = { store: Store; users: { now: () => number } }

/** `data`: JSON without a secret. */
export async function makeChallenge(
  { store, users }: ChallengeNeeds,
  wanted: { userId: string; purpose: string; data: unknown; lifetimeMs?: number } & Audited,
): Promise<string> {
  const { lifetimeMs = 5 * 60_000, ...kept } = wanted
  const challenge = `${kept.userId}.${randomText()}`
  const stored = { ...kept, hash: hashOf(challenge), data: JSON.stringify(kept.data) }
  await store.write(addChallenge, { ...stored, expiresAt: users.now() + lifetimeMs })
  return challenge
}

/** Undefined also for another purpose. The caller uses `key` up together with the factor. */
export async function findChallenge(
  { store, users }: ChallengeNeeds,
  challenge: string,
  purpose: string,
) {
  const [, userId] = shape.exec(challenge) ?? []
  if (userId === undefined) return undefined
  const key: ChallengeKey = { userId, hash: hashOf(challenge) }
  const found = await store.read(findStoredChallenge, { ...key, at: users.now() })
  return found?.purpose === purpose ? { key, data: JSON.parse(found.data) as unknown } : undefined
}

// The code or challenge in the fragment of `return_to` needs the cookie of the browser that began,
// or the page's verifier and origin. A redirect may carry the fragment to another site (RFC 9700,
// section 4.1), which has neither.

/** `flow`: the needed cookie. `origin`: the page's, if not the service's. */
export type Bond = {
  flow?: string
  stateHash?: string
  challenge?: string | undefined
  origin?: string | undefined
}

export const flowLifetimeMs = 10 * 60_000

type FlowNeeds = { site: Pick<Site, 'cookie'>; sealing: Sealing }
type Claim = Bond & { verifier?: string | undefined }

export async function isBound(
  needs: FlowNeeds,
  request: FastifyRequest,
  claim: Claim,
): Promise<boolean> {
  const { challenge, origin, flow: id, stateHash = '', verifier } = claim
  if (origin !== undefined && request.raw.headers.origin !== origin) return false
  if (
    challenge !== undefined &&
    (verifier === undefined || !equalSecrets(hashOf(verifier), challenge))
  )
    return false
  if (id === undefined) return challenge !== undefined
  const flow = await readFlow(needs, request, id)
  return flow !== undefined && equalSecrets(hashOf(flow.state), stateHash)
}

/** Undefined without a cookie of this service. */
export async function readFlow<Flow extends { state: string }>(
  needs: FlowNeeds,
  { raw }: FastifyRequest,
  id: string,
) {
  const sealed = sessionSecret(raw.headers.cookie, flowCookie(needs.site, id).name)
  const text = sealed === null ? undefined : await needs.sealing.open('provider-sign-ins', sealed)
  return text === undefined ? undefined : (JSON.parse(text) as Flow)
}

export function forgetFlow(
  { site }: Pick<FlowNeeds, 'site'>,
  reply: FastifyReply,
  id: string | undefined,
): void {
  if (id !== undefined) setCookie(reply, flowCookie(site, id), '')
}

/** With '' as `id`, its name begins those of all such cookies. */
export function flowCookie({ cookie }: FlowNeeds['site'], id: string): Cookie {
  return { ...cookie, name: `${cookie.name}-with-${id}`, lifetimeMs: flowLifetimeMs }
}
