// The routes of access tokens: renewal, a token for the owner of a session, tokens that an application issues for its users, and
// the public keys. A sign-in by token is in sign-in.ts.
import type { FastifyReply } from 'fastify'
import { CarillonError, notAuthenticated } from '../../../errors.ts'
import { recorded } from '../../../sign-in/audit/entry.ts'
import { hashOf } from '../../../sign-in/secrets.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { IssuedToken, TokenSubject } from '../../../sign-in/token/access-token.ts'
import { keySetMaxAgeMs } from '../../../sign-in/token/key-schedule.ts'
import { maxTokenLifeSeconds } from '../../../sign-in/token/read-token.ts'
import { findUser, type UserKey } from '../../../sign-in/users/users.ts'
import type { Producer } from '../../../store/store.ts'
import { iso } from '../../../times.ts'
import type { Dependencies } from '../../dependencies.ts'
import { IssueBody } from '../../openapi/request-schemas.ts'
import { sessionSecret } from '../../request/guards.ts'
import { usersFor } from '../../request/source.ts'
import { isKnown } from '../../response/etag.ts'
import { displayUser, sendData, sendJson, sendObject } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { externalIdOf, idOf } from '../users.ts'
import { findEnabledUser } from './sign-in.ts'

export const renew: Operation<TokenSubject> = {
  id: 'renewToken',
  tag: 'sign-in',
  summary: 'A fresh access token for a valid one, until the sign-in is too long ago',
  responses: { 200: 'StatelessLogin' },
  handle: renewToken,
}

async function renewToken(dependencies: Dependencies, { caller }: GuardedRequest<TokenSubject>, reply: FastifyReply) {
  const user = await findEnabledUser(dependencies, caller)
  const { token, expiresAt } = await dependencies.accessTokens.renew(caller, user)
  return sendObject(reply, { User: displayUser(user), token, expiresAt: iso(expiresAt), variant: 'stateless' })
}

export const keySet: Operation<null> = {
  id: 'getKeySet',
  tag: 'sign-in',
  summary: 'The public keys that verify access tokens (RFC 7517); a key is here before any token is signed with it',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'KeySet', 304: 'none' },
  anyHost: true,
  handle: sendKeySet,
}

async function sendKeySet({ keys }: Dependencies, { headers }: GuardedRequest<null>, reply: FastifyReply) {
  const text = JSON.stringify(keys.publicKeySet)
  const etag = `"${hashOf(text)}"`
  reply.header('cache-control', `public, max-age=${keySetMaxAgeMs / 1000}`).header('etag', etag)
  return isKnown(headers['if-none-match'], etag) ? reply.code(304).send() : sendJson(reply, text)
}

export const create: Operation<Subject> = {
  id: 'createToken',
  tag: 'sign-in',
  summary: 'An access token of the same sign-in: it ends with the session, and no later than it',
  responses: { 201: 'TokenResponse' },
  handle: createToken,
}

async function createToken(dependencies: Dependencies, request: GuardedRequest<Subject>, reply: FastifyReply) {
  const { caller } = request
  if (caller.proof === 'session') return sendToken(reply, await tokenOfSession(dependencies, request))
  const user = await findEnabledUser(dependencies, caller)
  return sendToken(reply, await dependencies.accessTokens.renew(caller as TokenSubject, user))
}

async function tokenOfSession(
  { sessions, accessTokens, cookie }: Dependencies,
  { caller, raw }: GuardedRequest<Subject>,
): Promise<IssuedToken> {
  const signIn = await sessions.signInOf(sessionSecret(raw.headers.cookie, cookie.name) ?? '', caller)
  if (signIn === undefined) throw notAuthenticated()
  return accessTokens.issueForSession({ ...signIn, username: caller.username, confirmedAt: caller.confirmedAt })
}

export const issueById: Operation<Producer> = {
  id: 'issueUserToken',
  tag: 'users',
  summary: 'An access token for a user of your application, with scope `inbox`: it opens the inbox and nothing else',
  body: IssueBody,
  responses: { 201: 'TokenResponse' },
  refusals: ['CONFLICT'],
  handle: (dependencies, request, reply) => issueToken(dependencies, { id: idOf(request) }, { request, reply }),
}

export const issueByExternalId: Operation<Producer> = {
  ...issueById,
  id: 'issueExternalUserToken',
  summary: 'The same, by external id',
  freeText: 'externalId',
  handle: (dependencies, request, reply) =>
    issueToken(dependencies, { externalId: externalIdOf(request) }, { request, reply }),
}

type Exchange = { request: GuardedRequest<Producer>; reply: FastifyReply }

async function issueToken(dependencies: Dependencies, key: UserKey, { request, reply }: Exchange) {
  const { lifetime = maxTokenLifeSeconds } = request.body as IssueBody
  const user = await findUser(usersFor(dependencies, request), key)
  if (user.disabledAt !== null)
    throw new CarillonError('CONFLICT', 'This user is disabled and gets no token', {
      remedy: 'Enable the user first: PATCH with { "disabled": false }.',
    })
  return sendToken(reply, dependencies.accessTokens.issueForInbox(user, { lifetimeMs: lifetime * 1_000 }))
}

export const revokeById: Operation<Producer> = {
  id: 'revokeUserTokens',
  tag: 'users',
  summary: 'Revokes every token that was issued for this user, at once; sign-ins stay',
  responses: { 204: 'none' },
  handle: (dependencies, request, reply) => revokeTokens(dependencies, { id: idOf(request) }, { request, reply }),
}

export const revokeByExternalId: Operation<Producer> = {
  ...revokeById,
  id: 'revokeExternalUserTokens',
  summary: 'The same, by external id',
  freeText: 'externalId',
  handle: (dependencies, request, reply) =>
    revokeTokens(dependencies, { externalId: externalIdOf(request) }, { request, reply }),
}

async function revokeTokens(dependencies: Dependencies, key: UserKey, { request, reply }: Exchange) {
  const users = usersFor(dependencies, request)
  const { id, username } = await findUser(users, key)
  const { audit } = recorded(users, { event: 'tokens-revoked', userId: id, username })
  await dependencies.accessTokens.revokeIssued(id, audit)
  return reply.code(204).send()
}

function sendToken(reply: FastifyReply, { token, expiresAt }: IssuedToken): FastifyReply {
  return sendData(reply.code(201), { token, expiresAt: iso(expiresAt) })
}
