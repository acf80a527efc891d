// The last step of every sign-in, whatever the user proved: issues a session or a token, ends the proofs that the request presents,
// and returns the response.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { auditEntry } from '../audit/entry.ts'
import { maxKnownDevices } from '../mail/notices.ts'
import { CarillonError, invalidCredentials } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { networkOfClient } from '../basics/ip-addresses.ts'
import { iso } from '../basics/times.ts'
import type { FactorMethod } from '../factors/proofs.ts'
import { presentedTokens } from '../guards/guards.ts'
import type { RequestSource } from '../audit/source.ts'
import { presentedDevices } from '../audit/source.ts'
import { deviceLabel } from '../audit/device-label.ts'
import type { Dependencies } from '../http/dependencies.ts'
import { sessionSecrets } from '../http/request/cookies.ts'
import { setCookie } from '../http/response/cookies.ts'
import { displayUser } from '../http/response/send.ts'
import type { Bond } from '../factors/bond.ts'
import type { AuditEntry, SeenDevice, User } from '../store/store.ts'
import { endPresented, endTokens } from './end-presented.ts'

export type Variant = 'stateful' | 'stateless'
export type Exchange = { request: FastifyRequest; reply: FastifyReply }
/** `method`: what the user proved. `bond`: who may use the challenge of a second factor. */
export type SignInFacts = {
  variant: Variant
  method: 'password' | FactorMethod | 'provider' | 'link'
  source: RequestSource
  bond?: Bond
}

/** `user` as it was read for the check of the proof. Throws INVALID_CREDENTIALS if its proofs have been revoked since. */
export async function finishSignIn(
  dependencies: Dependencies,
  user: User,
  { variant, method, source }: SignInFacts,
  exchange: Exchange,
): Promise<object> {
  const presented = presentedDevices(dependencies, exchange.request)
  const isKnownDevice = dependencies.devices.knownDevice(presented, user) !== undefined
  if (method === 'password' && user.passwordReportedAt !== null && !isKnownDevice) throw passwordReported()
  const at = dependencies.users.now()
  const signInId = newId(at)
  const { id: userId, username, credentialGeneration: generation } = user
  const detail = { variant, method, generation }
  const entry = auditEntry(source, { event: 'sign-in', at, userId, username, signInId, detail })
  const issue = variant === 'stateless' ? issueToken : issueSession
  // A sign-in whose password was checked before the user disowned another one must not begin after it.
  const from = { ...deviceOf(dependencies, source, isKnownDevice), deviceGeneration: user.deviceGeneration }
  const device = from.label || null
  const signIn = { ...exchange, entry, signInId, from, device, presented }
  const { familiarity, ...issued } = await issue(dependencies, user, signIn)
  if (method === 'passkey') await dependencies.guesses.forgetStrangers(userId)
  if (familiarity === 'new')
    await dependencies.notices.noteDevice({ userId, signInId, device, address: source.address, at, from })
  return { User: displayUser(user), ...issued }
}

/** The device as the store remembers it. If users are not notified of new devices, every device counts as known. */
export function deviceOf({ newDeviceNotices }: Dependencies, source: RequestSource, isKnown: boolean): SeenDevice {
  const label = deviceLabel(source.userAgent) ?? ''
  const network = networkOfClient(source.address)
  return { label, network, isKnown: isKnown || !newDeviceNotices, keep: maxKnownDevices }
}

/** After the user said that another person had signed in, who then knows the password. */
function passwordReported(): CarillonError {
  return new CarillonError('FORBIDDEN', 'The password of this account was reported as known to others', {
    remedy: 'Set a new one in a session that is still open, or by a reset link.',
  })
}

type Issue = Exchange & {
  entry: AuditEntry
  signInId: string
  from: SeenDevice
  device: string | null
  /** The device tokens of the request. */
  presented: readonly string[]
}

async function issueToken(dependencies: Dependencies, user: User, issue: Issue) {
  const { request, reply, entry, signInId, from, presented } = issue
  const { accessTokens, cookie, devices, store } = dependencies
  const { token, expiresAt } = await accessTokens.issue(user, signInId)
  const familiarity = await store.noteDevice({ userId: user.id, device: from, at: entry.at, audit: [entry] })
  if (familiarity === 'absent') throw invalidCredentials()
  const secrets = sessionSecrets(request.raw.headers.cookie, cookie.name)
  await endPresented(dependencies, { secrets, tokens: presentedTokens(request.raw) })
  if (secrets.length > 0) setCookie(reply, cookie, '')
  const deviceToken = devices.afterSignIn(presented, user)
  return { token, expiresAt: iso(expiresAt), deviceToken, variant: 'stateless', familiarity }
}

async function issueSession(dependencies: Dependencies, user: User, issue: Issue) {
  const { request, reply, entry, signInId, from, device, presented } = issue
  const { sessions, accessTokens, cookie, deviceCookie, devices } = dependencies
  const replaces = sessionSecrets(request.raw.headers.cookie, cookie.name)
  const detail = { signInId, device, address: entry.address, from, audit: [entry] }
  const { secret, expiresAt, familiarity } = await sessions.issue(user, { replaces, ...detail })
  await endTokens(accessTokens, presentedTokens(request.raw))
  // A client that reads one cookie only reads the first.
  setCookie(reply, cookie, secret)
  setCookie(reply, deviceCookie, devices.afterSignIn(presented, user))
  return { expiresAt: iso(expiresAt), variant: 'stateful', familiarity }
}
