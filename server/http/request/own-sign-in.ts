// Which sign-in is the caller's own? A change that ends all others spares this one.
import type { FastifyRequest } from 'fastify'
import { notAuthenticated } from '../../errors.ts'
import type { Subject } from '../../sign-in/subject.ts'
import type { TokenSubject } from '../../sign-in/token/access-token.ts'
import type { Dependencies } from '../dependencies.ts'
import { sessionSecret } from './guards.ts'

/** As the store takes it (`Excepted`). */
export type OwnSignIn = { exceptSignInId: string; exceptGeneration?: number | undefined }

/** A session from before migration 0005 gets its sign-in here. Throws UNAUTHORIZED if it has ended since the guard. */
export async function ownSignIn(
  { sessions, cookie }: Pick<Dependencies, 'sessions' | 'cookie'>,
  { caller, raw }: { caller: Subject; raw: FastifyRequest['raw'] },
): Promise<OwnSignIn> {
  const { signInId } = caller
  if (caller.proof === 'access-token') {
    const { signInId: exceptSignInId, generation: exceptGeneration } = caller as TokenSubject
    return { exceptSignInId, exceptGeneration }
  }
  if (signInId !== null) return { exceptSignInId: signInId }
  const found = await sessions.signInOf(sessionSecret(raw.headers.cookie, cookie.name) ?? '', caller)
  if (found === undefined) throw notAuthenticated()
  return { exceptSignInId: found.signInId }
}
