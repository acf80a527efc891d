import { auditEntry, recorded, sourceOf } from '../audit/entry.ts'
import { conflict, linkInvalid, notFound, wrongSecondFactor } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { forUser } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { changeCredential, sendProof } from '../sessions/own-sign-in.ts'
import { TokenResponse } from '../sessions/sessions.schemas.ts'
import { findEnabledUser } from '../users/find-user.ts'
import * as shapes from './factors.schemas.ts'
import * as stored from './factors.store.ts'
import {
  displayAdded,
  displayFactor,
  type FactorNeeds,
  linkHashFor,
  maxFactors,
  newRecoveryCodes,
  newTotp,
  secretOf,
  stepOfCode,
  tooManyFactors,
} from './factors.ts'
import { knownPasskeys } from './passkeys/passkeys.ts'

export const list = forUser({
  summary: 'The second factors of the signed-in user, without their secrets',
  responses: { 200: shapes.FactorListResponse },
  async handle(needs: FactorNeeds, request, reply) {
    const user = await findEnabledUser(needs, request.caller)
    const { factors, recoveryCodesLeft } = await needs.store.read(stored.factorsOf, user.id)
    const passkeys = knownPasskeys(needs, request, { user, factors })
    return sendData(reply, { items: factors.map(displayFactor), recoveryCodesLeft, passkeys })
  },
})

export const startTotp = forUser({
  summary: 'Adds an authenticator app; it counts after its first code: confirmTotp',
  body: shapes.NewTotpBody,
  responses: { 201: shapes.TotpResponse },
  refusals: ['CONFLICT'],
  /** The app may not have taken the secret, so its user is not locked out before a first code. */
  async handle(dependencies: FactorNeeds, request, reply) {
    const { label = 'Authenticator app' } = request.body ?? {}
    const user = await findEnabledUser(dependencies, request.caller)
    const { store, sealing, users, site } = dependencies
    const at = users.now()
    const id = newId(at)
    const account = user.username ?? user.externalId ?? user.id
    const totp = await newTotp({ issuer: new URL(site.publicUrl()).hostname, account })
    const sealedSecret = await sealing.seal(
      'factors',
      JSON.stringify({ factorId: id, secret: totp.secret }),
    )
    const factor = {
      id,
      kind: 'totp',
      label,
      sealedSecret,
      createdAt: at,
      confirmedAt: null,
    } as const
    const outcome = await store.write(stored.addFactor, {
      userId: user.id,
      factor,
      maxFactors,
      recoveryCodeHashes: [],
    })
    if (outcome !== 'done') throw tooManyFactors()
    return sendData(reply.code(201), { id, ...totp })
  },
})

export const endTotp = forUser({
  summary: 'Confirms an authenticator app by a first code; with the first factor, recovery codes',
  body: shapes.TotpConfirmation,
  responses: { 200: shapes.FactorAddedResponse },
  refusals: [
    'INVALID_CREDENTIALS',
    'FACTOR_UNREADABLE',
    'NOT_FOUND',
    'CONFLICT',
    'LINK_INVALID',
    'TOO_MANY_REQUESTS',
  ],
  async handle(dependencies: FactorNeeds, request, reply) {
    const linkHash = linkHashFor(request.caller, request.body.link)
    const factorId = request.body.id.toLowerCase()
    const { userId } = request.caller
    const { store, users } = dependencies
    const source = sourceOf(dependencies, request)
    const { factors } = await store.read(stored.factorsOf, userId)
    const factor = factors.find(({ id, kind }) => id === factorId && kind === 'totp')
    if (factor === undefined) throw noSuchFactor()
    if (factor.confirmedAt !== null) throw confirmedAlready()
    const at = users.now()
    const step = await stepOfCode(await secretOf(dependencies, factor), request.body.code, at)
    if (step === undefined) throw wrongSecondFactor()
    const { codes, recoveryCodeHashes } = newRecoveryCodes()
    const audit = [
      auditEntry(source, { event: 'factor-added', at, userId, detail: { factorId, kind: 'totp' } }),
    ]
    const change = { userId, factorId, step, at, recoveryCodeHashes, linkHash, audit }
    const exchange = { request, reply }
    const { outcome, proof } = await changeCredential(
      dependencies,
      exchange,
      stored.confirmFactor,
      change,
      'mfa',
    )
    if (outcome === 'absent') throw noSuchFactor()
    if (outcome === 'refused') throw confirmedAlready()
    if (outcome === 'no-link') throw linkInvalid()
    const added = displayAdded({ ...factor, confirmedAt: at, lastUsedAt: at }, outcome, codes)
    return sendData(reply, { ...added, ...proof })
  },
})

export const remove = forUser({
  summary:
    'Removes a second factor; with the last one, the recovery codes end. A new cookie for a session, 200 and a new token for a token',
  responses: { 200: TokenResponse, 204: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const factorId = request.params.id.toLowerCase()
    const { userId } = request.caller
    const users = { ...dependencies.users, source: sourceOf(dependencies, request) }
    const entry = recorded(users, { event: 'factor-removed', userId, detail: { factorId } })
    const { rule } = dependencies.policy
    const demanded = rule === 'optional' ? undefined : rule
    const change = { userId, factorId, demanded, ...entry }
    const { outcome, proof } = await changeCredential(
      dependencies,
      { request, reply },
      stored.removeFactor,
      change,
    )
    if (outcome === 'absent') throw noSuchFactor()
    const remedy = 'First add another passkey, set a password, or link an account at a provider.'
    if (outcome === 'last')
      throw conflict('This passkey is the only way to sign in to this account', remedy)
    if (outcome === 'demanded')
      throw conflict(
        'This is the last second factor, and the service demands one',
        'First add another one.',
      )
    return sendProof(reply, proof)
  },
})

export const recoveryCodes = forUser({
  summary: 'New recovery codes, displayed once; those before end',
  responses: { 201: shapes.RecoveryCodesResponse },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { userId } = request.caller
    const at = dependencies.users.now()
    const { codes, recoveryCodeHashes } = newRecoveryCodes()
    const audit = [
      auditEntry(sourceOf(dependencies, request), { event: 'recovery-codes-created', at, userId }),
    ]
    const change = { userId, at, recoveryCodeHashes, audit }
    const { replaceRecoveryCodes } = stored
    const { outcome, proof } = await changeCredential(
      dependencies,
      { request, reply },
      replaceRecoveryCodes,
      change,
    )
    if (outcome !== 'done') throw conflict('There is no second factor to recover', 'Add one first.')
    return sendData(reply.code(201), { recoveryCodes: codes, ...proof })
  },
})

const noSuchFactor = () => notFound('You have no such factor')
const confirmedAlready = () => conflict('This factor is confirmed already')
