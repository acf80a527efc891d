// The accounts that the signed-in user has at providers: list, link, unlink. The way back from the provider is in providers.ts.
import type { FastifyReply } from 'fastify'
import { unlinkAccount } from '../../../sign-in/providers/accounts.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import { iso } from '../../../times.ts'
import type { Dependencies } from '../../dependencies.ts'
import { ProviderLinkBody } from '../../openapi/request-schemas.ts'
import { renewOwnCookie } from '../../request/own-sign-in.ts'
import { sourceOf } from '../../request/source.ts'
import { sendData } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { begin, providerOf, providerParameter, readReturnTo } from '../sign-in/providers.ts'
import { findEnabledUser } from '../sign-in/sign-in.ts'

type Request = GuardedRequest<Subject>

export const list: Operation<Subject> = {
  id: 'listProviderAccounts',
  tag: 'sign-in',
  summary: 'The accounts at providers with which the signed-in user can sign in',
  responses: { 200: 'ProviderAccountsResponse' },
  handle: listAccounts,
}

async function listAccounts({ providers }: Dependencies, { caller }: Request, reply: FastifyReply) {
  const settings = new Map([...providers.all.values()].map(({ setting }) => [setting.issuer, setting]))
  const accounts = await providers.store.providerAccounts(caller.userId)
  const items = accounts.map(({ issuer, email, createdAt, lastUsedAt }) => {
    const { name = null, displayName = issuer } = settings.get(issuer) ?? {}
    return { provider: name, displayName, email, createdAt: iso(createdAt), lastUsedAt: iso(lastUsedAt) }
  })
  return sendData(reply, { items })
}

export const link: Operation<Subject> = {
  id: 'linkProviderAccount',
  tag: 'sign-in',
  summary: 'Begin to link an account at a provider: the page sends its browser to the URL in the response',
  parameters: providerParameter,
  body: ProviderLinkBody,
  responses: { 201: 'ProviderLinkResponse' },
  handle: beginLink,
}

/** A POST of the page, and not a link, so that no other site can begin it for an account of its own. */
async function beginLink(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { caller } = request
  const provider = providerOf(dependencies, request)
  const returnTo = readReturnTo(dependencies, 'returnTo', (request.body as ProviderLinkBody).returnTo)
  const { id: userId, credentialGeneration: generation } = await findEnabledUser(dependencies, caller)
  const { signInId, proof } = caller
  const signedInAt = 'signedInAt' in caller ? (caller.signedInAt as number) : 0
  const linking = { userId, signInId, signedInAt, generation, proof }
  const begun = { provider: provider.setting.name, variant: 'stateful' as const, returnTo, linking }
  const url = await begin(dependencies, { provider, begun }, { request, reply })
  return sendData(reply.code(201), { url })
}

export const unlink: Operation<Subject> = {
  id: 'unlinkProviderAccount',
  tag: 'sign-in',
  summary: 'Unlink an account at a provider; refused if the user has no other way to sign in',
  parameters: providerParameter,
  responses: { 204: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  handle: unlinkOne,
}

async function unlinkOne(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { userId, signInId } = request.caller
  const provider = providerOf(dependencies, request)
  const source = sourceOf(dependencies, request)
  await unlinkAccount(dependencies.providers, { userId, signInId, provider, source })
  await renewOwnCookie(dependencies, { request, reply })
  return reply.code(204).send()
}
