// The second factors of the signed-in user: list, add and confirm one that makes codes, remove, new recovery codes. What changes them
// needs a recent sign-in. Passkeys are added in passkeys.ts.
import type { FastifyReply } from 'fastify'
import { addTotp, confirmTotp, removeFactor, renewRecoveryCodes } from '../../../sign-in/factors/factors.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { Factor } from '../../../store/store.ts'
import { iso } from '../../../times.ts'
import type { Dependencies } from '../../dependencies.ts'
import { NewTotpBody, TotpConfirmation } from '../../openapi/factor-schemas.ts'
import { renewOwnCookie } from '../../request/own-sign-in.ts'
import { sourceOf } from '../../request/source.ts'
import { sendData } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { findEnabledUser } from '../sign-in/sign-in.ts'

type Request = GuardedRequest<Subject>

export const list: Operation<Subject> = {
  id: 'listFactors',
  tag: 'sign-in',
  summary: 'The second factors of the signed-in user, without their secrets',
  responses: { 200: 'FactorListResponse' },
  handle: listFactors,
}

async function listFactors({ factors }: Dependencies, { caller }: Request, reply: FastifyReply) {
  const found = await factors.store.factorsOf(caller.userId)
  return sendData(reply, { items: found.factors.map(displayFactor), recoveryCodesLeft: found.recoveryCodesLeft })
}

export const startTotp: Operation<Subject> = {
  id: 'addTotp',
  tag: 'sign-in',
  summary: 'Adds an authenticator app; it counts after its first code: confirmTotp',
  body: NewTotpBody,
  responses: { 201: 'TotpResponse' },
  refusals: ['CONFLICT'],
  handle: startApp,
}

async function startApp(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { label } = (request.body as NewTotpBody) ?? {}
  const user = await findEnabledUser(dependencies, request.caller)
  return sendData(reply.code(201), await addTotp(dependencies.factors, user, label))
}

export const endTotp: Operation<Subject> = {
  id: 'confirmTotp',
  tag: 'sign-in',
  summary: 'Confirms an authenticator app by a first code; with the first factor, recovery codes',
  body: TotpConfirmation,
  responses: { 200: 'FactorAddedResponse' },
  refusals: ['INVALID_CREDENTIALS', 'FACTOR_UNREADABLE', 'NOT_FOUND', 'CONFLICT', 'TOO_MANY_REQUESTS'],
  handle: confirmApp,
}

async function confirmApp(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { id, code } = request.body as TotpConfirmation
  const { userId } = request.caller
  const source = sourceOf(dependencies, request)
  const { factor, recoveryCodes } = await confirmTotp(dependencies.factors, userId, {
    id: id.toLowerCase(),
    code,
    source,
  })
  await renewOwnCookie(dependencies, { request, reply })
  return sendData(reply, { ...displayFactor(factor), ...(recoveryCodes && { recoveryCodes }) })
}

export const remove: Operation<Subject> = {
  id: 'removeFactor',
  tag: 'sign-in',
  summary: 'Removes a second factor; with the last one, the recovery codes end',
  responses: { 204: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  handle: removeOne,
}

async function removeOne(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const id = (request.params as { id: string }).id.toLowerCase()
  const source = sourceOf(dependencies, request)
  await removeFactor(dependencies.factors, request.caller.userId, { id, source })
  await renewOwnCookie(dependencies, { request, reply })
  return reply.code(204).send()
}

export const recoveryCodes: Operation<Subject> = {
  id: 'createRecoveryCodes',
  tag: 'sign-in',
  summary: 'New recovery codes, displayed once; those before end',
  responses: { 201: 'RecoveryCodesResponse' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  handle: createCodes,
}

async function createCodes(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const source = sourceOf(dependencies, request)
  const codes = await renewRecoveryCodes(dependencies.factors, request.caller.userId, source)
  await renewOwnCookie(dependencies, { request, reply })
  return sendData(reply.code(201), { recoveryCodes: codes })
}

export function displayFactor({ id, kind, label, confirmedAt, createdAt, lastUsedAt }: Factor) {
  const used = lastUsedAt === null ? null : iso(lastUsedAt)
  return { id, kind, label, confirmed: confirmedAt !== null, createdAt: iso(createdAt), lastUsedAt: used }
}
