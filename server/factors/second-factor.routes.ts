// The second step of a sign-in. `continueSignIn` follows the first one: it ends the sign-in, or demands a second factor, if the user
// has one. POST /login/second-factor then ends it.
import type { FastifyRequest } from 'fastify'
import { auditEntry, sourceOf } from '../audit/entry.ts'
import type { SignInLog } from '../audit/sign-in-log.ts'
import { secondFactorRequired } from '../basics/errors.ts'
import type { Sealing } from '../basics/secrets.ts'
import { presentedDevices } from '../guessing/device-tokens.ts'
import { forAnyone } from '../http/operation.ts'
import { sendObject } from '../http/response/send.ts'
import {
  type Exchange,
  finishSignIn,
  type SessionNeeds,
  type SignInFacts,
  type Variant,
} from '../sessions/finish-sign-in.ts'
import { Login } from '../sessions/sessions.schemas.ts'
import { findUser, type User } from '../users/users.store.ts'
import { type Bond, forgetFlow, isBound } from './bond.ts'
import { type ChallengeNeeds, findChallenge, makeChallenge } from './challenges.ts'
import { SecondFactorBody } from './factors.schemas.ts'
import { offeredFactors } from './factors.store.ts'
import { challengeEnded } from './factors.ts'
import { presentedFactor, proveFactor } from './proofs.ts'

/** The purpose of its challenge, and what the challenge says of the first step. */
const purpose = 'second-factor'
type Facts = SignInFacts & { bond?: Bond }
type FirstStep = { variant: Variant; generation: number; bond?: Bond }

/** What a sign-in with factors needs. `sealing`: for the secrets of authenticator apps, so that a reader of the database computes no codes. */
export type FactorNeeds = SessionNeeds & { sealing: Sealing; signInLog: SignInLog }

/** Signs in a user whose password was right. Throws what `demandSecondFactor` throws. */
export async function continueSignIn(dependencies: FactorNeeds, user: User, facts: Facts, exchange: Exchange) {
  await demandSecondFactor(dependencies, user, facts)
  return finishSignIn(dependencies, user, facts, exchange)
}

/** If the user has a factor, throws SECOND_FACTOR_REQUIRED with a challenge that completes the sign-in. `bond` says who may use it. */
export async function demandSecondFactor(
  dependencies: ChallengeNeeds,
  user: User,
  { source, method, variant, bond }: Facts,
): Promise<void> {
  const offered = await dependencies.store.read(offeredFactors, user.id)
  if (offered.length === 0) return
  const about = { at: dependencies.users.now(), userId: user.id, detail: { variant, method } }
  const entry = auditEntry(source, { event: 'second-factor-required', ...about })
  const data: FirstStep = { variant, generation: user.credentialGeneration, ...(bond && { bond }) }
  const challenge = await makeChallenge(dependencies, { userId: user.id, purpose, data, audit: [entry] })
  throw secondFactorRequired({ challenge, factors: offered })
}

/** For a body with a passkey: what browsers return has 20 keys, and with an RSA key 3 KB. */
export const passkeyLimits = { bodyLimit: 16 * 1024, maxFields: 40 }

/** What the check of a factor refuses. */
export const factorRefusals = [
  'INVALID_CREDENTIALS',
  'FACTOR_UNREADABLE',
  'UNPROCESSABLE',
  'TOO_MANY_REQUESTS',
] as const

export const complete = forAnyone({
  summary: 'Completes a sign-in that needs a second factor; the response is that of /login',
  body: SecondFactorBody,
  ...passkeyLimits,
  responses: { 200: Login },
  refusals: [...factorRefusals, 'UNAUTHORIZED', 'UNAVAILABLE'],
  async handle(dependencies: FactorNeeds, request, reply) {
    return sendObject(reply, await signInByFactor(dependencies, request.body, { request, reply }))
  },
})

/** A challenge that is unknown or has ended proves nothing about the user whom it names. */
const noAccount = { name: '', user: undefined }

/** What the response says. Throws the refusals of `complete`. */
export async function signInByFactor(
  dependencies: FactorNeeds,
  { challenge: text, ...body }: SecondFactorBody,
  { request, reply }: Exchange,
): Promise<object> {
  const { devices, signInLog } = dependencies
  const source = sourceOf(dependencies, request)
  const { user, variant, challenge, bond } = await findWaiting(dependencies, text, request).catch((error: unknown) => {
    throw signInLog.noted(error, source, { account: noAccount })
  })
  const presented = presentedFactor(body)
  const device = devices.knownDevice(presentedDevices(dependencies, request), user)
  try {
    await proveFactor(dependencies, presented, { userId: user.id, source, device, challenge }, request)
    const facts = { variant, method: presented.method, source }
    const completed = await finishSignIn(dependencies, user, facts, { request, reply })
    forgetFlow(dependencies, reply, bond?.flow)
    return completed
  } catch (error) {
    const account = { name: user.username ?? user.id, user }
    throw signInLog.noted(error, source, { account, variant })
  }
}

type WaitingNeeds = Pick<FactorNeeds, 'sealing' | 'store' | 'site' | 'users'>

/** Throws UNAUTHORIZED if the challenge has ended, also with the password or the user, or belongs to a sign-in of another browser. */
export async function findWaiting(dependencies: WaitingNeeds, text: string, request: FastifyRequest) {
  const found = await findChallenge(dependencies, text, purpose)
  const user = found === undefined ? undefined : await dependencies.store.read(findUser, found.key.userId)
  if (found === undefined || user === undefined || user.disabledAt !== null) throw challengeEnded()
  const { variant, generation, bond } = found.data as FirstStep
  if (generation !== user.credentialGeneration) throw challengeEnded()
  if (bond !== undefined && !(await isBound(dependencies, request, { bond }))) throw challengeEnded()
  return { user, variant, challenge: found.key, bond }
}
