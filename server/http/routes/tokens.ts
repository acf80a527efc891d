// The routes of access tokens: renewal, a token for the owner of a session, tokens that an application issues for its users, and
// the public keys. A sign-in by token is in sign-in.ts.
import type { FastifyReply } from 'fastify'
import { CarillonError, notAuthenticated } from '../../errors.ts'
import type { Subject } from '../../sign-in/subject.ts'
import type { IssuedToken, TokenSubject } from '../../sign-in/token/access-token.ts'
import { maxTokenLifeSeconds } from '../../sign-in/token/read-token.ts'
import type { Producer, User } from '../../store/store.ts'
import { iso } from '../../times.ts'
import type { Dependencies } from '../dependencies.ts'
import { IssueBody } from '../openapi/schemas.ts'
import { sessionSecret } from '../request/guards.ts'
import { displayUser, sendData, sendObject } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'
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
  summary: 'The public keys that verify access tokens (RFC 7517)',
  responses: { 200: 'KeySet' },
  anyHost: true,
  handle: sendKeySet,
}

async function sendKeySet({ keys }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  return sendObject(reply.header('cache-control', 'public, max-age=300'), keys.publicKeySet)
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
  return accessTokens.issueForSession({ ...signIn, username: caller.username })
}

const issueForUser: Omit<Operation<Producer>, 'id'> = {
  tag: 'users',
  summary: 'An access token for a user of your application, with scope `inbox`: it opens the inbox and nothing else',
  body: IssueBody,
  responses: { 201: 'TokenResponse' },
  refusals: ['CONFLICT'],
  handle: issueToken,
}
export const issueById: Operation<Producer> = { ...issueForUser, id: 'issueUserToken' }
export const issueByExternalId: Operation<Producer> = {
  ...issueForUser,
  id: 'issueExternalUserToken',
  freeText: 'externalId',
}

async function issueToken(dependencies: Dependencies, request: GuardedRequest<Producer>, reply: FastifyReply) {
  const { lifetime = maxTokenLifeSeconds } = request.body as IssueBody
  const user = await findNamedUser(dependencies, request)
  if (user.disabledAt !== null)
    throw new CarillonError('CONFLICT', 'This user is disabled and gets no token', {
      remedy: 'Enable the user first: PATCH with { "disabled": false }.',
    })
  return sendToken(reply, await dependencies.accessTokens.issueForInbox(user, { lifetimeMs: lifetime * 1_000 }))
}

const revokeForUser: Omit<Operation<Producer>, 'id'> = {
  tag: 'users',
  summary: 'Revokes every token that was issued for this user, at once; sign-ins stay',
  responses: { 204: 'none' },
  handle: revokeTokens,
}
export const revokeById: Operation<Producer> = { ...revokeForUser, id: 'revokeUserTokens' }
export const revokeByExternalId: Operation<Producer> = {
  ...revokeForUser,
  id: 'revokeExternalUserTokens',
  freeText: 'externalId',
}

async function revokeTokens(dependencies: Dependencies, request: GuardedRequest<Producer>, reply: FastifyReply) {
  const { id } = await findNamedUser(dependencies, request)
  if ((await dependencies.accessTokens.revokeIssued(id)) === 'absent') throw noSuchUser()
  return reply.code(204).send()
}

/** The user whom the path names, by id or by external id. Throws NOT_FOUND. */
async function findNamedUser({ store }: Dependencies, { params }: GuardedRequest<Producer>): Promise<User> {
  const { id, externalId } = params as { id?: string; externalId?: string }
  const user =
    externalId === undefined
      ? await store.findUser(id as string)
      : await store.findUserByExternalId({ issuer: '', externalId })
  if (user === undefined) throw noSuchUser()
  return user
}

function noSuchUser(): CarillonError {
  return new CarillonError('NOT_FOUND', 'There is no such user')
}

function sendToken(reply: FastifyReply, { token, expiresAt }: IssuedToken): FastifyReply {
  return sendData(reply.code(201), { token, expiresAt: iso(expiresAt) })
}
