// The routes of who is calling: login in both variants, the restricted route, logout, renewal, public keys, me.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, notAuthenticated } from '../errors.ts'
import type { Log } from '../log.ts'
import type { AccessTokens, TokenSubject } from '../sign-in/access-token.ts'
import { authenticateToken, sessionSecret } from '../sign-in/authenticate.ts'
import { type CheckedUser, checkCredentials } from '../sign-in/credentials.ts'
import type { Passwords } from '../sign-in/passwords.ts'
import type { Sessions } from '../sign-in/session.ts'
import type { SigningKeys } from '../sign-in/signing-keys.ts'
import type { Subject } from '../sign-in/subject.ts'
import type { Store } from '../store/store.ts'
import { iso } from '../times.ts'
import { sendData, sendNothing, sendObject, shownUser } from './answers.ts'
import { presentedBy } from './guards.ts'
import type { Operation } from './operation.ts'
import { LoginBody } from './schemas.ts'

export type SignInParts = {
  store: Pick<Store, 'findCredentials' | 'findUser'>
  passwords: Passwords
  sessions: Sessions
  accessTokens: AccessTokens
  keys: SigningKeys
  variant: 'stateful' | 'stateless'
  cookie: Cookie
  log: Log
  now: () => number
}

/** `lifetimeMs` is how long the browser is told to keep it. */
export type Cookie = { name: string; isSecure: boolean; lifetimeMs: number }

export function signInOperations(parts: SignInParts) {
  const { store, sessions, accessTokens, keys, cookie, log, now } = parts

  const login: Operation<null> = {
    summary: 'Sign in: a session cookie (stateful) or an access token (stateless)',
    body: LoginBody,
    acceptsForm: true,
    answers: { 200: ['StatefulLogin', 'StatelessLogin'] },
    async handle(_, request, reply) {
      const { variant = parts.variant, ...presented } = request.body as LoginBody
      // Before anything is read: what is cut from here on cuts this sign-in too.
      const startedAt = now()
      try {
        const user = await checkCredentials(parts, presented)
        const answer =
          variant === 'stateless'
            ? await issueToken(parts, user, startedAt)
            : await issueSession(parts, user, { request, reply })
        log.info({ event: 'sign-in', userId: user.id, variant, requestId: request.id }, 'sign-in')
        return sendObject(reply, { User: shownUser(user), ...answer })
      } catch (error) {
        const code = error instanceof CarillonError ? error.code : 'INTERNAL'
        log.info({ event: 'sign-in-refused', code, requestId: request.id }, 'sign-in refused')
        throw error
      }
    },
  }

  const logout: Operation<null> = {
    summary: 'Sign out: ends the session, or the tokens of this sign-in; 204 also when nothing was valid',
    answers: { 204: 'none' },
    async handle(_, request, reply) {
      await endProof(request)
      setCookie(reply, cookie, { value: '', maxAgeSeconds: 0 })
      return sendNothing(reply.header('clear-site-data', '"cache"'))
    },
  }

  async function endProof(request: FastifyRequest): Promise<void> {
    const presented = presentedBy(request)
    if (presented.authorization.length > 0) {
      const subject = await authenticateToken({ accessTokens }, presented)
      if (subject === null) return
      await accessTokens.revoke(subject)
      log.info({ event: 'sign-out', userId: subject.userId, requestId: request.id }, 'sign-out')
      return
    }
    const secret = sessionSecret(presented.cookie, cookie.name)
    if (secret === null) return
    await sessions.revoke(secret)
    log.info({ event: 'sign-out', requestId: request.id }, 'sign-out')
  }

  const renew: Operation<TokenSubject> = {
    summary: 'A fresh access token for a valid one, until the sign-in is too long ago',
    answers: { 200: ['StatelessLogin'] },
    async handle(subject, _request, reply) {
      const { token, expiresAt } = await accessTokens.renew(subject)
      const user = await findLive(subject)
      return sendObject(reply, { User: shownUser(user), token, expiresAt: iso(expiresAt) })
    },
  }

  const keySet: Operation<null> = {
    summary: 'The public keys that access tokens are verified with (RFC 7517)',
    answers: { 200: ['KeySet'] },
    handle: async (_, _request, reply) =>
      sendObject(reply.header('cache-control', 'public, max-age=300'), keys.publicKeySet),
  }

  const restricted: Operation<Subject> = {
    summary: 'The restricted route: 200 with valid proof, 401 without',
    answers: { 200: ['Restricted'] },
    handle: async ({ userId, username, proof }, _request, reply) => sendData(reply, { userId, username, proof }),
  }

  const me: Operation<Subject> = {
    summary: 'The signed-in user and the proof in use',
    answers: { 200: ['Me'] },
    async handle(subject, _request, reply) {
      const user = await findLive(subject)
      return sendData(reply, { user: shownUser(user), proof: subject.proof, expiresAt: iso(subject.expiresAt) })
    },
  }

  async function findLive({ userId }: Subject) {
    const user = await store.findUser(userId)
    if (user === undefined || user.disabledAt !== null) throw notAuthenticated()
    return user
  }

  return { login, logout, renew, keySet, restricted, me }
}

async function issueToken({ accessTokens }: SignInParts, user: CheckedUser, startedAt: number) {
  const { token, expiresAt } = await accessTokens.issue(user, startedAt)
  return { token, expiresAt: iso(expiresAt) }
}

async function issueSession(
  { sessions, cookie }: SignInParts,
  user: CheckedUser,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
) {
  const running = sessionSecret(request.headers.cookie, cookie.name)
  const { secret, expiresAt } = await sessions.issue(user, running)
  setCookie(reply, cookie, { value: secret, maxAgeSeconds: Math.floor(cookie.lifetimeMs / 1000) })
  return { expiresAt: iso(expiresAt) }
}

/** RFC 6265bis: readable by no script, sent by no other site's form, kept to this host by the `__Host-` prefix. */
function setCookie(
  reply: FastifyReply,
  { name, isSecure }: Cookie,
  { value, maxAgeSeconds }: { value: string; maxAgeSeconds: number },
): void {
  const secure = isSecure ? '; Secure' : ''
  reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`)
}
