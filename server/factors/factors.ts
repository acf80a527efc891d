// The second factors of a user: add and confirm one that makes codes, list, remove, and new recovery codes. Passkeys are added in
// passkeys/; how a factor is proved is in proofs.ts.
import { auditEntry, type Source } from '../audit/entry.ts'
import { CarillonError, conflict, wrongSecondFactor } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Guesses } from '../guessing/guesses.ts'
import type { Store } from '../store/store.ts'
import type { User } from '../users/users.store.ts'
import type { Factor } from './factors.store.ts'
import * as stored from './factors.store.ts'
import { newRecoveryCodes } from './recovery-codes.ts'
import { type NewTotp, newTotp, stepOfCode } from './totp.ts'

/** Each TOTP factor makes a guess as much more likely to be right. */
export const maxFactors = 10

/** What all files of this folder work with. */
export type FactorDependencies = {
  store: Store
  /** Seals the secrets of TOTP factors, so that a reader of the database cannot compute codes. */
  sealing: Sealing
  guesses: Guesses
  now: () => number
  /** The public URL, whose host an authenticator app displays. */
  publicUrl: () => string
}

/** Adds a factor that counts only after `confirmTotp`: a user whose app did not take the secret must not be locked out. Throws CONFLICT. */
export async function addTotp(
  { store, sealing, now, publicUrl }: FactorDependencies,
  user: User,
  label = 'Authenticator app',
): Promise<NewTotp & { id: string }> {
  const at = now()
  const id = newId(at)
  const account = user.username ?? user.externalId ?? user.id
  const totp = await newTotp({ issuer: new URL(publicUrl()).hostname, account })
  const sealedSecret = await sealing.seal('factors', JSON.stringify({ factorId: id, secret: totp.secret }))
  const factor = { id, kind: 'totp', label, sealedSecret, createdAt: at, confirmedAt: null } as const
  const outcome = await store.write(stored.addFactor, { userId: user.id, factor, maxFactors, recoveryCodeHashes: [] })
  if (outcome !== 'done') throw tooManyFactors()
  return { id, ...totp }
}

export function tooManyFactors(): CarillonError {
  return conflict(`A user has at most ${maxFactors} second factors`, 'Remove one first: DELETE /api/me/factors/:id.')
}

/** By a first code. `recoveryCodes` come with the first factor only. Throws NOT_FOUND, CONFLICT or INVALID_CREDENTIALS. */
export async function confirmTotp(
  dependencies: FactorDependencies,
  userId: string,
  { id, code, source }: { id: string; code: string; source: Source },
): Promise<{ factor: Factor; recoveryCodes?: string[] }> {
  const { store, now } = dependencies
  const factor = (await store.read(stored.factorsOf, userId)).factors.find(
    (one) => one.id === id && one.kind === 'totp',
  )
  if (factor === undefined) throw noSuchFactor()
  if (factor.confirmedAt !== null) throw confirmedAlready()
  const at = now()
  const step = await stepOfCode(await secretOf(dependencies, factor), code, at)
  if (step === undefined) throw wrongSecondFactor()
  const { codes, hashes } = newRecoveryCodes()
  const audit = [auditEntry(source, { event: 'factor-added', at, userId, detail: { factorId: id, kind: 'totp' } })]
  const change = { userId, factorId: id, step, at, recoveryCodeHashes: hashes, audit }
  const outcome = await store.write(stored.confirmFactor, change)
  if (outcome === 'absent') throw noSuchFactor()
  if (outcome === 'refused') throw confirmedAlready()
  const confirmed = { ...factor, confirmedAt: at, lastUsedAt: at }
  return outcome === 'first' ? { factor: confirmed, recoveryCodes: codes } : { factor: confirmed }
}

/** The secret of the factor as base32. Throws FACTOR_UNREADABLE if it was sealed with a secret that the service no longer has. */
export async function secretOf({ sealing }: Pick<FactorDependencies, 'sealing'>, factor: Factor): Promise<string> {
  const opened = await sealing.open('factors', factor.sealedSecret ?? '')
  const { factorId, secret } = JSON.parse(opened ?? '{}') as { factorId?: string; secret?: string }
  // A sealed secret that was copied into the row of another factor opens nothing.
  if (secret !== undefined && factorId === factor.id) return secret
  throw new CarillonError('FACTOR_UNREADABLE', 'This service can no longer check the codes of your authenticator app', {
    remedy:
      'Use a passkey or a recovery code, or ask the operator of this service to remove the app from your account.',
  })
}

/** Throws NOT_FOUND; CONFLICT if it is the last way to sign in. */
export async function removeFactor(
  { store, now }: FactorDependencies,
  userId: string,
  { id, source }: { id: string; source: Source },
): Promise<void> {
  const audit = [auditEntry(source, { event: 'factor-removed', at: now(), userId, detail: { factorId: id } })]
  const outcome = await store.write(stored.removeFactor, { userId, factorId: id, audit })
  if (outcome === 'absent') throw noSuchFactor()
  if (outcome === 'last')
    throw new CarillonError('CONFLICT', 'This passkey is the only way to sign in to this account', {
      remedy: 'First add another passkey, set a password, or link an account at a provider.',
    })
}

/** The codes before end. Throws CONFLICT without a factor. */
export async function renewRecoveryCodes(
  { store, now }: FactorDependencies,
  userId: string,
  source: Source,
): Promise<string[]> {
  const at = now()
  const { codes, hashes } = newRecoveryCodes()
  const audit = [auditEntry(source, { event: 'recovery-codes-created', at, userId })]
  const outcome = await store.write(stored.replaceRecoveryCodes, { userId, at, recoveryCodeHashes: hashes, audit })
  if (outcome === 'done') return codes
  throw conflict('There is no second factor to recover', 'Add one first.')
}

function noSuchFactor(): CarillonError {
  return new CarillonError('NOT_FOUND', 'You have no such factor')
}

function confirmedAlready(): CarillonError {
  return new CarillonError('CONFLICT', 'This factor is confirmed already')
}
