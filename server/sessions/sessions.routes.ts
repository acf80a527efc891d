import { auditEntry, deviceLabel, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { notAuthenticated, notFound } from '../basics/errors.ts'
import { isIdShaped, madeAt } from '../basics/ids.ts'
import type { Sealing } from '../basics/secrets.ts'
import {
  deviceOf,
  presentedDevices,
  type SeenDevice,
  tokenAfterSignIn,
} from '../guessing/device-tokens.ts'
import { forUser, type Guarded, type Subject } from '../http/operation.ts'
import { setCookie } from '../http/request/credentials.ts'
import { sendData } from '../http/response/send.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import { endProofs } from '../users/access/access.ts'
import { findEnabledUser } from '../users/find-user.ts'
import { isFresh, refuseStale, rotationOf, type SignInsNeeds } from './own-sign-in.ts'
import { DisownedResponse, ListQuery, UserSessionPageResponse } from './sessions.schemas.ts'
import * as stored from './sign-ins.store.ts'

type Needs = SignInsNeeds & {
  sealing: Sealing
  notices: { ofNewDevices: boolean }
  revocations: Pick<TokenRevocations, 'note'>
  /** In milliseconds. `stateless` includes all renewals. */
  signInLifetimes: { stateful: number; stateless: number }
}
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const list = forUser({
  summary:
    'Where the user is signed in, in both variants, in pages: the sign-in of this request first, then newest first',
  query: ListQuery,
  responses: { 200: UserSessionPageResponse },
  async handle(dependencies: Needs, request, reply) {
    const { limit = 100, after } = request.query
    const { userId, signInId } = request.caller
    const query = {
      userId,
      ownSignInId: signInId,
      alive: aliveNow(dependencies),
      after,
      limit: limit + 1,
    }
    const found = await dependencies.store.read(stored.listSignIns, query)
    const items = found.slice(0, limit).map((one) => display(dependencies, one, signInId))
    const last = items.at(-1)?.current ? lastId : (items.at(-1)?.id ?? null)
    return sendData(reply, { items, next: found.length > limit ? last : null })
  },
})

function aliveNow({ sessions, signInLifetimes, users }: Needs): stored.AliveSignIns {
  return {
    sessions: sessions.liveBounds(),
    tokensSince: users.now() - signInLifetimes.stateless + 1,
  }
}

function display({ signInLifetimes }: Needs, signIn: stored.ListedSignIn, ownSignInId: string) {
  const { signInId: id, variant, device, userAgent, address, createdAt, lastSeenAt } = signIn
  const expiresAt = iso(createdAt + signInLifetimes[variant])
  const times = { createdAt: iso(createdAt), lastSeenAt: iso(lastSeenAt), expiresAt }
  return {
    id,
    current: id === ownSignInId,
    variant,
    device: device ?? deviceLabel(userAgent),
    address,
    ...times,
  }
}

export const end = forUser({
  summary:
    'End one sign-in of the user, with its tokens and streams; without a recent sign-in, only a newer one that began more than ten minutes ago',
  refusals: ['NOT_FOUND', 'FRESH_SIGN_IN_REQUIRED', 'TOO_MANY_REQUESTS'],
  /** A stolen sign-in must end neither an earlier one of its owner (S18) nor each new one (S19). */
  async handle(dependencies: Needs, request, reply) {
    const { caller } = request
    const signInId = request.params.id.toLowerCase()
    const now = dependencies.users.now()
    const beganAt = isIdShaped(signInId) ? madeAt(signInId) : 0
    const isForStale = beganAt > madeAt(caller.signInId) && !isFresh(beganAt, now)
    const needsFresh = !isForStale && signInId !== caller.signInId
    if (needsFresh) refuseStale(caller, now)
    await endOne(dependencies, { request, reply }, { needsFresh })
  },
})

export const endOthers = forUser({
  summary:
    'End every other sign-in of the user, with tokens and streams; also the tokens that applications got for the user',
  refusals: ['TOO_MANY_REQUESTS'],
  async handle(dependencies: Needs, request) {
    const { userId, signInId } = request.caller
    const users = { ...dependencies.users, source: sourceOf(dependencies, request) }
    const change = { userId, proof: rotationOf(dependencies, request).rotation }
    const facts = { event: 'sessions-ended', userId, signInId } as const
    if ((await endProofs(users, stored.endOtherSignIns, change, facts)) === 'outdated')
      throw notAuthenticated()
  },
})

export const disown = forUser({
  summary: '"That was not me": end a sign-in of the user and ask for a new password',
  responses: { 200: DisownedResponse },
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: Needs, request, reply) {
    const { caller } = request
    const disowned = deviceOf(dependencies, sourceOf(dependencies, request), true)
    await endOne(dependencies, { request, reply }, { disowned })
    // Earlier device tokens are void, but the caller's device stays known.
    const user = await findEnabledUser(dependencies, caller)
    const deviceToken = tokenAfterSignIn(
      dependencies,
      presentedDevices(dependencies, request),
      user,
    )
    if (caller.proof === 'session') setCookie(reply, dependencies.site.deviceCookie, deviceToken)
    return sendData(reply, {
      passwordChangeRequired: true,
      ...(caller.proof === 'access-token' && { deviceToken }),
    })
  },
})

type Kind = { disowned?: SeenDevice; needsFresh?: boolean }

/** This node then refuses the sign-in. `disowned`: the caller's device. */
async function endOne(dependencies: Needs, { request, reply }: Guarded<Subject>, kind: Kind) {
  const { store, users, revocations, site } = dependencies
  const { caller } = request
  const { userId } = caller
  const signInId = request.params.id.toLowerCase()
  const source = sourceOf(dependencies, request)
  const at = users.now()
  const isOwn = signInId === caller.signInId && caller.proof === 'access-token'
  const event = kind.disowned === undefined ? 'session-ended' : 'sign-in-disowned'
  const audit = [auditEntry(source, { event, at, userId, signInId })]
  const change = { userId, signInId, isOwn, at, alive: aliveNow(dependencies), audit, ...kind }
  if ((await store.write(stored.endSignIn, change)) === 'absent')
    throw notFound(
      'There is no such session',
      'It may have ended; GET /api/me/sessions lists those that are open.',
    )
  revocations.note({ userId, signInId })
  if (caller.proof === 'session' && signInId === caller.signInId) setCookie(reply, site.cookie, '')
}
