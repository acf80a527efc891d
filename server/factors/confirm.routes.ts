import { recordAudit } from '../audit/audit.store.ts'
import { auditEntry } from '../audit/entry.ts'
import { type RequestSource, sourceOf } from '../audit/source.ts'
import { invalidCredentials, notAuthenticated } from '../basics/errors.ts'
import { iso } from '../basics/times.ts'
import { presentedDevices } from '../guessing/device-tokens.ts'
import type { Subject } from '../http/callers.ts'
import { forUser } from '../http/operation.ts'
import { goneSignal, sendData } from '../http/response/send.ts'
import { renewOwnCookie } from '../sessions/own-sign-in.ts'
import { TokenResponse } from '../sessions/tokens.schemas.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import { checkCredentials } from '../users/credentials.ts'
import type { User } from '../users/user-rows.store.ts'
import { findCredentials } from '../users/users.store.ts'
import { findEnabledUser } from '../users/users.ts'
import { ConfirmationBody } from './factors.schemas.ts'
import { factorsOf } from './factors.store.ts'
import { offeredFactors } from './factors.ts'
import {
  demandSecondFactor,
  type FactorNeeds,
  passkeyLimits,
  presentedFactor,
  proveFactor,
} from './second-factor.routes.ts'

export const confirm = forUser({
  summary:
    'Makes this sign-in fresh for 10 minutes, by a second factor or a password: 204 and a new cookie for a session, a new token for a token',
  body: ConfirmationBody,
  ...passkeyLimits,
  responses: { 201: TokenResponse, 204: 'none' },
  refusals: [
    'INVALID_CREDENTIALS',
    'SECOND_FACTOR_REQUIRED',
    'FACTOR_UNREADABLE',
    'UNPROCESSABLE',
    'TOO_MANY_REQUESTS',
  ],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { caller } = request
    const { devices } = dependencies
    const source = sourceOf(dependencies, request)
    const signal = goneSignal(reply)
    const user = await findEnabledUser(dependencies, caller)
    const device = devices.knownDevice(presentedDevices(dependencies, request), user)
    const { password, ...factor } = request.body
    const method =
      password === undefined
        ? await proveFactor(dependencies, presentedFactor(factor), { userId: user.id, source, device }, request)
        : await provePassword(dependencies, password, { user, caller, source, signal, device })
    const { sessions, accessTokens, store } = dependencies
    const [at, { signInId }] = [dependencies.users.now(), caller]
    const entry = auditEntry(source, { event: 'confirmed', at, userId: user.id, signInId, detail: { method } })
    if (caller.proof === 'session') {
      // The new secret is fresh, and no copy of the old one.
      const secret = await renewOwnCookie(dependencies, { request, reply })
      if (secret === null || !(await sessions.confirm(secret, [entry]))) throw notAuthenticated()
      return reply.code(204).send()
    }
    const { token, expiresAt } = await accessTokens.confirm(caller as TokenSubject, user)
    await store.write(recordAudit, [entry])
    return sendData(reply.code(201), { token, expiresAt: iso(expiresAt) })
  },
})

type Proving = { user: User; caller: Subject; source: RequestSource; signal: AbortSignal; device: string | undefined }

/**
 * If there is a second factor, the password alone does not do: a person who has learned it could remove the factor (OWASP ASVS 5.0, 7.5.1
 * requires a full authentication). Then a right one is SECOND_FACTOR_REQUIRED, as at a sign-in.
 */
async function provePassword(dependencies: FactorNeeds, password: string, proving: Proving): Promise<'password'> {
  const { user, caller, source, signal, device } = proving
  const { factors, store } = dependencies
  const name = user.username ?? ''
  const found = await store.read(findCredentials, name)
  // A user without a password, or a name that has become another user's meanwhile.
  if (found?.id !== user.id) throw invalidCredentials()
  const { address } = source
  await checkCredentials(dependencies, { name, user: found }, { password, address, signal, device })
  const offered = offeredFactors(await factors.store.read(factorsOf, user.id))
  if (offered.length === 0) return 'password'
  const variant = caller.proof === 'session' ? 'stateful' : 'stateless'
  throw await demandSecondFactor(dependencies, user, { facts: { variant, method: 'password', source }, offered })
}
