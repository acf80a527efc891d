// The caller's own sign-in: is it recent enough for a change, which proof does it present, and which is the next one.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, notAuthenticated } from '../basics/errors.ts'
import type { Subject } from '../http/operation.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import { sendData } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import type { WriteOperation } from '../store/store.ts'
import type { AccessTokens, IssuedToken, TokenSubject } from '../tokens/access-token.ts'
import type { Rotating, Rotation } from '../tokens/rotation.store.ts'
import { findEnabledUser, type UserDependencies } from '../users/users.ts'
import type { Sessions } from './sessions.ts'

/** A browser that was left open, or a stolen cookie, must not be enough to change a factor (OWASP ASVS 5.0, 7.5.1). */
const freshForMs = 10 * 60_000

/** `at`: when a sign-in began or was confirmed. */
export function isFresh(at: number, now: number): boolean {
  return now - at <= freshForMs
}

/** Throws FRESH_SIGN_IN_REQUIRED if the user proved a password or a factor more than ten minutes ago. */
export function refuseStale({ confirmedAt }: Subject, now: number): void {
  if (isFresh(confirmedAt, now)) return
  throw new CarillonError('FRESH_SIGN_IN_REQUIRED', 'This needs a sign-in that is not older than 10 minutes', {
    remedy: 'Confirm it with a second factor, or with the password if there is none: POST /api/me/confirm.',
  })
}

type Needs = {
  site: Pick<Site, 'cookie'>
  sessions: Pick<Sessions, 'nextSecret'>
  accessTokens: Pick<AccessTokens, 'rotated'>
  users: UserDependencies
}
type Exchange = { request: { caller: Subject; raw: FastifyRequest['raw'] }; reply: FastifyReply }

/** A token for the response; undefined for a cookie. */
type NewProof = IssuedToken | undefined

/** `secret`: the next cookie of a session. */
type OwnRotation = { rotation: Rotation; secret?: string }

/** What a change of a credential needs to rotate the sign-in of its caller. `isProof`: the sign-in is fresh from then on. */
export function rotationOf(
  { site, sessions, users }: Pick<Needs, 'site' | 'sessions' | 'users'>,
  { caller, raw }: Exchange['request'],
  isProof = false,
): OwnRotation {
  const at = users.now()
  const { userId, signInId } = caller
  const place = { userId, signInId, at, confirmedAt: isProof ? at : null }
  if (caller.proof === 'session') {
    const { secret, session } = sessions.nextSecret(sessionSecret(raw.headers.cookie, site.cookie.name) ?? '')
    return { secret, rotation: { ...place, session } }
  }
  const { generation, signInGeneration = 0 } = caller as TokenSubject
  return { rotation: { ...place, token: { generation, signInGeneration } } }
}

/**
 * Makes a change of a credential, which rotates the sign-in of its caller. `proof`: of `newProof`, if the change took place. Throws UNAUTHORIZED
 * if the presented proof is outdated.
 */
export async function changeCredential<Change extends object, Outcome>(
  needs: Needs,
  exchange: Exchange,
  operation: WriteOperation<Change & Rotating, Outcome>,
  change: Change,
) {
  const own = rotationOf(needs, exchange.request)
  const outcome = await needs.users.store.write(operation, { ...change, rotation: own.rotation })
  if (outcome === 'outdated') throw notAuthenticated()
  const isDone = outcome === 'done' || outcome === 'first'
  const proof = isDone ? await newProof(needs, exchange, own) : undefined
  return { outcome: outcome as Exclude<Outcome, 'outdated'>, proof }
}

/** After the change: sets the new cookie, or returns the new token for the response. This process refuses the proofs before it from then on. */
export async function newProof(
  { site, accessTokens, users }: Needs,
  { request: { caller }, reply }: Exchange,
  { rotation, secret }: OwnRotation,
): Promise<NewProof> {
  await users.revocations?.refresh()
  if (secret !== undefined) {
    setCookie(reply, { ...site.cookie, lifetimeMs: caller.expiresAt - users.now() }, secret)
    return undefined
  }
  const user = await findEnabledUser(users, caller)
  return accessTokens.rotated(caller as TokenSubject, user, rotation.confirmedAt)
}

/** The response to a change without other data: 204 and a cookie, or 200 and a token. */
export function sendProof(reply: FastifyReply, proof: NewProof): FastifyReply {
  return proof === undefined ? reply.code(204).send() : sendData(reply, proof)
}
