// Guards return their route's caller, or throw the refusal.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, type ErrorCode, insufficientScope, setupOnly } from '../basics/errors.ts'
import type { Guard, LongLivedCaller, Subject } from '../http/operation.ts'
import { authorizationsOf, bearerToken, sessionSecret } from '../http/request/credentials.ts'
import type { ProducerKeys, Scope, Sender } from '../producers/producer-key.ts'
import type { Producer } from '../producers/producers.store.ts'
import { refuseStale } from '../sessions/own-sign-in.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { AccessTokens, TokenSubject } from '../tokens/access-token.ts'
import { refusedProof } from './refused-proof.ts'

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

const producerRefusals = ['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_REQUESTS'] as const
const userRefusals = ['UNAUTHORIZED', 'FORBIDDEN'] as const

type Found = Subject | null

const visiting = (limit: (found: Found) => Found) =>
  guard('visitor', ['FORBIDDEN'], async (proofs: Proofs, request) =>
    limit(await authenticate(proofs, request)),
  )
const signedIn = (limit: (found: Found) => Found) =>
  guard('user', userRefusals, async (proofs: Proofs, request) => {
    const subject = limit(await authenticate(proofs, request))
    if (subject === null) throw refusedProof(request, 'user')
    return subject
  })

export const open = guard('open', [], async () => null)
/** The user of any valid proof, or null. */
export const visitor = guard('visitor', [], async (proofs: Proofs, request) =>
  authenticate(proofs, request),
)
/** Admits as `visitor`, but no token of scope `inbox`; null for one that only sets a factor up. */
export const unscopedVisitor = visiting((found) => {
  const subject = withoutInbox(found)
  return subject?.scope === 'setup' ? null : subject
})
/** Admits as `unscopedVisitor`, also to set a second factor up. */
export const setupVisitor = visiting(withoutInbox)
/** Gives the signed-in user to a route that refuses other requests itself. */
export const verified = guard('user', userRefusals, admitUnscoped)
/** Admits users, also by tokens of scope `inbox`: to inbox, preferences and push subscriptions. */
export const inbox = signedIn(withoutSetup)
export const user = signedIn(unscoped)
/** Admits as `user`, also to set a second factor up. */
export const setupUser = signedIn(withoutInbox)
/** Refuses a session's token: applications with one confirm nothing and change no credential. */
const owning = (base: Guard<Proofs, Subject>) =>
  guard('user', base.refusals, async (proofs: Proofs, request, reply) => {
    const subject = await base.admit(proofs, request, reply)
    if (!(subject as TokenSubject).isOfSession) return subject
    throw insufficientScope('The token of a session confirms nothing and changes no credential', {
      remedy: 'Send the request with the cookie of the session.',
    })
  })
export const owner = owning(user)
export const setupOwner = owning(setupUser)
/** Guards what decides who can sign in: sign-in or confirmation is at most ten minutes old. */
const freshly = (base: Guard<Proofs, Subject>) =>
  guard(
    'user',
    [...base.refusals, 'FRESH_SIGN_IN_REQUIRED'],
    async (needs: Proofs & { users: { now: () => number } }, request, reply) => {
      const subject = await base.admit(needs, request, reply)
      refuseStale(subject, needs.users.now())
      return subject
    },
  )
export const fresh = freshly(owner)
export const setupFresh = freshly(setupOwner)
export const restricted = guard(
  'user',
  ['Unauthorized', 'FORBIDDEN'],
  async (proofs: Proofs, request) => {
    const subject = await admitUnscoped(proofs, request)
    if (subject !== null) return subject
    const { refusal } = refusedProof(request, 'user')
    throw new CarillonError('Unauthorized', 'Unauthorized', { refusal })
  },
)
const keeping = (base: Guard<Proofs, Subject>) =>
  guard('user', base.refusals, async (proofs: Proofs, request, reply): Promise<LongLivedCaller> => {
    const subject = await base.admit(proofs, request, reply)
    const { sessions, accessTokens, site } = proofs
    const validUntil =
      subject.proof === 'access-token'
        ? tokenValidUntil(accessTokens, subject as TokenSubject)
        : sessionValidUntil(
            sessions,
            sessionSecret(request.raw.headers.cookie, site.cookie.name) ?? '',
          )
    return { ...subject, validUntil }
  })
export const longLived = keeping(inbox)
export const longLivedUser = keeping(user)
export const token = guard('token', ['UNAUTHORIZED', 'FORBIDDEN'], admitToken)
export const producer = (scope: Scope): Guard<Producers, Producer> =>
  guard('producer', producerRefusals, async ({ producerKeys }, request, reply) => {
    const found = await producerKeys.verify(bearerToken(authorizationsOf(request.raw)) ?? '')
    countRequest(producerKeys, found, reply)
    return withScope(scope, found, request)
  })
/** This guard needs no round trip. */
export const sender = guard('producer', producerRefusals, admitSender)

async function admitToken({ accessTokens }: Pick<Proofs, 'accessTokens'>, request: FastifyRequest) {
  const key = bearerToken(authorizationsOf(request.raw))
  const subject = key === null ? null : await accessTokens.verify(key)
  if (subject === null) throw refusedProof(request, 'token')
  return unscoped(subject)
}

async function admitUnscoped(proofs: Proofs, request: FastifyRequest): Promise<Found> {
  return unscoped(await authenticate(proofs, request))
}

function tokenValidUntil(accessTokens: Proofs['accessTokens'], subject: TokenSubject) {
  return async () => accessTokens.validUntil(subject)
}

function sessionValidUntil(sessions: Proofs['sessions'], secret: string) {
  // V8 keeps the whole header field for a part of it.
  const own = Buffer.from(secret).toString()
  const copy = { endsAt: Number.POSITIVE_INFINITY }
  return () => sessions.validUntil(own, copy)
}

function unscoped<Some extends Found>(subject: Some): Some {
  return withoutInbox(withoutSetup(subject))
}

function withoutSetup<Some extends Found>(subject: Some): Some {
  if (subject?.scope === 'setup') throw setupOnly()
  return subject
}

function withoutInbox<Some extends Found>(subject: Some): Some {
  if (subject?.scope !== 'inbox') return subject
  throw insufficientScope(`A token with the scope "${subject.scope}" does not open this route`, {
    remedy:
      'It opens /api/notifications, GET /api/session, GET /api/me, /api/me/preferences and /api/me/push-subscriptions. This route needs a sign-in here, not one by your application.',
  })
}

async function admitSender(
  { producerKeys }: Producers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Sender> {
  const key = bearerToken(authorizationsOf(request.raw)) ?? ''
  const presented = producerKeys.verifyRemembered(key) ?? (await producerKeys.verify(key))
  countRequest(producerKeys, presented, reply)
  const check = async () => withScope('send', await producerKeys.verify(key), request)
  const found = withScope('send', presented, request)
  const { id, application, scopes, createsUsers, secretHash } = found
  return { id, application, scopes, createsUsers, secretHash, checkAgain: check }
}

function countRequest({ rates }: ProducerKeys, found: Producer | null, reply: FastifyReply): void {
  if (found === null || found.rate === null) return
  const { fields, retryAfter } = rates.count(found.id, found.rate)
  reply.headers(fields)
  if (retryAfter === undefined) return
  const problem = 'This key has sent as many requests as its rate allows'
  throw new CarillonError('TOO_MANY_REQUESTS', problem, {
    remedy: `Try again in ${retryAfter} s.`,
    retryAfter,
  })
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

/**
 * Only this decides who is calling. If there is an `Authorization` field, even an invalid one, no
 * other proof is read.
 */
export function authenticate({ sessions, accessTokens, site }: Proofs, { raw }: FastifyRequest) {
  const { authorization, cookie } = raw.headers
  if (authorization !== undefined) {
    const presented = bearerToken(authorizationsOf(raw))
    return presented === null ? null : accessTokens.verify(presented)
  }
  const secret = sessionSecret(cookie, site.cookie.name)
  return secret === null ? null : sessions.verify(secret)
}
