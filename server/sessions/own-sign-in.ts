// Is the caller's sign-in fresh enough for a change, and what is its next proof?
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, notAuthenticated } from '../basics/errors.ts'
import type { ProvedFactor, Subject } from '../http/operation.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import { sendData } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import type { Store, WriteOperation } from '../store/store.ts'
import type { AccessTokens, IssuedToken, TokenSubject } from '../tokens/access-token.ts'
import type { Rotating, Rotation } from '../users/access/rotation.store.ts'
import { findEnabledUser, type UserDependencies } from '../users/find-user.ts'
import type { Sessions } from './sessions.ts'

/** A stolen cookie alone must not change a factor (OWASP ASVS 5.0, 7.5.1). */
const freshForMs = 10 * 60_000

export function isFresh(at: number, now: number): boolean {
  return now - at <= freshForMs
}

export function refuseStale({ confirmedAt }: Subject, now: number): void {
  if (isFresh(confirmedAt, now)) return
  throw new CarillonError(
    'FRESH_SIGN_IN_REQUIRED',
    'This needs a sign-in that is not older than 10 minutes',
    {
      remedy:
        'Confirm it with a second factor, or with the password if there is none: POST /api/me/confirm.',
    },
  )
}

export type SignInsNeeds = {
  site: Site
  store: Store
  users: UserDependencies
  sessions: Sessions
  accessTokens: AccessTokens
}
type Exchange = { request: { caller: Subject; raw: FastifyRequest['raw'] }; reply: FastifyReply }

/** Undefined for a cookie. */
export type NewProof = IssuedToken | undefined

type OwnRotation = { rotation: Rotation; secret?: string }

/** `isProof`: the sign-in is fresh from then on. `factor`: it proved that, too. */
type Proved = { isProof?: boolean; factor?: ProvedFactor | undefined }

export function rotationOf(
  { site, sessions, users }: SignInsNeeds,
  { caller, raw }: Exchange['request'],
  { isProof = false, factor }: Proved = {},
): OwnRotation {
  const at = users.now()
  const { userId, signInId } = caller
  const place = { userId, signInId, at, confirmedAt: isProof ? at : null, factor }
  if (caller.proof === 'session') {
    const { secret, session } = sessions.nextSecret(
      sessionSecret(raw.headers.cookie, site.cookie.name) ?? '',
    )
    return { secret, rotation: { ...place, session } }
  }
  const { generation, signInGeneration = 0 } = caller as TokenSubject
  return { rotation: { ...place, token: { generation, signInGeneration } } }
}

/**
 * Rotates the caller's sign-in. `factor`: the change proves it. `proof`: from `newProof`, if the
 * change took place. Throws UNAUTHORIZED for an outdated proof.
 */
export async function changeCredential<Change extends object, Outcome>(
  needs: SignInsNeeds,
  exchange: Exchange,
  operation: WriteOperation<Change & Rotating, Outcome>,
  change: Change,
  factor?: ProvedFactor,
) {
  const own = rotationOf(needs, exchange.request, { factor })
  const outcome = await needs.users.store.write(operation, { ...change, rotation: own.rotation })
  if (outcome === 'outdated') throw notAuthenticated()
  const isDone = outcome === 'done' || outcome === 'first'
  const proof = isDone ? await newProof(needs, exchange, own) : undefined
  return { outcome: outcome as Exclude<Outcome, 'outdated'>, proof }
}

/** Sets the new cookie, or returns the new token; then this process refuses earlier proofs. */
export async function newProof(
  { site, accessTokens, users }: SignInsNeeds,
  { request: { caller }, reply }: Exchange,
  { rotation, secret }: OwnRotation,
): Promise<NewProof> {
  await users.revocations?.refresh()
  if (secret !== undefined) {
    setCookie(reply, { ...site.cookie, lifetimeMs: caller.expiresAt - users.now() }, secret)
    return undefined
  }
  const user = await findEnabledUser(users, caller)
  return accessTokens.rotated(caller as TokenSubject, user, rotation)
}

export function sendProof(reply: FastifyReply, proof: NewProof): FastifyReply {
  return proof === undefined ? reply.code(204).send() : sendData(reply, proof)
}
