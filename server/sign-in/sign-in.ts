// What follows a proof in every sign-in. sign-in-attempts.ts, links/ and providers/ prove users.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { auditEntry, type RequestSource, type Source, sourceOf } from '../audit/entry.ts'
import type { SignInLog } from '../audit/sign-in-log.ts'
import { iso } from '../basics/clock.ts'
import { counts } from '../basics/counts.ts'
import { forbidden, invalidCredentials, secondFactorRequired } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { type Bond, findChallenge, isBound, makeChallenge } from '../factors/challenges.ts'
import { offeredFactors } from '../factors/factors.store.ts'
import { challengeEnded, type FactorNeeds } from '../factors/factors.ts'
import {
  deviceOf,
  knownDevice,
  presentedDevices,
  type SeenDevice,
  tokenAfterSignIn,
} from '../guessing/device-tokens.ts'
import type { Exchange, GuardedRequest, ProvedFactor } from '../http/operation.ts'
import { presentedTokens, sessionSecrets, setCookie } from '../http/request/credentials.ts'
import { comesFromOtherSite } from '../http/requests.ts'
import type { Notices } from '../reach/notices.ts'
import type { SignInsNeeds } from '../sessions/own-sign-in.ts'
import { noteDevice } from '../sessions/sign-ins.store.ts'
import type { AuditEntry } from '../store/events.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { type FactorPolicy, strongest } from '../tokens/factor-policy.ts'
import { displayUser } from '../users/display-user.ts'
import { readerOf } from '../users/find-user.ts'
import type { User } from '../users/users.store.ts'

export type SignInNeeds = FactorNeeds & {
  signInLog: SignInLog
  notices: Notices
  policy: FactorPolicy
}

export type Variant = 'stateful' | 'stateless'

/** `method`: what the user proved. `factor`: earlier proofs. `bond`: who may use the challenge. */
type SignInFacts = {
  variant: Variant
  method: keyof typeof counts.signIns
  source: RequestSource
  factor?: ProvedFactor | undefined
  bond?: Bond
}

/** A passkey proves two factors at once. Undefined for a method without a factor of Carillon. */
export function factorOf(method: SignInFacts['method'] | 'password'): ProvedFactor | undefined {
  if (method === 'passkey') return 'phr'
  return method === 'totp' || method === 'recovery-code' ? 'mfa' : undefined
}

/**
 * `user`: as checked. Throws SECOND_FACTOR_REQUIRED, FORBIDDEN for a reported password on a new
 * device, INVALID_CREDENTIALS if the proofs were revoked since.
 */
export async function signIn(
  needs: SignInNeeds,
  user: User,
  facts: SignInFacts,
  { request, reply }: Exchange,
) {
  const { variant, method, source } = facts
  if (factorOf(method) === undefined) await demandSecondFactor(needs, user, facts)
  const factor = strongest(facts.factor, factorOf(method))
  const deviceTokens = presentedDevices(needs, request)
  const isKnownDevice = knownDevice(needs, deviceTokens, user) !== undefined
  // The user said that another person signed in, who knows the password.
  if (method === 'password' && user.passwordReportedAt !== null && !isKnownDevice)
    throw forbidden(
      'The password of this account was reported as known to others',
      'Set a new one in a session that is still open, or by a reset link.',
    )
  const at = needs.users.now()
  const signInId = newId(at)
  const { id: userId, username, credentialGeneration: generation } = user
  const secondFactor = needs.policy.demandOn({ userId, factor })
  const detail = { variant, method, generation, ...(secondFactor?.setupOnly && { scope: 'setup' }) }
  const entry = auditEntry(source, { event: 'sign-in', at, userId, username, signInId, detail })
  // The user may have disowned another sign-in meanwhile.
  const from = {
    ...deviceOf(needs, source, isKnownDevice),
    deviceGeneration: user.deviceGeneration,
  }
  const deviceToken = tokenAfterSignIn(needs, deviceTokens, user)
  const issue = variant === 'stateless' ? issueToken : issueSession
  const issuing = { request, reply, entry, signInId, from, deviceToken, factor }
  const { familiarity, ...issued } = await issue(needs, user, issuing)
  counts.signIns[method].accepted++
  if (method === 'passkey') await needs.guesses.forgetStrangers(userId)
  if (familiarity === 'new')
    await needs.notices.noteDevice({ userId, signInId, address: source.address, at, from })
  return { User: displayUser(user), ...issued, ...(secondFactor && { secondFactor }) }
}

const purpose = 'second-factor'
type FirstStep = {
  variant: Variant
  generation: number
  factor?: ProvedFactor | undefined
  bond?: Bond
}

async function demandSecondFactor(
  needs: FactorNeeds,
  user: User,
  facts: SignInFacts,
): Promise<void> {
  const { source, method, variant, factor, bond } = facts
  const offered = await needs.store.read(offeredFactors, user.id)
  if (offered.length === 0) return
  const about = { at: needs.users.now(), userId: user.id, detail: { variant, method } }
  const entry = auditEntry(source, { event: 'second-factor-required', ...about })
  const data: FirstStep = {
    variant,
    generation: user.credentialGeneration,
    factor,
    ...(bond && { bond }),
  }
  const challenge = await makeChallenge(needs, { userId: user.id, purpose, data, audit: [entry] })
  counts.signIns[method].factor_required++
  throw secondFactorRequired({ challenge, factors: offered })
}

/** Throws UNAUTHORIZED if the challenge has ended, or is another browser's. */
export async function findWaiting(needs: FactorNeeds, text: string, request: FastifyRequest) {
  const found = await findChallenge(needs, text, purpose)
  const user = await readerOf(needs, found?.key)
  if (found === undefined || user === undefined) throw challengeEnded()
  const { variant, generation, factor, bond } = found.data as FirstStep
  if (generation !== user.credentialGeneration) throw challengeEnded()
  if (bond !== undefined && !(await isBound(needs, request, bond))) throw challengeEnded()
  return { user, variant, challenge: found.key, factor, bond }
}

type Issue = Exchange & {
  entry: AuditEntry
  signInId: string
  from: SeenDevice
  deviceToken: string
  factor: ProvedFactor | undefined
}

async function issueToken(needs: SignInNeeds, user: User, issue: Issue) {
  const { request, reply, entry, signInId, from, deviceToken, factor } = issue
  const { site, store, sessions, accessTokens } = needs
  const issued = await accessTokens.issue({ ...user, factor }, signInId)
  const familiarity = await store.write(noteDevice, {
    userId: user.id,
    device: from,
    at: entry.at,
    audit: [entry],
  })
  if (familiarity === 'absent') throw invalidCredentials()
  const secrets = sessionSecrets(request.raw.headers.cookie, site.cookie.name)
  await Promise.all([sessions.revoke(secrets), endTokens(accessTokens, request)])
  if (secrets.length > 0) setCookie(reply, site.cookie, '')
  return { ...issued, deviceToken, variant: 'stateless', familiarity }
}

async function issueSession(
  { sessions, accessTokens, site }: SignInNeeds,
  user: User,
  issue: Issue,
) {
  const { request, reply, entry, signInId, from, deviceToken, factor } = issue
  const replaces = sessionSecrets(request.raw.headers.cookie, site.cookie.name)
  const seen = { device: from.label || null, address: entry.address, from }
  const detail = { replaces, signInId, ...seen, factor, audit: [entry] }
  const { secret, expiresAt, familiarity } = await sessions.issue(user, detail)
  await endTokens(accessTokens, request)
  // Clients that read one cookie read the first.
  setCookie(reply, site.cookie, secret)
  setCookie(reply, site.deviceCookie, deviceToken)
  return { expiresAt: iso(expiresAt), variant: 'stateful', familiarity }
}

/** Ends a token's whole sign-in; a foreign one ends at its issuer. With `source`, it is audited. */
async function endTokens(
  accessTokens: AccessTokens,
  { raw }: Pick<FastifyRequest, 'raw'>,
  source?: Source,
) {
  const subjects = await Promise.all(
    presentedTokens(raw).map((token) => accessTokens.verifyOurs(token)),
  )
  const signIns = new Map(
    subjects.filter((subject) => subject !== null).map((subject) => [subject.signInId, subject]),
  )
  await Promise.all(signIns.values().map((subject) => accessTokens.revoke(subject, source)))
}

export async function endSignIn(
  needs: SignInsNeeds,
  request: GuardedRequest<null>,
  reply: FastifyReply,
): Promise<void> {
  const { cookie, allowedOrigins } = needs.site
  const source = sourceOf(needs, request)
  // With a username in its URL (`Authorization: Basic`), another site's form could pass the check.
  const isForeign = comesFromOtherSite(request, allowedOrigins)
  const secrets = isForeign ? [] : sessionSecrets(request.raw.headers.cookie, cookie.name)
  await Promise.all([
    needs.sessions.revoke(secrets, source),
    endTokens(needs.accessTokens, request, source),
  ])
  if (!isForeign) setCookie(reply, cookie, '')
}
