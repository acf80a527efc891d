// The last step of every sign-in: issues a session or a token, ends the proofs that the request presents, and returns the response.
import type { FastifyReply } from 'fastify'
import { auditEntry, deviceLabel, type RequestSource, type Source } from '../audit/entry.ts'
import { networksOf } from '../basics/client.ts'
import { iso } from '../basics/clock.ts'
import { forbidden, invalidCredentials } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import type { Sealing } from '../basics/secrets.ts'
import { knownDevice, presentedDevices, tokenAfterSignIn } from '../guessing/device-tokens.ts'
import type { Guesses } from '../guessing/guesses.ts'
import type { Exchange } from '../http/operation.ts'
import { presentedTokens, sessionSecrets, setCookie } from '../http/request/credentials.ts'
import type { Site } from '../http/site.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { displayUser } from '../users/display-user.ts'
import type { User } from '../users/users.store.ts'
import type { UserDependencies } from '../users/users.ts'
import type { SeenDevice } from './sessions.store.ts'
import type { Sessions } from './sessions.ts'
import { noteDevice } from './sign-ins.store.ts'

export type Variant = 'stateful' | 'stateless'
/** `method`: what the user proved. */
export type SignInFacts = {
  variant: Variant
  method: 'password' | 'totp' | 'recovery-code' | 'passkey' | 'provider' | 'link'
  source: RequestSource
}

/** How many devices are remembered for a user, those that were seen last. */
const maxKnownDevices = 50

export type NewDevice = { userId: string; signInId: string; address: string; at: number; from: SeenDevice }

/** What a sign-in needs to begin, and a signed-in user to see and to end it. */
export type SessionNeeds = {
  site: Site
  store: Store
  users: UserDependencies
  sessions: Sessions
  accessTokens: AccessTokens
  sealing: Sealing
  guesses: Guesses
  /** `ofNewDevices`: whether users are notified of them. */
  notices: { ofNewDevices: boolean; noteDevice: (device: NewDevice) => Promise<void> }
}

/** `user` as it was read for the check of the proof. Throws INVALID_CREDENTIALS if its proofs have been revoked since. */
export async function finishSignIn(
  dependencies: SessionNeeds,
  user: User,
  { variant, method, source }: SignInFacts,
  exchange: Exchange,
): Promise<object> {
  const { site, users } = dependencies
  const { raw } = exchange.request
  const deviceTokens = presentedDevices(dependencies, exchange.request)
  const isKnownDevice = knownDevice(dependencies, deviceTokens, user) !== undefined
  // The user said that another person had signed in, who then knows the password.
  if (method === 'password' && user.passwordReportedAt !== null && !isKnownDevice)
    throw forbidden(
      'The password of this account was reported as known to others',
      'Set a new one in a session that is still open, or by a reset link.',
    )
  const at = users.now()
  const signInId = newId(at)
  const { id: userId, username, credentialGeneration: generation } = user
  const detail = { variant, method, generation }
  const entry = auditEntry(source, { event: 'sign-in', at, userId, username, signInId, detail })
  // A sign-in whose password was checked before the user disowned another one must not begin after it.
  const from = { ...deviceOf(dependencies, source, isKnownDevice), deviceGeneration: user.deviceGeneration }
  const presented = { secrets: sessionSecrets(raw.headers.cookie, site.cookie.name), tokens: presentedTokens(raw) }
  const deviceToken = tokenAfterSignIn(dependencies, deviceTokens, user)
  const issue = variant === 'stateless' ? issueToken : issueSession
  const signIn = { reply: exchange.reply, entry, signInId, from, presented, deviceToken }
  const { familiarity, ...issued } = await issue(dependencies, user, signIn)
  if (method === 'passkey') await dependencies.guesses.forgetStrangers(userId)
  if (familiarity === 'new')
    await dependencies.notices.noteDevice({ userId, signInId, address: source.address, at, from })
  return { User: displayUser(user), ...issued }
}

/** The device as the store remembers it. If users are not notified of new devices, every device counts as known. */
export function deviceOf({ notices }: SessionNeeds, source: RequestSource, isKnown: boolean): SeenDevice {
  const label = deviceLabel(source.userAgent) ?? ''
  const [network] = networksOf(source.address)
  return { label, network, isKnown: isKnown || !notices.ofNewDevices, keep: maxKnownDevices }
}

type Issue = {
  reply: FastifyReply
  entry: AuditEntry
  signInId: string
  from: SeenDevice
  /** What the request presents, which ends. */
  presented: { secrets: readonly string[]; tokens: readonly string[] }
  deviceToken: string
}

async function issueToken(dependencies: SessionNeeds, user: User, issue: Issue) {
  const { reply, entry, signInId, from, presented, deviceToken } = issue
  const issued = await dependencies.accessTokens.issue(user, signInId)
  const seen = { userId: user.id, device: from, at: entry.at, audit: [entry] }
  const familiarity = await dependencies.store.write(noteDevice, seen)
  if (familiarity === 'absent') throw invalidCredentials()
  await endPresented(dependencies, presented)
  if (presented.secrets.length > 0) setCookie(reply, dependencies.site.cookie, '')
  return { ...issued, deviceToken, variant: 'stateless', familiarity }
}

async function issueSession({ sessions, accessTokens, site }: SessionNeeds, user: User, issue: Issue) {
  const { reply, entry, signInId, from, presented, deviceToken } = issue
  const detail = { signInId, device: from.label || null, address: entry.address, from, audit: [entry] }
  const { secret, expiresAt, familiarity } = await sessions.issue(user, { replaces: presented.secrets, ...detail })
  await endTokens(accessTokens, presented.tokens)
  // A client that reads one cookie only reads the first.
  setCookie(reply, site.cookie, secret)
  setCookie(reply, site.deviceCookie, deviceToken)
  return { expiresAt: iso(expiresAt), variant: 'stateful', familiarity }
}

/** Ends each session and token that is valid; a forged one ends nothing. With `source`, each end is a sign-out for the audit log. */
export async function endPresented(
  { sessions, accessTokens }: Pick<SessionNeeds, 'sessions' | 'accessTokens'>,
  { secrets, tokens, source }: { secrets: readonly string[]; tokens: readonly string[]; source?: Source },
): Promise<void> {
  await Promise.all([sessions.revoke(secrets, source), endTokens(accessTokens, tokens, source)])
}

/** Ends the whole sign-in of each token, renewed tokens included. Only its issuer can end a foreign token. */
async function endTokens(accessTokens: AccessTokens, tokens: readonly string[], source?: Source): Promise<void> {
  const subjects = await Promise.all(tokens.map((token) => accessTokens.verifyOurs(token)))
  const signIns = new Map(subjects.filter((subject) => subject !== null).map((subject) => [subject.signInId, subject]))
  await Promise.all(signIns.values().map((subject) => accessTokens.revoke(subject, source)))
}
