import { sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { forUser } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { renewOwnCookie } from '../sessions/own-sign-in.ts'
import { findEnabledUser } from '../users/users.ts'
import * as shapes from './factors.schemas.ts'
import { type Factor, factorsOf } from './factors.store.ts'
import { addTotp, confirmTotp, removeFactor, renewRecoveryCodes } from './factors.ts'
import type { FactorNeeds } from './second-factor.routes.ts'

export const list = forUser({
  summary: 'The second factors of the signed-in user, without their secrets',
  responses: { 200: shapes.FactorListResponse },
  async handle({ factors }: Pick<FactorNeeds, 'factors'>, { caller }, reply) {
    const found = await factors.store.read(factorsOf, caller.userId)
    return sendData(reply, { items: found.factors.map(displayFactor), recoveryCodesLeft: found.recoveryCodesLeft })
  },
})

export const startTotp = forUser({
  summary: 'Adds an authenticator app; it counts after its first code: confirmTotp',
  body: shapes.NewTotpBody,
  responses: { 201: shapes.TotpResponse },
  refusals: ['CONFLICT'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { label } = request.body ?? {}
    const user = await findEnabledUser(dependencies, request.caller)
    return sendData(reply.code(201), await addTotp(dependencies.factors, user, label))
  },
})

export const endTotp = forUser({
  summary: 'Confirms an authenticator app by a first code; with the first factor, recovery codes',
  body: shapes.TotpConfirmation,
  responses: { 200: shapes.FactorAddedResponse },
  refusals: ['INVALID_CREDENTIALS', 'FACTOR_UNREADABLE', 'NOT_FOUND', 'CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { id, code } = request.body
    const { userId } = request.caller
    const source = sourceOf(dependencies, request)
    const first = { id: id.toLowerCase(), code, source }
    const { factor, recoveryCodes } = await confirmTotp(dependencies.factors, userId, first)
    await renewOwnCookie(dependencies, { request, reply })
    return sendData(reply, { ...displayFactor(factor), ...(recoveryCodes && { recoveryCodes }) })
  },
})

export const remove = forUser({
  summary: 'Removes a second factor; with the last one, the recovery codes end',
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const id = request.params.id.toLowerCase()
    const source = sourceOf(dependencies, request)
    await removeFactor(dependencies.factors, request.caller.userId, { id, source })
    await renewOwnCookie(dependencies, { request, reply })
  },
})

export const recoveryCodes = forUser({
  summary: 'New recovery codes, displayed once; those before end',
  responses: { 201: shapes.RecoveryCodesResponse },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const source = sourceOf(dependencies, request)
    const codes = await renewRecoveryCodes(dependencies.factors, request.caller.userId, source)
    await renewOwnCookie(dependencies, { request, reply })
    return sendData(reply.code(201), { recoveryCodes: codes })
  },
})

export function displayFactor({ id, kind, label, confirmedAt, createdAt, lastUsedAt }: Factor) {
  const used = lastUsedAt === null ? null : iso(lastUsedAt)
  return { id, kind, label, confirmed: confirmedAt !== null, createdAt: iso(createdAt), lastUsedAt: used }
}
