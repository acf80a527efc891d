import { recordAudit } from '../audit/audit.store.ts'
import { auditEntry, type RequestSource, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { invalidCredentials, notAuthenticated } from '../basics/errors.ts'
import { presentedDevices } from '../guessing/device-tokens.ts'
import { forUser, type Subject } from '../http/operation.ts'
import { goneSignal, sendData } from '../http/response/send.ts'
import { renewOwnCookie } from '../sessions/own-sign-in.ts'
import { TokenResponse } from '../sessions/sessions.schemas.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import { checkCredentials } from '../users/credentials.ts'
import { findCredentials, type User } from '../users/users.store.ts'
import { findEnabledUser } from '../users/users.ts'
import { ConfirmationBody } from './factors.schemas.ts'
import { presentedFactor, proveFactor } from './proofs.ts'
import { demandSecondFactor, type FactorNeeds, factorRefusals, passkeyLimits } from './second-factor.routes.ts'

export const confirm = forUser({
  summary:
    'Makes this sign-in fresh for 10 minutes, by a second factor or a password: 204 and a new cookie for a session, a new token for a token',
  body: ConfirmationBody,
  ...passkeyLimits,
  responses: { 201: TokenResponse, 204: 'none' },
  refusals: [...factorRefusals, 'SECOND_FACTOR_REQUIRED'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { caller } = request
    const { devices, sessions, accessTokens, store } = dependencies
    const source = sourceOf(dependencies, request)
    const signal = goneSignal(reply)
    const user = await findEnabledUser(dependencies, caller)
    const { id: userId } = user
    const device = devices.knownDevice(presentedDevices(dependencies, request), user)
    const { password, ...body } = request.body
    const presented = password === undefined ? presentedFactor(body) : ({ method: 'password' } as const)
    const { method } = presented
    const facts = { at: dependencies.users.now(), userId, signInId: caller.signInId, detail: { method } }
    // Recorded with the use of the proof: a confirmation beyond the limit of changes uses nothing up.
    const audit = [auditEntry(source, { event: 'confirmed', ...facts })]
    if (presented.method === 'password') {
      await provePassword(dependencies, password ?? '', { user, caller, source, signal, device })
      await store.write(recordAudit, audit)
    } else await proveFactor(dependencies, presented, { userId, source, device, audit }, request)
    if (caller.proof === 'session') {
      // The new secret is fresh, and no copy of the old one.
      const secret = await renewOwnCookie(dependencies, { request, reply })
      if (secret === null || !(await sessions.confirm(secret))) throw notAuthenticated()
      return reply.code(204).send()
    }
    const { token, expiresAt } = await accessTokens.confirm(caller as TokenSubject, user)
    return sendData(reply.code(201), { token, expiresAt: iso(expiresAt) })
  },
})

type Proving = { user: User; caller: Subject; source: RequestSource; signal: AbortSignal; device: string | undefined }

/**
 * If there is a second factor, the password alone does not do: a person who has learned it could remove the factor (OWASP ASVS 5.0, 7.5.1
 * requires a full authentication). Then a right one is SECOND_FACTOR_REQUIRED, as at a sign-in.
 */
async function provePassword(dependencies: FactorNeeds, password: string, proving: Proving): Promise<void> {
  const { user, caller, source, signal, device } = proving
  const name = user.username ?? ''
  const found = await dependencies.store.read(findCredentials, name)
  // A user without a password, or a name that has become another user's meanwhile.
  if (found?.id !== user.id) throw invalidCredentials()
  const { address } = source
  await checkCredentials(dependencies, { name, user: found }, { password, address, signal, device })
  const variant = caller.proof === 'session' ? 'stateful' : 'stateless'
  await demandSecondFactor(dependencies, user, { variant, method: 'password', source })
}
