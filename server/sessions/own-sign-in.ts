// Which sign-in is the caller's own? A change that ends all others spares this one. And its cookie, which is replaced whenever the user
// proves something, or changes what can be proved.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dependencies } from '../http/dependencies.ts'
import { sessionSecret } from '../http/request/cookies.ts'
import { setCookie } from '../http/response/cookies.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import type { Subject } from '../http/callers.ts'

/** As the store takes it (`Excepted`). */
export type OwnSignIn = { exceptSignInId: string; exceptGeneration?: number | undefined }

export function ownSignIn(caller: Subject): OwnSignIn {
  const { signInId: exceptSignInId, proof } = caller
  if (proof === 'session') return { exceptSignInId }
  return { exceptSignInId, exceptGeneration: (caller as TokenSubject).generation }
}

type Exchange = { request: { caller: Subject; raw: FastifyRequest['raw'] }; reply: FastifyReply }

/** Gives the caller's session a new secret and sets its cookie (decision 0063). Null if the caller has a token, or the session has ended. */
export async function renewOwnCookie(
  { sessions, cookie, users }: Pick<Dependencies, 'sessions' | 'cookie' | 'users'>,
  { request: { caller, raw }, reply }: Exchange,
): Promise<string | null> {
  if (caller.proof !== 'session') return null
  const secret = await sessions.renew(sessionSecret(raw.headers.cookie, cookie.name) ?? '')
  if (secret !== null) setCookie(reply, { ...cookie, lifetimeMs: caller.expiresAt - users.now() }, secret)
  return secret
}
