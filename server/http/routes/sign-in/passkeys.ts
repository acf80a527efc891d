// The routes of passkeys: a new one of the signed-in user, the options of every use, and a sign-in without a password. A passkey as a
// second factor is in second-factor.ts.
import type { FastifyReply } from 'fastify'
import {
  type Assertion,
  addPasskey,
  namedUser,
  offerCreation,
  offerUse,
  provePasskey,
  type Registration,
  usePasskey,
} from '../../../sign-in/factors/passkeys/passkeys.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { Dependencies } from '../../dependencies.ts'
import { NewPasskeyBody, PasskeyOptionsBody, PasskeySignInBody } from '../../openapi/passkey-schemas.ts'
import { renewOwnCookie } from '../../request/own-sign-in.ts'
import { relyingPartyFor } from '../../request/relying-party.ts'
import { type RequestSource, sourceOf } from '../../request/source.ts'
import { sendData, sendObject } from '../../response/send.ts'
import { displayFactor } from '../account/factors.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { finishSignIn, type Variant } from './finish-sign-in.ts'
import { findWaiting, passkeyLimits } from './second-factor.ts'
import { findEnabledUser } from './sign-in.ts'
import { refusalCode } from './sign-in-log.ts'

export const creationOptions: Operation<Subject> = {
  id: 'createPasskeyOptions',
  tag: 'sign-in',
  summary: 'What a browser needs to create a passkey: parseCreationOptionsFromJSON() reads it',
  responses: { 200: 'PasskeyCreationOptionsResponse' },
  refusals: ['UNPROCESSABLE'],
  handle: sendCreationOptions,
}

async function sendCreationOptions(
  dependencies: Dependencies,
  request: GuardedRequest<Subject>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const relyingParty = relyingPartyFor(dependencies, request)
  const user = await findEnabledUser(dependencies, request.caller)
  return sendData(reply, await offerCreation(dependencies.factors, user, relyingParty))
}

export const add: Operation<Subject> = {
  id: 'addPasskey',
  tag: 'sign-in',
  summary: 'Adds the passkey that the browser created; with the first factor, recovery codes',
  body: NewPasskeyBody,
  ...passkeyLimits,
  responses: { 201: 'FactorAddedResponse' },
  refusals: ['CONFLICT', 'UNPROCESSABLE', 'TOO_MANY_REQUESTS'],
  handle: addOne,
}

async function addOne(dependencies: Dependencies, request: GuardedRequest<Subject>, reply: FastifyReply) {
  const { response, label } = request.body as NewPasskeyBody
  const { userId } = request.caller
  const of = {
    userId,
    label,
    relyingParty: relyingPartyFor(dependencies, request),
    source: sourceOf(dependencies, request),
  }
  const { factor, recoveryCodes } = await addPasskey(dependencies.factors, response as Registration, of)
  await renewOwnCookie(dependencies, { request, reply })
  return sendData(reply.code(201), { ...displayFactor(factor), ...(recoveryCodes && { recoveryCodes }) })
}

export const requestOptions: Operation<null> = {
  id: 'requestPasskeyOptions',
  tag: 'sign-in',
  summary: 'What a browser needs to use a passkey, for every purpose: parseRequestOptionsFromJSON() reads it',
  body: PasskeyOptionsBody,
  responses: { 200: 'PasskeyRequestOptions' },
  refusals: ['UNAUTHORIZED', 'UNPROCESSABLE', 'UNAVAILABLE'],
  handle: sendRequestOptions,
}

/** Anyone may request it. It stores nothing, and it says something of a user only to a client that knows the password. */
async function sendRequestOptions(
  dependencies: Dependencies,
  request: GuardedRequest<null>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { challenge } = (request.body as PasskeyOptionsBody) ?? {}
  const relyingParty = relyingPartyFor(dependencies, request)
  const waiting = challenge === undefined ? undefined : await findWaiting(dependencies, challenge, request)
  return sendObject(reply, await offerUse(dependencies.factors, { relyingParty, userId: waiting?.user.id }))
}

export const login: Operation<null> = {
  id: 'signInWithPasskey',
  tag: 'sign-in',
  summary: 'Sign in with a passkey alone; the response is that of /login',
  body: PasskeySignInBody,
  ...passkeyLimits,
  responses: { 200: 'Login' },
  refusals: ['INVALID_CREDENTIALS', 'UNPROCESSABLE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  handle: logIn,
}

async function logIn(dependencies: Dependencies, request: GuardedRequest<null>, reply: FastifyReply) {
  const { variant = dependencies.variant, ...body } = request.body as PasskeySignInBody
  const response = body.response as Assertion
  const { factors } = dependencies
  const source = sourceOf(dependencies, request)
  try {
    const relyingParty = relyingPartyFor(dependencies, request)
    const proven = await provePasskey(factors, response, { relyingParty, address: source.address })
    await usePasskey(factors, proven, { source })
    const facts = { variant, method: 'passkey', source } as const
    return sendObject(reply, await finishSignIn(dependencies, proven.user, facts, { request, reply }))
  } catch (error) {
    await noteRefusal(dependencies, error, { source, variant, userId: namedUser(response) })
    throw error
  }
}

type Attempt = { source: RequestSource; variant: Variant; userId: string | undefined }

async function noteRefusal({ store, signInLog }: Dependencies, error: unknown, attempt: Attempt): Promise<void> {
  const { source, variant, userId = '' } = attempt
  const code = refusalCode(error)
  if (code === undefined) return
  // The failure itself is more important than the name of its user.
  const user = userId === '' ? undefined : await store.findUser(userId).catch(() => undefined)
  signInLog.refused(source, { name: userId, user }, { code, variant })
}
