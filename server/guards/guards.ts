// Who is calling, and may they call this route? A guard either returns the caller of its route or throws the refusal.
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { CarillonError, type ErrorCode, insufficientScope, notAuthenticated } from '../basics/errors.ts'
import { refuseStale } from '../sessions/freshness.ts'
import type { Dependencies } from '../http/dependencies.ts'
import { sessionSecret } from '../http/request/cookies.ts'
import type { Scope } from '../producers/producer-key.ts'
import type { Producer } from '../store/store.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import type { Subject } from '../http/callers.ts'

/** A user on a long-lived route. `validUntil` checks the proof again: until when it is valid, null if it has ended. */
export type LongLivedCaller = Subject & { validUntil: () => Promise<number | null> }

/** A producer whose key may have been checked up to a second ago: the delivery checks it again, and calls `checkAgain` if it changed. */
export type Sender = Pick<Producer, 'id' | 'application' | 'scopes' | 'secretHash'> & {
  checkAgain: () => Promise<Producer>
}

export type Guard<Caller> = {
  name: 'open' | 'visitor' | 'user' | 'token' | 'producer'
  refusals: readonly ErrorCode[]
  admit(dependencies: Dependencies, request: FastifyRequest): Promise<Caller>
}

const guard = <Caller>(
  name: Guard<Caller>['name'],
  refusals: readonly ErrorCode[],
  admit: Guard<Caller>['admit'],
): Guard<Caller> => ({ name, refusals, admit })

export const open = guard('open', [], async () => null)
/** Anyone: the user of a valid proof, of scope `inbox` or without a limit; null without one. */
export const visitor = guard('visitor', [], async (dependencies, request) => authenticate(dependencies, request))
/** The same, but a token of scope `inbox` is refused. */
export const unscopedVisitor = guard('visitor', ['FORBIDDEN'], admitUnscoped)
/** The same, for a route that itself refuses a request without a valid proof. */
export const verified = guard('user', ['UNAUTHORIZED', 'FORBIDDEN'], admitUnscoped)
/** A user, by session or access token, also by a token of scope `inbox`. */
export const inbox = guard('user', ['UNAUTHORIZED'], async (dependencies, request) =>
  present(await authenticate(dependencies, request)),
)
/** A signed-in user, by session or access token without a scope. */
export const user = guard('user', ['UNAUTHORIZED', 'FORBIDDEN'], async (dependencies, request) =>
  present(await admitUnscoped(dependencies, request)),
)
/** The same, if the sign-in, or its last confirmation, is not older than ten minutes: for what decides who can sign in. */
export const fresh = guard('user', [...user.refusals, 'FRESH_SIGN_IN_REQUIRED'], async (dependencies, request) => {
  const subject = await user.admit(dependencies, request)
  refuseStale(subject, dependencies.users.now())
  return subject
})
/** As `user`; the refusal has the code and the words that the API's spec gives for its restricted route. */
export const restricted = guard('user', ['Unauthorized', 'FORBIDDEN'], async (dependencies, request) => {
  const subject = await admitUnscoped(dependencies, request)
  if (subject === null) throw new CarillonError('Unauthorized', 'Unauthorized')
  return subject
})
/** Admits what `inbox` admits, to a route that keeps the proof. */
export const longLived = guard('user', ['UNAUTHORIZED'], admitLongLived)
/** An access token without a scope. */
export const token = guard('token', ['UNAUTHORIZED', 'FORBIDDEN'], async ({ accessTokens }, { raw }) => {
  const presented = bearerToken(authorizationsOf(raw))
  const subject = present(presented === null ? null : await accessTokens.verify(presented))
  refuseScoped(subject)
  return subject
})
export const producer = (scope: Scope): Guard<Producer> =>
  guard('producer', ['UNAUTHORIZED', 'FORBIDDEN'], async ({ producerKeys }, { raw }) => {
    const key = bearerToken(authorizationsOf(raw))
    return withScope(scope, key === null ? null : await producerKeys.verify(key))
  })
/** As `producer` with the scope `send`, without a round trip of its own. */
export const sender = guard('producer', ['UNAUTHORIZED', 'FORBIDDEN'], admitSender)

async function admitUnscoped(dependencies: Dependencies, request: FastifyRequest): Promise<Subject | null> {
  const subject = await authenticate(dependencies, request)
  if (subject !== null) refuseScoped(subject)
  return subject
}

function present<Caller>(subject: Caller | null): Caller {
  if (subject === null) throw notAuthenticated()
  return subject
}

async function admitLongLived(dependencies: Dependencies, request: FastifyRequest): Promise<LongLivedCaller> {
  const subject = await inbox.admit(dependencies, request)
  const { sessions, accessTokens, cookie } = dependencies
  const validUntil =
    subject.proof === 'access-token'
      ? tokenValidUntil(accessTokens, subject as TokenSubject)
      : sessionValidUntil(sessions, sessionSecret(request.raw.headers.cookie, cookie.name) ?? '', subject.signInId)
  return { ...subject, validUntil }
}

type ValidUntil = LongLivedCaller['validUntil']

// The caller keeps the proof and nothing else of the request, for as long as the stream is open. Hence functions of their own:
// all closures of one function share what any of them uses.
function tokenValidUntil(accessTokens: Dependencies['accessTokens'], subject: TokenSubject): ValidUntil {
  return async () => accessTokens.validUntil(subject)
}

function sessionValidUntil(sessions: Dependencies['sessions'], secret: string, signInId: string): ValidUntil {
  // A copy: V8 keeps the whole header field for a part of it.
  const own = Buffer.from(secret).toString()
  return () => sessions.validUntil(own, signInId)
}

function refuseScoped({ scope }: Subject): void {
  if (scope === undefined) return
  throw insufficientScope(`A token with the scope "${scope}" does not open this route`, {
    remedy: 'It opens /api/notifications, /api/session and /api/me. This route needs a sign-in.',
  })
}

async function admitSender({ producerKeys }: Dependencies, { raw }: FastifyRequest): Promise<Sender> {
  const key = bearerToken(authorizationsOf(raw))
  const check = async () => withScope('send', key === null ? null : await producerKeys.verify(key))
  const remembered = key === null ? null : producerKeys.verifyRemembered(key)
  const { id, application, scopes, secretHash } = remembered === null ? await check() : withScope('send', remembered)
  return { id, application, scopes, secretHash, checkAgain: check }
}

function withScope(scope: Scope, found: Producer | null): Producer {
  if (found === null) throw notAuthenticated()
  if (!found.scopes.includes(scope))
    throw insufficientScope(`This key lacks the scope "${scope}"`, {
      scope,
      remedy: `Make one with: carillon key add NAME --scope ${scope}`,
    })
  return found
}

/** The one place that decides who is calling. An `Authorization` field, valid or not, is the only proof that is read. */
function authenticate(
  { sessions, accessTokens, cookie: { name } }: Dependencies,
  { raw }: FastifyRequest,
): Promise<Subject | null> | null {
  const { authorization, cookie } = raw.headers
  if (authorization !== undefined) {
    const presented = bearerToken(authorizationsOf(raw))
    return presented === null ? null : accessTokens.verify(presented)
  }
  const secret = sessionSecret(cookie, name)
  return secret === null ? null : sessions.verify(secret)
}

/** Every `Authorization` field, including those that Node's parsed headers leave out. */
function authorizationsOf({ headers, rawHeaders }: IncomingMessage): string[] {
  const values: string[] = []
  if (headers.authorization !== undefined)
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.toLowerCase() === 'authorization') values.push(rawHeaders[i + 1] ?? '')
  return values
}

/** Every bearer token of the request: a sign-out ends all of them. */
export function presentedTokens(raw: IncomingMessage): string[] {
  return authorizationsOf(raw).flatMap((value) => bearerToken([value]) ?? [])
}

const space = 0x20
const bearer = /^Bearer +([\w.~+/-]+=*)$/i

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1); null for another scheme, another form, or two fields. */
function bearerToken(authorization: readonly string[]): string | null {
  const [only, another] = authorization
  if (only === undefined || another !== undefined) return null
  // The usual spelling, without the regular expression; the token's own form is checked when it is verified.
  if (only.startsWith('Bearer ') && only.charCodeAt(7) !== space) return only.slice(7)
  return bearer.exec(only)?.[1] ?? null
}
