import { sourceOf } from '../audit/entry.ts'
import { notAuthenticated } from '../basics/errors.ts'
import { forUser } from '../http/operation.ts'
import { setCookie } from '../http/request/credentials.ts'
import { sendData } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import { eraseUser } from './access/access.ts'
import { displaySession } from './display-user.ts'
import { findEnabledUser, type UserNeeds } from './find-user.ts'
import { readProfile, refuseFaults } from './profile.ts'
import { MeResponse, OwnProfile } from './users.schemas.ts'
import { storeChange } from './users.ts'

type Needs = UserNeeds & { policy: FactorPolicy }

export const me = forUser({
  summary: 'The signed-in user and the proof in use',
  responses: { 200: MeResponse },
  async handle({ users, policy }: Needs, { caller }, reply) {
    const user = await findEnabledUser(users, caller)
    return sendData(reply, displaySession(user, caller, policy))
  },
})

export const change = forUser({
  summary: 'Change the display name or the language of the signed-in user',
  body: OwnProfile,
  // The longest name, all in escapes.
  bodyLimit: 16 * 1024,
  responses: { 200: MeResponse },
  refusals: ['TOO_MANY_REQUESTS'],
  async handle(dependencies: Needs, request, reply) {
    const { caller } = request
    const { users, policy } = dependencies
    const source = sourceOf(dependencies, request)
    const { profile, faults } = readProfile(request.body)
    refuseFaults(faults)
    const user = await findEnabledUser(users, caller)
    const outcome = await storeChange(
      { ...users, source },
      { user, fields: profile, signInId: caller.signInId },
    )
    if (outcome === 'absent') throw notAuthenticated()
    return sendData(reply, displaySession(await findEnabledUser(users, caller), caller, policy))
  },
})

export const erase = forUser({
  summary:
    'Erase the account of the signed-in user with inbox, sessions and tokens; this cannot be undone',
  refusals: ['CONFLICT'],
  async handle(
    { users, site }: UserNeeds & { site: Pick<Site, 'cookie'> },
    { id: requestId, caller },
    reply,
  ) {
    // The entry outlives the user.
    const source = { actor: 'user', address: null, userAgent: null, requestId }
    if ((await eraseUser({ ...users, source }, caller.userId)) === 'absent')
      throw notAuthenticated()
    if (caller.proof === 'session') setCookie(reply, site.cookie, '')
  },
})
