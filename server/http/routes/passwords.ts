// The routes of passwords: a new one by the signed-in user or by a one-time link, and the links that an application requests for its users.
import type { FastifyReply } from 'fastify'
import { createLink, findLiveLink, linkInvalid, resetPassword } from '../../sign-in/links/links.ts'
import type { UserKey } from '../../sign-in/users/users.ts'
import type { Producer } from '../../store/store.ts'
import { iso } from '../../times.ts'
import type { Dependencies } from '../dependencies.ts'
import { LinkBody, ResetBody } from '../openapi/request-schemas.ts'
import { sendData } from '../response/send.ts'
import { sourceOf, usersFor } from './finish-sign-in.ts'
import type { GuardedRequest, Operation } from './operation.ts'
import { externalIdOf, idOf } from './users.ts'

/** Longer than any password that is accepted, so that the policy says what is wrong with a long one. */
export const passwordBodyLimit = 16 * 1024

export const linkById: Operation<Producer> = {
  id: 'createUserLink',
  tag: 'users',
  summary: 'A link by which this user sets a password, once; it replaces an earlier one of the same purpose',
  body: LinkBody,
  responses: { 201: 'UserLinkResponse' },
  refusals: ['CONFLICT'],
  handle: (dependencies, request, reply) => sendLink(dependencies, { id: idOf(request) }, { request, reply }),
}

export const linkByExternalId: Operation<Producer> = {
  ...linkById,
  id: 'createExternalUserLink',
  summary: 'The same, by external id',
  freeText: 'externalId',
  handle: (dependencies, request, reply) =>
    sendLink(dependencies, { externalId: externalIdOf(request) }, { request, reply }),
}

type Exchange = { request: GuardedRequest<Producer>; reply: FastifyReply }

async function sendLink(dependencies: Dependencies, key: UserKey, { request, reply }: Exchange) {
  const { purpose } = request.body as LinkBody
  const users = usersFor(dependencies, request)
  const { url, expiresAt } = await createLink(users, dependencies.links, key, { purpose })
  return sendData(reply.code(201), { url, expiresAt: iso(expiresAt) })
}

export const reset: Operation<null> = {
  id: 'resetPassword',
  tag: 'sign-in',
  summary: 'Set a new password with the token of a one-time link: every session and token of the user ends',
  body: ResetBody,
  bodyLimit: passwordBodyLimit,
  responses: { 204: 'none' },
  refusals: ['LINK_INVALID', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  handle: setByLink,
}

/** An invalid link names no account. */
const noAccount = { name: '', user: undefined }

/**
 * A wrong token counts as a guess of its address. A right one is not delayed by the guesses of others at that address: 32 random bytes
 * are not guessed, and the owner of an account that is being attacked needs a way in (docs/decisions/0042-links-and-mail.md).
 */
async function setByLink(dependencies: Dependencies, request: GuardedRequest<null>, reply: FastifyReply) {
  const { token, newPassword } = request.body as ResetBody
  const { guesses, signInLog } = dependencies
  const source = sourceOf(dependencies, request)
  const users = { ...dependencies.users, source }
  const link = await findLiveLink(users, token)
  if (link === undefined) {
    signInLog.refused(source, noAccount, { event: 'link-refused', code: 'LINK_INVALID' })
    await guesses.begin({ address: source.address }, 'link')
    throw linkInvalid()
  }
  await resetPassword(users, link, { token, newPassword })
  return reply.code(204).send()
}
