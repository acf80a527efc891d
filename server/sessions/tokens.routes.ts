import { conflict, notAuthenticated } from '../basics/errors.ts'
import { hashOf } from '../basics/secrets.ts'
import { forAnyone, forProducer, forUser, operationFor } from '../http/operation.ts'
import { sessionSecret } from '../http/request/credentials.ts'
import { isKnown, sendData, sendJson, sendObject } from '../http/response/send.ts'
import type { AccessTokens, TokenSubject } from '../tokens/access-token.ts'
import { keySetMaxAgeMs } from '../tokens/key-schedule.ts'
import { maxTokenLifeSeconds } from '../tokens/read-token.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import { endProofs } from '../users/access/access.ts'
import { displayUser } from '../users/display-user.ts'
import { findEnabledUser, findUser, type UserNeeds, userKey, usersFor } from '../users/find-user.ts'
import type { SignInsNeeds } from './own-sign-in.ts'
import { IssueBody, KeySet, StatelessLogin, TokenResponse } from './sessions.schemas.ts'
import { revokeIssuedTokens } from './sign-ins.store.ts'

type IssueNeeds = UserNeeds & { accessTokens: AccessTokens }

export const renew = operationFor<TokenSubject>()({
  summary: 'A fresh access token for a valid one, until the sign-in is too long ago',
  responses: { 200: StatelessLogin },
  async handle(dependencies: SignInsNeeds, { caller }, reply) {
    const user = await findEnabledUser(dependencies, caller)
    const issued = await dependencies.accessTokens.renew(caller, user)
    return sendObject(reply, { User: displayUser(user), ...issued, variant: 'stateless' })
  },
})

export const keySet = forAnyone({
  summary:
    'The public keys that verify access tokens (RFC 7517); a key is here before any token is signed with it',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: KeySet, 304: 'none' },
  anyHost: true,
  async handle({ keys }: { keys: SigningKeys }, { headers }, reply) {
    const text = JSON.stringify(keys.publicKeySet)
    const etag = `"${hashOf(text)}"`
    reply.header('cache-control', `public, max-age=${keySetMaxAgeMs / 1000}`).header('etag', etag)
    return isKnown(headers['if-none-match'], etag) ? reply.code(304).send() : sendJson(reply, text)
  },
})

export const create = forUser({
  summary: 'An access token of the same sign-in: it ends with the session, and no later than it',
  responses: { 201: TokenResponse },
  async handle(
    { store, sessions, accessTokens, site: { cookie } }: SignInsNeeds,
    { caller, raw },
    reply,
  ) {
    if (caller.proof === 'access-token') {
      const user = await findEnabledUser({ store }, caller)
      return sendData(reply.code(201), await accessTokens.renew(caller as TokenSubject, user))
    }
    const signIn = await sessions.signInOf(sessionSecret(raw.headers.cookie, cookie.name) ?? '')
    if (signIn === undefined) throw notAuthenticated()
    const { username, confirmedAt, factor } = caller
    return sendData(
      reply.code(201),
      accessTokens.issueForSession({ ...signIn, username, confirmedAt, factor }),
    )
  },
})

export const issue = forProducer({
  summary:
    'An access token for a user of your application, with scope `inbox`: it opens the inbox and nothing else',
  body: IssueBody,
  responses: { 201: TokenResponse },
  refusals: ['CONFLICT'],
  async handle(dependencies: IssueNeeds, request, reply) {
    const { lifetime = maxTokenLifeSeconds } = request.body
    const user = await findUser(usersFor(dependencies, request), userKey(request))
    if (user.disabledAt !== null)
      throw conflict(
        'This user is disabled and gets no token',
        'Enable the user first: PATCH with { "disabled": false }.',
      )
    return sendData(
      reply.code(201),
      dependencies.accessTokens.issueForInbox(user, lifetime * 1_000),
    )
  },
})

export const issueExternal = { ...issue, summary: 'The same, by external id' }

export const revoke = forProducer({
  summary: 'Revokes every token that was issued for this user, at once; sign-ins stay',
  async handle(dependencies: IssueNeeds, request) {
    const users = usersFor(dependencies, request)
    const { id, username } = await findUser(users, userKey(request))
    await endProofs(
      users,
      revokeIssuedTokens,
      { userId: id },
      { event: 'tokens-revoked', userId: id, username },
    )
  },
})

export const revokeExternal = { ...revoke, summary: 'The same, by external id' }
