// The routes of passkeys: a new one of the signed-in user, the options of every use, and a sign-in without a password. A passkey as a
// second factor is in second-factor.ts.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { wrongSecondFactor } from '../../errors.ts'
import { findChallenge } from '../../sign-in/factors/challenges.ts'
import {
  type Assertion,
  namedUser,
  offerCreation,
  offerUse,
  provePasskey,
  usePasskey,
} from '../../sign-in/factors/passkeys/passkeys.ts'
import { type RelyingParty, relyingPartyOf } from '../../sign-in/factors/passkeys/relying-party.ts'
import type { Subject } from '../../sign-in/subject.ts'
import type { Dependencies } from '../dependencies.ts'
import { PasskeyOptionsBody, PasskeySignInBody } from '../openapi/passkey-schemas.ts'
import { sendData, sendObject } from '../response/send.ts'
import { finishSignIn, type RequestSource, sourceOf, type Variant } from './finish-sign-in.ts'
import type { GuardedRequest, Operation } from './operation.ts'
import { findEnabledUser } from './sign-in.ts'
import { refusalCode } from './sign-in-log.ts'

/** What browsers add to a response has 20 keys; with an RSA key it has 3 KB. */
export const passkeyLimits = { bodyLimit: 16 * 1024, maxFields: 40 }

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
  const relyingParty = partyOf(dependencies, request)
  const user = await findEnabledUser(dependencies, request.caller)
  return sendData(reply, await offerCreation(dependencies.factors, user, relyingParty))
}

export const requestOptions: Operation<null> = {
  id: 'requestPasskeyOptions',
  tag: 'sign-in',
  summary: 'What a browser needs to use a passkey, for every purpose: parseRequestOptionsFromJSON() reads it',
  body: PasskeyOptionsBody,
  responses: { 200: 'PasskeyRequestOptions' },
  refusals: ['INVALID_CREDENTIALS', 'UNPROCESSABLE', 'UNAVAILABLE'],
  handle: sendRequestOptions,
}

/** Anyone may request it. It stores nothing, and it says something of a user only to a client that knows the password. */
async function sendRequestOptions(
  dependencies: Dependencies,
  request: GuardedRequest<null>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { challenge } = (request.body as PasskeyOptionsBody) ?? {}
  const relyingParty = partyOf(dependencies, request)
  const userId = challenge === undefined ? undefined : await userOfChallenge(dependencies, challenge)
  return sendObject(reply, await offerUse(dependencies.factors, { relyingParty, userId }))
}

async function userOfChallenge({ factors }: Dependencies, challenge: string): Promise<string> {
  const found = await findChallenge(factors, challenge, 'second-factor')
  if (found === undefined) throw wrongSecondFactor()
  return found.key.userId
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
    const relyingParty = partyOf(dependencies, request)
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

export function partyOf({ publicUrl, allowedOrigins }: Dependencies, { headers }: FastifyRequest): RelyingParty {
  return relyingPartyOf({ publicUrl: publicUrl(), host: headers.host, allowedOrigins })
}
