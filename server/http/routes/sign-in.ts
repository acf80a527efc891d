// The routes of who is calling: login in both variants, the restricted route, logout, renewal, public keys, me.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, notAuthenticated } from '../../errors.ts'
import type { AddressRange } from '../../ip-addresses.ts'
import { sessionSecrets } from '../../sign-in/authenticate.ts'
import { endPresented, endTokens } from '../../sign-in/end-presented.ts'
import { type CheckedUser, checkCredentials, findAccount } from '../../sign-in/password/credentials.ts'
import type { Passwords } from '../../sign-in/password/passwords.ts'
import type { Sessions } from '../../sign-in/session.ts'
import type { Subject } from '../../sign-in/subject.ts'
import type { AccessTokens, TokenSubject } from '../../sign-in/token/access-token.ts'
import type { SigningKeys } from '../../sign-in/token/signing-keys.ts'
import type { Store } from '../../store/store.ts'
import { iso } from '../../times.ts'
import { LoginBody } from '../openapi/schemas.ts'
import { addressOf, networkOfClient } from '../request/address.ts'
import { comesFromOtherSite } from '../request/checks.ts'
import { presentedBy } from '../request/guards.ts'
import { onGone } from '../response/event-stream.ts'
import { sendData, sendNothing, sendObject, shownUser } from '../response/send.ts'
import type { Operation } from './operation.ts'
import type { SignInLog, Source } from './sign-in-log.ts'

export type SignInDependencies = {
  store: Pick<Store, 'findCredentials' | 'findUser'>
  passwords: Passwords
  sessions: Sessions
  accessTokens: AccessTokens
  keys: SigningKeys
  variant: 'stateful' | 'stateless'
  cookie: Cookie
  allowedOrigins: readonly string[]
  signInLog: SignInLog
  trustedProxies: readonly AddressRange[]
}

/** `lifetimeMs` is how long the browser is told to keep it. */
export type Cookie = { name: string; isSecure: boolean; lifetimeMs: number }

export function signInOperations(parts: SignInDependencies) {
  const { store, sessions, accessTokens, keys, cookie, signInLog } = parts
  const proofs = { sessions, accessTokens, cookieName: cookie.name }

  const login: Operation<null> = {
    summary: 'Sign in: a session cookie (stateful) or an access token (stateless)',
    body: LoginBody,
    acceptsForm: true,
    responses: { 200: ['StatefulLogin', 'StatelessLogin'] },
    async handle(_, request, reply) {
      const { variant = parts.variant, ...presented } = request.body as LoginBody
      const source = sourceOf(parts, request)
      const turn = { address: networkOfClient(source.address), signal: goneSignal(reply) }
      const account = await findAccount(parts, presented.username, turn.address)
      try {
        const user = await checkCredentials(parts, account, { password: presented.password, ...turn })
        const response =
          variant === 'stateless'
            ? await issueToken(parts, user, { request, reply })
            : await issueSession(parts, user, { request, reply })
        signInLog.signedIn(source, user, variant)
        return sendObject(reply, { User: shownUser(user), ...response })
      } catch (error) {
        const code = refusalCode(error)
        if (code !== undefined) signInLog.refused(source, account, { code, variant })
        throw error
      }
    },
  }

  const logout: Operation<null> = {
    summary: 'Sign out: ends every session and token that the request presents; 204 also when nothing was valid',
    responses: { 204: 'none' },
    async handle(_, request, reply) {
      const source = sourceOf(parts, request)
      const presented = presentedBy(request)
      // A form of another site can bring a cookie past the cross-site check by a username in its address (`Authorization:
      // Basic`). Then the cookie is not what signs out.
      const isForeign = comesFromOtherSite(request, parts.allowedOrigins)
      const ended = await endPresented(proofs, isForeign ? { ...presented, cookie: undefined } : presented)
      for (const one of ended) signInLog.signedOut(source, one)
      if (!isForeign) clearCookie(reply, cookie)
      return sendNothing(reply.header('clear-site-data', '"cache"'))
    },
  }

  const renew: Operation<TokenSubject> = {
    summary: 'A fresh access token for a valid one, until the sign-in is too long ago',
    responses: { 200: ['StatelessLogin'] },
    async handle(subject, _request, reply) {
      const user = await findLive(subject)
      const { token, expiresAt } = await accessTokens.renew(subject, user)
      return sendObject(reply, { User: shownUser(user), token, expiresAt: iso(expiresAt) })
    },
  }

  const keySet: Operation<null> = {
    summary: 'The public keys that access tokens are verified with (RFC 7517)',
    responses: { 200: ['KeySet'] },
    anyHost: true,
    handle: async (_, _request, reply) =>
      sendObject(reply.header('cache-control', 'public, max-age=300'), keys.publicKeySet),
  }

  const restricted: Operation<Subject> = {
    summary: 'The restricted route: 200 with valid proof, 401 without',
    responses: { 200: ['Restricted'] },
    handle: async ({ userId, username, proof }, _request, reply) => sendData(reply, { userId, username, proof }),
  }

  const me: Operation<Subject> = {
    summary: 'The signed-in user and the proof in use',
    responses: { 200: ['Me'] },
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

async function issueToken(
  parts: SignInDependencies,
  user: CheckedUser,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
) {
  const { token, expiresAt } = await parts.accessTokens.issue(user)
  const { sessions, accessTokens, cookie } = parts
  await endPresented({ sessions, accessTokens, cookieName: cookie.name }, presentedBy(request))
  if (sessionSecrets(request.headers.cookie, cookie.name).length > 0) clearCookie(reply, cookie)
  return { token, expiresAt: iso(expiresAt) }
}

async function issueSession(
  { sessions, accessTokens, cookie }: SignInDependencies,
  user: CheckedUser,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
) {
  const { secret, expiresAt } = await sessions.issue(user, sessionSecrets(request.headers.cookie, cookie.name))
  await endTokens({ accessTokens }, presentedBy(request))
  setCookie(reply, cookie, { value: secret, maxAgeSeconds: Math.floor(cookie.lifetimeMs / 1000) })
  return { expiresAt: iso(expiresAt) }
}

/** To be called before anything is waited for: the address of a closed connection is not known. */
function sourceOf({ trustedProxies }: SignInDependencies, { id, raw }: FastifyRequest): Source {
  return { requestId: id, address: addressOf(raw, trustedProxies) }
}

/** Aborts when the client leaves before it has its answer. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  onGone(reply, () => gone.abort())
  return gone.signal
}

/** Undefined for what is no refusal of this sign-in: overload, which failure-log.ts counts, and a client that left. */
function refusalCode(error: unknown): string | undefined {
  if (!(error instanceof CarillonError)) return 'INTERNAL'
  return error.report === 'overload' || error.code === 'TIMEOUT' ? undefined : error.code
}

function clearCookie(reply: FastifyReply, cookie: Cookie): void {
  setCookie(reply, cookie, { value: '', maxAgeSeconds: 0 })
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
