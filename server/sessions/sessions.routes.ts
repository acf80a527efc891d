import { sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { isIdShaped, madeAt } from '../basics/ids.ts'
import { presentedDevices } from '../guessing/device-tokens.ts'
import { forUser, type GuardedRequest, type Subject } from '../http/operation.ts'
import { setCookie } from '../http/request/credentials.ts'
import { sendData } from '../http/response/send.ts'
import { findEnabledUser } from '../users/users.ts'
import { deviceOf, type SessionNeeds } from './finish-sign-in.ts'
import { refuseStale } from './own-sign-in.ts'
import { DisownedResponse, SessionsQuery, UserSessionPageResponse } from './sessions.schemas.ts'
import type { Own, SignIns } from './sign-ins.ts'

type Needs = SessionNeeds & { signIns: SignIns }

export const list = forUser({
  summary:
    'Where the user is signed in, in both variants, in pages: the sign-in of this request first, then newest first',
  query: SessionsQuery,
  responses: { 200: UserSessionPageResponse },
  async handle(dependencies: Needs, request, reply) {
    const { limit = 100, after } = request.query
    const own = ownOf(dependencies, request)
    const { items, next } = await dependencies.signIns.list(own, { after, limit })
    const displayed = items.map(({ createdAt, lastSeenAt, expiresAt, ...one }) => {
      return { ...one, createdAt: iso(createdAt), lastSeenAt: iso(lastSeenAt), expiresAt: iso(expiresAt) }
    })
    return sendData(reply, { items: displayed, next })
  },
})

export const end = forUser({
  summary: 'End one sign-in of the user, with its tokens and streams; without a recent sign-in, only a newer one',
  refusals: ['NOT_FOUND', 'FRESH_SIGN_IN_REQUIRED', 'TOO_MANY_REQUESTS'],
  /** A stolen sign-in must not end its owner's, which began before it (S18). The id has the time of the sign-in, whether there is one or not. */
  async handle(dependencies: Needs, request, reply) {
    const { caller } = request
    const own = ownOf(dependencies, request)
    const signInId = request.params.id.toLowerCase()
    const isNewer = isIdShaped(signInId) && madeAt(signInId) > madeAt(caller.signInId)
    if (!isNewer && signInId !== caller.signInId) refuseStale(caller, dependencies.users.now())
    await dependencies.signIns.end(own, signInId)
    if (caller.proof === 'session' && signInId === caller.signInId) setCookie(reply, dependencies.site.cookie, '')
  },
})

export const endOthers = forUser({
  summary:
    'End every other sign-in of the user, with tokens and streams; also the tokens that applications got for the user',
  refusals: ['TOO_MANY_REQUESTS'],
  async handle(dependencies: Needs, request) {
    await dependencies.signIns.endOthers(ownOf(dependencies, request))
  },
})

export const disown = forUser({
  summary: '"That was not me": end a sign-in of the user and ask for a new password',
  responses: { 200: DisownedResponse },
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: Needs, request, reply) {
    const { devices, signIns, site } = dependencies
    const { caller } = request
    const own = ownOf(dependencies, request)
    const signInId = request.params.id.toLowerCase()
    await signIns.end(own, signInId, deviceOf(dependencies, own.source, true))
    if (caller.proof === 'session' && signInId === caller.signInId) setCookie(reply, site.cookie, '')
    // The device tokens from before are void; the caller's device stays known.
    const user = await findEnabledUser(dependencies, caller)
    const deviceToken = devices.afterSignIn(presentedDevices(dependencies, request), user)
    if (caller.proof === 'session') setCookie(reply, site.deviceCookie, deviceToken)
    return sendData(reply, { passwordChangeRequired: true, ...(caller.proof === 'access-token' && { deviceToken }) })
  },
})

function ownOf(dependencies: Needs, request: GuardedRequest<Subject>): Own {
  return { caller: request.caller, source: sourceOf(dependencies, request) }
}
