// The second step of a sign-in. `continueSignIn` follows the first one: it ends the sign-in, or demands a second factor, if the user
// has one. POST /login/second-factor then ends it. POST /api/me/confirm makes a sign-in fresh by the same proofs.
import type { FastifyRequest } from 'fastify'
import { auditEntry, type RequestSource, recorded, sourceOf } from '../audit/entry.ts'
import * as errors from '../basics/errors.ts'
import { knownDevice, presentedDevices } from '../guessing/device-tokens.ts'
import type { Guesser } from '../guessing/guesses.ts'
import { type Exchange, forAnyone, forUser } from '../http/operation.ts'
import { goneSignal, sendData, sendObject } from '../http/response/send.ts'
import { finishSignIn, type SignInFacts, type Variant } from '../sessions/finish-sign-in.ts'
import { newProof, rotationOf } from '../sessions/own-sign-in.ts'
import { Login, TokenResponse } from '../sessions/sessions.schemas.ts'
import { rotateSignIn } from '../tokens/rotation.store.ts'
import { checkCredentials } from '../users/credentials.ts'
import { findCredentials, type User } from '../users/users.store.ts'
import { findEnabledUser, readerOf } from '../users/users.ts'
import { type Bond, findChallenge, forgetFlow, isBound, makeChallenge } from './challenges.ts'
import { ConfirmationBody, SecondFactorBody } from './factors.schemas.ts'
import { factorsOf, offeredFactors, type Use, useFactor, useRecoveryCode } from './factors.store.ts'
import { challengeEnded, type FactorNeeds, hashOfRecoveryCode, secretOf, stepOfCode } from './factors.ts'
import type { Assertion } from './passkeys/ceremonies.ts'
import { usePasskey } from './passkeys/passkeys.ts'

/** The purpose of its challenge, and what the challenge says of the first step. */
const purpose = 'second-factor'
type Facts = SignInFacts & { bond?: Bond }
type FirstStep = { variant: Variant; generation: number; bond?: Bond }

/** Signs in a user whose password was right. Throws what `demandSecondFactor` throws. */
export async function continueSignIn(dependencies: FactorNeeds, user: User, facts: Facts, exchange: Exchange) {
  await demandSecondFactor(dependencies, user, facts)
  return finishSignIn(dependencies, user, facts, exchange)
}

/** If the user has a factor, throws SECOND_FACTOR_REQUIRED with a challenge that completes the sign-in. `bond` says who may use it. */
async function demandSecondFactor(dependencies: FactorNeeds, user: User, { source, method, variant, bond }: Facts) {
  const offered = await dependencies.store.read(offeredFactors, user.id)
  if (offered.length === 0) return
  const about = { at: dependencies.users.now(), userId: user.id, detail: { variant, method } }
  const entry = auditEntry(source, { event: 'second-factor-required', ...about })
  const data: FirstStep = { variant, generation: user.credentialGeneration, ...(bond && { bond }) }
  const challenge = await makeChallenge(dependencies, { userId: user.id, purpose, data, audit: [entry] })
  throw errors.secondFactorRequired({ challenge, factors: offered })
}

/** For a body with a passkey: what browsers return has 20 keys, and with an RSA key 3 KB. */
export const passkeyLimits = { bodyLimit: 16 * 1024, maxFields: 40 }

/** What the check of a factor refuses. */
const factorRefusals = ['INVALID_CREDENTIALS', 'FACTOR_UNREADABLE', 'UNPROCESSABLE', 'TOO_MANY_REQUESTS'] as const

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

/** What the response says. Throws the refusals of `complete`. */
export async function signInByFactor(dependencies: FactorNeeds, given: SecondFactorBody, { request, reply }: Exchange) {
  const { challenge: text, ...body } = given
  const { signInLog } = dependencies
  const source = sourceOf(dependencies, request)
  const { user, variant, challenge, bond } = await findWaiting(dependencies, text, request).catch((error: unknown) => {
    // A challenge that is unknown or has ended proves nothing about the user whom it names.
    throw signInLog.noted(error, source, { account: { name: '', user: undefined } })
  })
  const presented = presentedFactor(body)
  const device = knownDevice(dependencies, presentedDevices(dependencies, request), user)
  try {
    const guesser = { account: user.id, address: source.address, device }
    await proveFactor(dependencies, presented, { userId: user.id, request, source, guesser, challenge })
    const facts = { variant, method: presented.method, source }
    const completed = await finishSignIn(dependencies, user, facts, { request, reply })
    forgetFlow(dependencies, reply, bond?.flow)
    return completed
  } catch (error) {
    throw signInLog.noted(error, source, { account: { name: user.username ?? user.id, user }, variant })
  }
}

/** Throws UNAUTHORIZED if the challenge has ended, also with the password or the user, or belongs to a sign-in of another browser. */
export async function findWaiting(dependencies: FactorNeeds, text: string, request: FastifyRequest) {
  const found = await findChallenge(dependencies, text, purpose)
  const user = await readerOf(dependencies, found?.key)
  if (found === undefined || user === undefined) throw challengeEnded()
  const { variant, generation, bond } = found.data as FirstStep
  if (generation !== user.credentialGeneration) throw challengeEnded()
  if (bond !== undefined && !(await isBound(dependencies, request, bond))) throw challengeEnded()
  return { user, variant, challenge: found.key, bond }
}

export const confirm = forUser({
  summary:
    'Makes this sign-in fresh for 10 minutes, by a second factor or a password: 204 and a new cookie for a session, a new token for a token',
  body: ConfirmationBody,
  ...passkeyLimits,
  responses: { 201: TokenResponse, 204: 'none' },
  refusals: [...factorRefusals, 'SECOND_FACTOR_REQUIRED'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { caller } = request
    const { userId, signInId } = caller
    const { store } = dependencies
    const source = sourceOf(dependencies, request)
    const signal = goneSignal(reply)
    const user = await findEnabledUser(dependencies, caller)
    const { password, ...body } = request.body
    const presented = password === undefined ? presentedFactor(body) : { method: 'password' as const, password }
    const facts = { event: 'confirmed', userId, signInId, detail: { method: presented.method } } as const
    const own = rotationOf(dependencies, request, true)
    const { rotation } = own
    // Recorded with the use of the proof: a confirmation beyond the limit of changes uses nothing up.
    const { audit } = recorded({ ...dependencies.users, source }, facts)
    if (presented.method === 'password') {
      const name = user.username ?? ''
      const found = await store.read(findCredentials, name)
      // A user without a password, or a name that has become another user's meanwhile.
      if (found?.id !== userId) throw errors.invalidCredentials()
      const attempt = { password: presented.password, signal, device: signInId, from: source.address }
      await checkCredentials(dependencies, { name, user: found }, attempt)
      // A person who has learned the password could remove a factor (OWASP ASVS 5.0, 7.5.1).
      const factors = await store.read(offeredFactors, userId)
      if (factors.length > 0) throw errors.secondFactorRequired({ challenge: '', factors })
      if ((await store.write(rotateSignIn, { rotation, audit })) === 'outdated') throw errors.notAuthenticated()
    } else {
      const guesser = { account: userId, device: signInId }
      await proveFactor(dependencies, presented, { userId, request, source, guesser, rotation, audit })
    }
    const proof = await newProof(dependencies, { request, reply }, own)
    return proof === undefined ? reply.code(204).send() : sendData(reply.code(201), proof)
  },
})

// Is this the user's second factor? A right one is used up, together with the challenge that it answers. Every attempt is a guess that is
// counted (A9), in a count of its own: a right password allows no more guesses of a code.

type PresentedFactor = { method: 'totp' | 'recovery-code'; code: string } | { method: 'passkey'; passkey: Assertion }
/** `guesser`: with a known device, or the sign-in, of this user: the guesses of others do not delay it. It proves no factor. */
type Proving = Omit<Use, 'at'> & { request: FastifyRequest; source: RequestSource; guesser: Guesser }

/** Throws INVALID_REQUEST unless there is exactly one. */
function presentedFactor({ code, recoveryCode, passkey }: Omit<SecondFactorBody, 'challenge'>): PresentedFactor {
  const given = [code, recoveryCode, passkey].filter((one) => one !== undefined)
  if (given.length !== 1) throw errors.invalidField('code', 'or recoveryCode, or passkey: send exactly one of them')
  if (code !== undefined) return { method: 'totp', code }
  if (recoveryCode !== undefined) return { method: 'recovery-code', code: recoveryCode }
  return { method: 'passkey', passkey: passkey as Assertion }
}

/**
 * Throws INVALID_CREDENTIALS for a wrong code and one that was used, FACTOR_UNREADABLE if an app could not be checked, UNAUTHORIZED if the
 * challenge or the rotation has ended, and TOO_MANY_REQUESTS, before anything is compared, after too many failures. For a passkey, throws as
 * `usePasskey`: the guesses of others never delay it.
 */
async function proveFactor(dependencies: FactorNeeds, presented: PresentedFactor, proving: Proving): Promise<void> {
  if (presented.method === 'passkey') {
    await usePasskey(dependencies, presented.passkey, proving)
    return
  }
  const { request: _, source: __, guesser, ...of } = proving
  const { guesses, store, users } = dependencies
  const guess = await guesses.begin(guesses.of(guesser, 'second-factor'))
  const { method, code } = presented
  const use = { ...of, at: users.now() }
  const outcome =
    method === 'totp'
      ? await useCode(dependencies, code, use)
      : await store.write(useRecoveryCode, { ...use, codeHash: hashOfRecoveryCode(code) })
  // It says nothing about the guess.
  if (outcome === 'outdated') await guesses.succeed(guess)
  if (outcome === 'no-challenge') throw challengeEnded()
  if (outcome === 'outdated' || outcome === 'absent') throw errors.notAuthenticated()
  if (outcome !== 'done') throw errors.wrongSecondFactor()
  await guesses.succeed(guess)
}

async function useCode(dependencies: FactorNeeds, code: string, use: Use) {
  const { store } = dependencies
  let unreadable: unknown
  for (const factor of (await store.read(factorsOf, use.userId)).factors) {
    if (factor.kind !== 'totp' || factor.confirmedAt === null) continue
    // Another app of the user may be readable.
    const secret = await secretOf(dependencies, factor).catch((error: unknown) => {
      unreadable = error
    })
    const step = secret && (await stepOfCode(secret, code, use.at))
    if (typeof step === 'number') return store.write(useFactor, { ...use, factorId: factor.id, step })
  }
  if (unreadable !== undefined) throw unreadable
  return 'refused'
}
