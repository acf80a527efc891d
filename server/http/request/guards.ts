// Who is calling, and may they call this route? A guard either returns the caller of its route or throws the refusal.
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { isBlank, stripBlanks } from '../../blanks.ts'
import { CarillonError, type ErrorCode, insufficientScope, notAuthenticated } from '../../errors.ts'
import { refuseStale } from '../../sign-in/factors/freshness.ts'
import type { Scope } from '../../sign-in/producer-key.ts'
import type { Subject } from '../../sign-in/subject.ts'
import type { TokenSubject } from '../../sign-in/token/access-token.ts'
import type { Producer } from '../../store/store.ts'
import type { Dependencies } from '../dependencies.ts'

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

export const open: Guard<null> = { name: 'open', refusals: [], admit: async () => null }
/** Anyone: the user of a valid proof, of scope `inbox` or without a limit; null without one. */
export const visitor: Guard<Subject | null> = { name: 'visitor', refusals: [], admit: admitVisitor }
/** The same, but a token of scope `inbox` is refused. */
export const unscopedVisitor: Guard<Subject | null> = {
  name: 'visitor',
  refusals: ['FORBIDDEN'],
  admit: admitUnscopedVisitor,
}
/** The same, for a route that itself refuses a request without a valid proof. */
export const verified: Guard<Subject | null> = {
  name: 'user',
  refusals: ['UNAUTHORIZED', 'FORBIDDEN'],
  admit: admitUnscopedVisitor,
}
/** A user, by session or access token, also by a token of scope `inbox`. */
export const inbox: Guard<Subject> = { name: 'user', refusals: ['UNAUTHORIZED'], admit: admitToInbox }
/** A signed-in user, by session or access token without a scope. */
export const user: Guard<Subject> = { name: 'user', refusals: ['UNAUTHORIZED', 'FORBIDDEN'], admit: admitUser }
/** The same, if the sign-in, or its last confirmation, is not older than ten minutes: for what decides who can sign in. */
export const fresh: Guard<Subject> = {
  name: 'user',
  refusals: ['UNAUTHORIZED', 'FORBIDDEN', 'FRESH_SIGN_IN_REQUIRED'],
  admit: admitFresh,
}
/** The same; the refusal has the code and the words that the API's spec gives for its restricted route. */
export const restricted: Guard<Subject> = {
  name: 'user',
  refusals: ['Unauthorized', 'FORBIDDEN'],
  admit: admitToRestricted,
}
/** As `inbox`, for a route that keeps the proof. */
export const longLived: Guard<LongLivedCaller> = { name: 'user', refusals: ['UNAUTHORIZED'], admit: admitLongLived }
/** An access token without a scope. */
export const token: Guard<TokenSubject> = {
  name: 'token',
  refusals: ['UNAUTHORIZED', 'FORBIDDEN'],
  admit: admitToken,
}
export const producer = (scope: Scope): Guard<Producer> => ({
  name: 'producer',
  refusals: ['UNAUTHORIZED', 'FORBIDDEN'],
  admit: (dependencies, request) => admitProducer(dependencies, request, scope),
})
/** As `producer` with the scope `send`, without a round trip of its own. */
export const sender: Guard<Sender> = { name: 'producer', refusals: ['UNAUTHORIZED', 'FORBIDDEN'], admit: admitSender }

async function admitVisitor(dependencies: Dependencies, request: FastifyRequest): Promise<Subject | null> {
  return authenticate(dependencies, request.raw)
}

async function admitUnscopedVisitor(dependencies: Dependencies, request: FastifyRequest): Promise<Subject | null> {
  const subject = await authenticate(dependencies, request.raw)
  if (subject !== null) refuseScoped(subject)
  return subject
}

async function admitToInbox(dependencies: Dependencies, request: FastifyRequest): Promise<Subject> {
  const subject = await authenticate(dependencies, request.raw)
  if (subject === null) throw notAuthenticated()
  return subject
}

async function admitUser(dependencies: Dependencies, request: FastifyRequest): Promise<Subject> {
  const subject = await authenticate(dependencies, request.raw)
  if (subject === null) throw notAuthenticated()
  refuseScoped(subject)
  return subject
}

async function admitFresh(dependencies: Dependencies, request: FastifyRequest): Promise<Subject> {
  const subject = await admitUser(dependencies, request)
  refuseStale(subject, dependencies.users.now())
  return subject
}

async function admitToRestricted(dependencies: Dependencies, request: FastifyRequest): Promise<Subject> {
  const subject = await authenticate(dependencies, request.raw)
  if (subject === null) throw new CarillonError('Unauthorized', 'Unauthorized')
  refuseScoped(subject)
  return subject
}

async function admitLongLived(dependencies: Dependencies, request: FastifyRequest): Promise<LongLivedCaller> {
  const subject = await admitToInbox(dependencies, request)
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

async function admitToken({ accessTokens }: Dependencies, { raw }: FastifyRequest): Promise<TokenSubject> {
  const presented = bearerToken(authorizationsOf(raw))
  const subject = presented === null ? null : await accessTokens.verify(presented)
  if (subject === null) throw notAuthenticated()
  refuseScoped(subject)
  return subject
}

function refuseScoped({ scope }: Subject): void {
  if (scope === undefined) return
  throw insufficientScope(`A token with the scope "${scope}" does not open this route`, {
    remedy: 'It opens /api/notifications, /api/session and /api/me. This route needs a sign-in.',
  })
}

async function admitProducer({ producerKeys }: Dependencies, { raw }: FastifyRequest, scope: Scope): Promise<Producer> {
  const key = bearerToken(authorizationsOf(raw))
  return withScope(scope, key === null ? null : await producerKeys.verify(key))
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
  raw: IncomingMessage,
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
const equalsSign = 0x3d
const semicolonSign = 0x3b
const bearer = /^Bearer +([\w.~+/-]+=*)$/i

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1); null for another scheme, another form, or two fields. */
function bearerToken(authorization: readonly string[]): string | null {
  const [only, another] = authorization
  if (only === undefined || another !== undefined) return null
  // The usual spelling, without the regular expression; the token's own form is checked when it is verified.
  if (only.startsWith('Bearer ') && only.charCodeAt(7) !== space) return only.slice(7)
  return bearer.exec(only)?.[1] ?? null
}

/** The session cookie's value; null if there is none, or if two values differ. */
export function sessionSecret(cookieHeader: string | undefined, name: string): string | null {
  const secrets = sessionSecrets(cookieHeader, name)
  return secrets.length === 1 ? (secrets[0] as string) : null
}

/**
 * Every distinct value under exactly this name. Only SP and HTAB are stripped (RFC 6265bis, section 5.6): a browser
 * lets a sibling host set `\xA0__Host-carillon`, and `trim()` would read that as our cookie.
 */
export function sessionSecrets(cookieHeader: string | undefined, name: string): string[] {
  const values: string[] = []
  if (cookieHeader === undefined) return values
  // Searches for the name and does not split the header: 15,000 semicolons cost 0.4 ms of the event loop.
  for (let at = cookieHeader.indexOf(name); at >= 0; at = cookieHeader.indexOf(name, at + 1)) {
    let equals = at + name.length
    while (isBlank(cookieHeader.charCodeAt(equals))) equals++
    if (cookieHeader.charCodeAt(equals) !== equalsSign || !beginsPair(cookieHeader, at)) continue
    const semicolon = cookieHeader.indexOf(';', equals)
    const value = stripBlanks(cookieHeader, equals + 1, semicolon < 0 ? cookieHeader.length : semicolon)
    if (value !== values[0]) values.push(value)
  }
  return values.length < 2 ? values : [...new Set(values)]
}

function beginsPair(text: string, at: number): boolean {
  let start = at
  while (start > 0 && isBlank(text.charCodeAt(start - 1))) start--
  return start === 0 || text.charCodeAt(start - 1) === semicolonSign
}
