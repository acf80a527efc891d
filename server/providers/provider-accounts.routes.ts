import { auditEntry, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { CarillonError, conflict } from '../basics/errors.ts'
import { forUser } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { renewOwnCookie } from '../sessions/own-sign-in.ts'
import { findEnabledUser } from '../users/users.ts'
import { begin } from './flow.ts'
import { providerAccounts, unlinkProviderAccount } from './provider-accounts.store.ts'
import { type ProviderNeeds, providerOf, readReturnTo } from './providers.routes.ts'
import { ProviderAccountsResponse, ProviderLinkBody, ProviderLinkResponse } from './providers.schemas.ts'

export const list = forUser({
  summary: 'The accounts at providers with which the signed-in user can sign in',
  responses: { 200: ProviderAccountsResponse },
  async handle({ store, providers }: Pick<ProviderNeeds, 'store' | 'providers'>, { caller }, reply) {
    const settings = new Map([...providers.values()].map(({ setting }) => [setting.issuer, setting]))
    const accounts = await store.read(providerAccounts, caller.userId)
    const items = accounts.map(({ issuer, email, createdAt, lastUsedAt }) => {
      const { name = null, displayName = issuer } = settings.get(issuer) ?? {}
      return { provider: name, displayName, email, createdAt: iso(createdAt), lastUsedAt: iso(lastUsedAt) }
    })
    return sendData(reply, { items })
  },
})

export const link = forUser({
  summary: 'Begin to link an account at a provider: the page sends its browser to the URL in the response',
  body: ProviderLinkBody,
  responses: { 201: ProviderLinkResponse },
  /** A POST of the page, and not a link, so that no other site can begin it for an account of its own. */
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { caller } = request
    const provider = providerOf(dependencies, request)
    const returnTo = readReturnTo(dependencies, 'returnTo', request.body.returnTo)
    const { id: userId, credentialGeneration: generation } = await findEnabledUser(dependencies, caller)
    const { signInId, proof } = caller
    const linking = { userId, signInId, generation, proof }
    const begun = { provider, variant: 'stateful' as const, returnTo, linking }
    const url = await begin(dependencies, begun, { request, reply })
    return sendData(reply.code(201), { url })
  },
})

export const unlink = forUser({
  summary: 'Unlink an account at a provider; refused if the user has no other way to sign in',
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { userId, signInId } = request.caller
    const { issuer, name, displayName } = providerOf(dependencies, request).setting
    const source = sourceOf(dependencies, request)
    const facts = { at: dependencies.users.now(), userId, signInId, detail: { provider: name } }
    const audit = [auditEntry(source, { event: 'provider-unlinked', ...facts })]
    const issuers = [...dependencies.providers.values()].map(({ setting }) => setting.issuer)
    const outcome = await dependencies.store.write(unlinkProviderAccount, { userId, issuer, issuers, audit })
    if (outcome === 'absent') throw new CarillonError('NOT_FOUND', `No account at ${displayName} is linked to you`)
    if (outcome === 'last')
      throw conflict(
        `Your account at ${displayName} is your only way to sign in`,
        'Set up another way first, such as a passkey.',
      )
    await renewOwnCookie(dependencies, { request, reply })
  },
})
