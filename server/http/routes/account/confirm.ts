// POST /api/me/confirm: the user of an open sign-in proves a factor again, or the password if there is none, so that the sign-in is fresh
// for ten minutes. A session is then fresh on every node, and has a new cookie; the caller with a token gets a new one, whose `auth_time` is now.
import type { FastifyReply } from 'fastify'
import { invalidCredentials, notAuthenticated } from '../../../errors.ts'
import { auditEntry } from '../../../sign-in/audit/entry.ts'
import { offeredFactors } from '../../../sign-in/factors/factors.ts'
import type { Assertion } from '../../../sign-in/factors/passkeys/passkeys.ts'
import { type FactorMethod, proveByCode, proveByPasskey } from '../../../sign-in/factors/proofs.ts'
import { checkCredentials } from '../../../sign-in/password/credentials.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { TokenSubject } from '../../../sign-in/token/access-token.ts'
import type { User } from '../../../store/store.ts'
import { iso } from '../../../times.ts'
import type { Dependencies } from '../../dependencies.ts'
import { ConfirmationBody } from '../../openapi/factor-schemas.ts'
import { renewOwnCookie } from '../../request/own-sign-in.ts'
import { presentedDevices } from '../../request/presented-devices.ts'
import { relyingPartyFor } from '../../request/relying-party.ts'
import { type RequestSource, sourceOf } from '../../request/source.ts'
import { goneSignal } from '../../response/event-stream.ts'
import { sendData } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { demandSecondFactor, passkeyLimits } from '../sign-in/second-factor.ts'
import { findEnabledUser } from '../sign-in/sign-in.ts'

export const confirm: Operation<Subject> = {
  id: 'confirmSignIn',
  tag: 'sign-in',
  summary:
    'Makes this sign-in fresh for 10 minutes, by a second factor or a password: 204 and a new cookie for a session, a new token for a token',
  body: ConfirmationBody,
  ...passkeyLimits,
  responses: { 201: 'TokenResponse', 204: 'none' },
  refusals: [
    'INVALID_CREDENTIALS',
    'SECOND_FACTOR_REQUIRED',
    'FACTOR_UNREADABLE',
    'UNPROCESSABLE',
    'TOO_MANY_REQUESTS',
  ],
  handle: confirmSignIn,
}

async function confirmSignIn(dependencies: Dependencies, request: GuardedRequest<Subject>, reply: FastifyReply) {
  const { caller } = request
  const { devices, deviceCookie } = dependencies
  const source = sourceOf(dependencies, request)
  const signal = goneSignal(reply)
  const user = await findEnabledUser(dependencies, caller)
  const device = devices.knownDevice(presentedDevices(request, deviceCookie), user)
  const { passkey, ...body } = request.body as ConfirmationBody
  const method =
    passkey === undefined
      ? await prove(dependencies, body, { user, caller, source, signal, device })
      : await provePasskeyOf(dependencies, passkey as Assertion, request)
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
  await store.recordAudit([entry])
  return sendData(reply.code(201), { token, expiresAt: iso(expiresAt) })
}

function provePasskeyOf(dependencies: Dependencies, passkey: Assertion, request: GuardedRequest<Subject>) {
  const source = sourceOf(dependencies, request)
  const relyingParty = relyingPartyFor(dependencies, request)
  const proving = { userId: request.caller.userId, address: source.address, relyingParty, source }
  return proveByPasskey(dependencies.factors, passkey, proving)
}

type Proving = { user: User; caller: Subject; source: RequestSource; signal: AbortSignal; device: string | undefined }

/**
 * If there is a second factor, the password alone does not do: a person who has learned it could remove the factor (OWASP ASVS 5.0, 7.5.1
 * requires a full authentication). Then a right one is SECOND_FACTOR_REQUIRED, as at a sign-in.
 */
async function prove(
  dependencies: Dependencies,
  { password, code, recoveryCode }: Omit<ConfirmationBody, 'passkey'>,
  proving: Proving,
): Promise<FactorMethod | 'password'> {
  const { user, caller, source, device } = proving
  const { factors } = dependencies
  const of = { userId: user.id, address: source.address, device }
  if (code !== undefined) return proveByCode(factors, { code }, of)
  if (recoveryCode !== undefined) return proveByCode(factors, { recoveryCode }, of)
  await checkPasswordOf(dependencies, password ?? '', proving)
  const offered = offeredFactors(await factors.store.factorsOf(user.id))
  if (offered.length === 0) return 'password'
  const variant = caller.proof === 'session' ? 'stateful' : 'stateless'
  throw await demandSecondFactor(dependencies, user, { facts: { variant, method: 'password', source }, offered })
}

async function checkPasswordOf(
  dependencies: Dependencies,
  password: string,
  { user, source, signal, device }: Proving,
) {
  const { address } = source
  const name = user.username ?? ''
  const found = await dependencies.store.findCredentials(name)
  // A user without a password, or a name that has become another user's meanwhile.
  if (found?.id !== user.id) throw invalidCredentials()
  await checkCredentials(dependencies, { name, user: found }, { password, address, signal, device })
}
