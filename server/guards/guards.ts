// Who is calling, and may they call this route? A guard either returns the caller of its route or throws the refusal.
import type { FastifyRequest } from 'fastify'
import { CarillonError, type ErrorCode, insufficientScope } from '../basics/errors.ts'
import type { Guard, LongLivedCaller, Subject } from '../http/operation.ts'
import { authorizationsOf, bearerToken, sessionSecret } from '../http/request/credentials.ts'
import type { ProducerKeys, Scope, Sender } from '../producers/producer-key.ts'
import type { Producer } from '../producers/producers.store.ts'
import { refuseStale } from '../sessions/own-sign-in.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { AccessTokens, TokenSubject } from '../tokens/access-token.ts'
import { refusedProof } from './refused-proof.ts'

/** What tells users by their proofs. */
type Proofs = {
  sessions: Pick<Sessions, 'verify' | 'validUntil'>
  accessTokens: Pick<AccessTokens, 'verify' | 'validUntil'>
  site: { cookie: { name: string } }
}
type Producers = { producerKeys: ProducerKeys }

function guard<Needs, Caller>(
  name: Guard<Needs, Caller>['name'],
  refusals: readonly ErrorCode[],
  admit: Guard<Needs, Caller>['admit'],
): Guard<Needs, Caller> {
  return { name, refusals, admit }
}

export const open = guard('open', [], async () => null)
/** Anyone: the user of a valid proof, of scope `inbox` or without a limit; null without one. */
export const visitor = guard('visitor', [], async (proofs: Proofs, request) => authenticate(proofs, request))
/** Anyone, as `visitor`, but a token of scope `inbox` is refused. */
export const unscopedVisitor = guard('visitor', ['FORBIDDEN'], admitUnscoped)
/** Anyone, as `unscopedVisitor`, for a route that itself refuses a request without a valid proof. */
export const verified = guard('user', ['UNAUTHORIZED', 'FORBIDDEN'], admitUnscoped)
/** A user, by session or access token, also by a token of scope `inbox`. */
export const inbox = guard('user', ['UNAUTHORIZED'], async (proofs: Proofs, request) =>
  present(await authenticate(proofs, request), request),
)
/** A signed-in user, by session or access token without a scope. */
export const user = guard('user', ['UNAUTHORIZED', 'FORBIDDEN'], async (proofs: Proofs, request) =>
  present(await admitUnscoped(proofs, request), request),
)
/** A user whom `user` admits, but not by a token of a session: an application that has one confirms nothing and changes no credential. */
export const owner = guard('user', user.refusals, async (proofs: Proofs, request) => {
  const subject = await user.admit(proofs, request)
  if (!(subject as TokenSubject).isOfSession) return subject
  throw insufficientScope('The token of a session confirms nothing and changes no credential', {
    remedy: 'Send the request with the cookie of the session.',
  })
})
/** A user whom `owner` admits, whose sign-in or its last confirmation is at most ten minutes old: for what decides who can sign in. */
export const fresh = guard(
  'user',
  [...user.refusals, 'FRESH_SIGN_IN_REQUIRED'],
  async (needs: Proofs & { users: { now: () => number } }, request) => {
    const subject = await owner.admit(needs, request)
    refuseStale(subject, needs.users.now())
    return subject
  },
)
/** As `user`; the refusal has the code and the words that the API's spec gives for its restricted route. */
export const restricted = guard('user', ['Unauthorized', 'FORBIDDEN'], async (proofs: Proofs, request) => {
  const subject = await admitUnscoped(proofs, request)
  if (subject === null) throw new CarillonError('Unauthorized', 'Unauthorized')
  return subject
})
/** Admits what `base` admits, to a route that keeps the proof. */
const keeping = (base: Guard<Proofs, Subject>) =>
  guard('user', base.refusals, async (proofs: Proofs, request): Promise<LongLivedCaller> => {
    const subject = await base.admit(proofs, request)
    const { sessions, accessTokens, site } = proofs
    const validUntil =
      subject.proof === 'access-token'
        ? tokenValidUntil(accessTokens, subject as TokenSubject)
        : sessionValidUntil(sessions, sessionSecret(request.raw.headers.cookie, site.cookie.name) ?? '')
    return { ...subject, validUntil }
  })
export const longLived = keeping(inbox)
export const longLivedUser = keeping(user)
/** An access token without a scope. */
export const token = guard('token', ['UNAUTHORIZED', 'FORBIDDEN'], admitToken)
export const producer = (scope: Scope): Guard<Producers, Producer> =>
  guard('producer', ['UNAUTHORIZED', 'FORBIDDEN'], async ({ producerKeys }, request) =>
    withScope(scope, await producerKeys.verify(bearerToken(authorizationsOf(request.raw)) ?? ''), request),
  )
/** Admits what `producer` with the scope `send` admits, without a round trip of its own. */
export const sender = guard('producer', ['UNAUTHORIZED', 'FORBIDDEN'], admitSender)

async function admitToken({ accessTokens }: Pick<Proofs, 'accessTokens'>, request: FastifyRequest) {
  const key = bearerToken(authorizationsOf(request.raw))
  const subject = key === null ? null : await accessTokens.verify(key)
  if (subject === null) throw refusedProof(request, 'token')
  return unscoped(subject)
}

async function admitUnscoped(proofs: Proofs, request: FastifyRequest): Promise<Subject | null> {
  return unscoped(await authenticate(proofs, request))
}

function present<Caller>(subject: Caller | null, request: FastifyRequest): Caller {
  if (subject === null) throw refusedProof(request, 'user')
  return subject
}

// The caller keeps the proof and nothing else of the request, for as long as the stream is open. Hence functions of their own:
// all closures of one function share what any of them uses.
function tokenValidUntil(accessTokens: Proofs['accessTokens'], subject: TokenSubject) {
  return async () => accessTokens.validUntil(subject)
}

function sessionValidUntil(sessions: Proofs['sessions'], secret: string) {
  // A copy: V8 keeps the whole header field for a part of it.
  const own = Buffer.from(secret).toString()
  const copy = { endsAt: Number.POSITIVE_INFINITY }
  return () => sessions.validUntil(own, copy)
}

function unscoped<Found extends Subject | null>(subject: Found): Found {
  if (subject?.scope === undefined) return subject
  throw insufficientScope(`A token with the scope "${subject.scope}" does not open this route`, {
    remedy:
      'It opens /api/notifications, GET /api/session, GET /api/me and /api/me/preferences. This route needs a sign-in here, not one by your application.',
  })
}

async function admitSender({ producerKeys }: Producers, request: FastifyRequest): Promise<Sender> {
  const key = bearerToken(authorizationsOf(request.raw)) ?? ''
  const check = async () => withScope('send', await producerKeys.verify(key), request)
  const remembered = producerKeys.verifyRemembered(key)
  const found = remembered === null ? await check() : withScope('send', remembered, request)
  const { id, application, scopes, createsUsers, secretHash } = found
  return { id, application, scopes, createsUsers, secretHash, checkAgain: check }
}

function withScope(scope: Scope, found: Producer | null, request: FastifyRequest): Producer {
  if (found === null) throw refusedProof(request, 'producer')
  if (!found.scopes.includes(scope))
    throw insufficientScope(`This key lacks the scope "${scope}"`, {
      scope,
      remedy: `Make one with: carillon key add NAME --scope ${[scope, ...found.scopes]}`,
    })
  return found
}

/** The one place that decides who is calling. An `Authorization` field, valid or not, is the only proof that is read. */
function authenticate({ sessions, accessTokens, site }: Proofs, { raw }: FastifyRequest) {
  const { authorization, cookie } = raw.headers
  if (authorization !== undefined) {
    const presented = bearerToken(authorizationsOf(raw))
    return presented === null ? null : accessTokens.verify(presented)
  }
  const secret = sessionSecret(cookie, site.cookie.name)
  return secret === null ? null : sessions.verify(secret)
}
