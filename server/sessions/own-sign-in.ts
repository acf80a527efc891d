// The caller's own sign-in: is it recent enough for a change, how does a change name it to spare it, and its new cookie.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError } from '../basics/errors.ts'
import type { Subject } from '../http/operation.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import type { Site } from '../http/site.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import type { Excepted } from '../tokens/tokens.store.ts'
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

/** The caller's own sign-in, in the form that the store takes. */
export function ownSignIn(caller: Subject): Excepted & { exceptSignInId: string } {
  const { signInId: exceptSignInId, proof } = caller
  if (proof === 'session') return { exceptSignInId }
  return { exceptSignInId, exceptGeneration: (caller as TokenSubject).generation }
}

type Renewal = { sessions: Pick<Sessions, 'renew'>; site: Pick<Site, 'cookie'>; users: { now: () => number } }
type Exchange = { request: { caller: Subject; raw: FastifyRequest['raw'] }; reply: FastifyReply }

/** Gives the caller's session a new secret and cookie (decision 0063). Null if the caller has a token, or the session has ended. */
export async function renewOwnCookie(
  { sessions, site: { cookie }, users }: Renewal,
  { request: { caller, raw }, reply }: Exchange,
): Promise<string | null> {
  if (caller.proof !== 'session') return null
  const secret = await sessions.renew(sessionSecret(raw.headers.cookie, cookie.name) ?? '')
  if (secret !== null) setCookie(reply, { ...cookie, lifetimeMs: caller.expiresAt - users.now() }, secret)
  return secret
}
