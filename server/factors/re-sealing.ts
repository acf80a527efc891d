// `carillon secret rotate` (decision 0044). It opens everything first, so a wrong secret changes
// nothing. Signing keys come first: a node that has read them seals with the current secret. A
// second pass finds what was sealed in between.
import { recorded } from '../audit/entry.ts'
import { type CarillonError, conflict } from '../basics/errors.ts'
import { type Purpose, Sealing, type Secrets } from '../basics/secrets.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Read, Write } from '../store/statements.ts'
import type { Store } from '../store/store.ts'
import { keyPurposes, resealKeys, sealedKey } from '../tokens/sealed-keys.store.ts'
import { type Resealed, resealSigningKeys, signingKeys } from '../tokens/signing-keys.store.ts'
import type { UserDependencies } from '../users/find-user.ts'
import {
  factorsSealedOtherwise,
  removeFactor,
  resealFactors,
  type SealedFactor,
} from './factors.store.ts'

export type Counts = { signingKeys: number; factors: number }
/** A higher module has these sealed texts; they are not counted. */
export type OtherTexts = {
  purpose: Purpose
  name: string
  read: () => Read<readonly { id: string; from: string }[]>
  reseal: (texts: readonly Resealed[]) => Write<void>
}
type Options = {
  audit: (counts: Counts) => AuditEntry
  pause: () => Promise<unknown>
  others?: readonly OtherTexts[]
}

/** Throws CONFLICT, and changes nothing, if neither secret opens a text. It can be repeated. */
export async function sealAgain(
  store: Store,
  secrets: Secrets,
  { audit, pause, others = [] }: Options,
): Promise<Counts> {
  const sealing = new Sealing(secrets)
  const found = await countSealedOtherwise(store, sealing, others)
  const texts = [...sealedKeys, ...others]
  await resealOthers(store, sealing, texts)
  if (found.signingKeys + found.factors === 0) return found
  const done = { signingKeys: 0, factors: 0 }
  await pass(store, sealing, { done, entries: [audit(found)] })
  // After a second every node has read the signing keys.
  await pause()
  await pass(store, sealing, { done, entries: [] })
  await resealOthers(store, sealing, texts)
  return done
}

export async function countSealedOtherwise(
  store: Store,
  sealing: Sealing,
  others: readonly OtherTexts[] = [],
): Promise<Counts> {
  const counts = {
    signingKeys: (await sealedAnew(store, sealing, ofSigningKeys)).length,
    factors: 0,
  }
  for (const texts of [...sealedKeys, ...others]) await sealedAnew(store, sealing, texts)
  for await (const batch of factorsOf(store, sealing)) {
    for (const factor of batch) await textOf(factor, sealing)
    counts.factors += batch.length
  }
  return counts
}

type Pass = { done: Counts; entries: readonly AuditEntry[] }

/** The first change records the entries. */
async function pass(store: Store, sealing: Sealing, { done, entries }: Pass): Promise<void> {
  const keys = await sealedAnew(store, sealing, ofSigningKeys)
  done.signingKeys += await store.write(resealSigningKeys, { keys, audit: entries })
  for await (const batch of factorsOf(store, sealing)) {
    const sealAnew = async (factor: SealedFactor) => {
      const to = await sealing.seal('factors', await textOf(factor, sealing))
      return { userId: factor.userId, id: factor.id, from: factor.sealedSecret, to }
    }
    const factors = await Promise.all(batch.map(sealAnew))
    const isFirst = done.signingKeys + done.factors === 0
    done.factors += await store.write(resealFactors, { factors, audit: isFirst ? entries : [] })
  }
}

const ofSigningKeys: Omit<OtherTexts, 'reseal'> = {
  purpose: 'signing-keys',
  name: 'signing key',
  *read() {
    const keys = (yield* signingKeys()).filter(({ retiredAt }) => retiredAt === null)
    return keys.map(({ kid, sealedPrivateJwk }) => ({ id: kid, from: sealedPrivateJwk }))
  },
}

const sealedKeys = keyPurposes.map(
  (purpose): OtherTexts => ({
    purpose,
    name: 'the key for',
    *read() {
      const from = yield* sealedKey(purpose)
      return from === undefined ? [] : [{ id: purpose, from }]
    },
    reseal: resealKeys,
  }),
)

async function sealedAnew(
  store: Store,
  sealing: Sealing,
  { purpose, name, read }: Omit<OtherTexts, 'reseal'>,
): Promise<Resealed[]> {
  const sealed: Resealed[] = []
  for (const { id, from } of await store.read(read)) {
    const found = await sealing.openWith(purpose, from)
    if (found === undefined) throw doesNotFit(`${name} ${id}`)
    if (found.secret === 'previous')
      sealed.push({ id, from, to: await sealing.seal(purpose, found.text) })
  }
  return sealed
}

async function resealOthers(
  store: Store,
  sealing: Sealing,
  others: readonly OtherTexts[],
): Promise<void> {
  for (const texts of others) {
    const sealed = await sealedAnew(store, sealing, texts)
    if (sealed.length > 0) await store.write(texts.reseal, sealed)
  }
}

async function* factorsOf(store: Store, sealing: Sealing): AsyncGenerator<SealedFactor[]> {
  const prefix = sealing.prefix('factors')
  let after = { userId: '', id: '' }
  for (;;) {
    const batch = await store.read(factorsSealedOtherwise, { prefix, after, limit: 200 })
    const last = batch.at(-1)
    if (last === undefined) return
    yield batch
    after = last
  }
}

async function textOf(
  { userId, id, sealedSecret }: SealedFactor,
  sealing: Sealing,
): Promise<string> {
  const text = await sealing.open('factors', sealedSecret)
  if (text === undefined) throw doesNotFit(`the factor ${id} of the user ${userId}`)
  return text
}

function doesNotFit(what: string): CarillonError {
  const both =
    'CARILLON_SECRET_PREVIOUS to the secret that the service had before, and CARILLON_SECRET to the new one'
  const remedy = `Set ${both}: docs/operations/keys-and-secrets.md, "Change the secret".`
  return conflict(`Neither secret opens ${what}, and nothing was changed`, remedy)
}

// An operator removes what a lost secret had sealed.

/** Throws CONFLICT if the secret opens no signing key: then it is wrong, not lost. */
export async function unreadableFactors(store: Store, sealing: Sealing): Promise<SealedFactor[]> {
  const keys = (await store.read(signingKeys)).filter(({ retiredAt }) => retiredAt === null)
  const opened = await Promise.all(
    keys.map((key) => sealing.open('signing-keys', key.sealedPrivateJwk)),
  )
  const remedy =
    'Set the right one. If it is lost, see "A secret that is lost" in docs/operations/keys-and-secrets.md.'
  if (opened.length === 0 || opened.includes(undefined))
    throw conflict(
      'The secret that is set does not open the signing keys, so it may be a wrong one',
      remedy,
    )
  const found: SealedFactor[] = []
  for await (const batch of factorsOf(store, sealing))
    for (const factor of batch)
      if ((await sealing.open('factors', factor.sealedSecret)) === undefined) found.push(factor)
  return found
}

/** Other factors and sessions stay, because no other person has any of the user's proofs. */
export async function removeUnreadable(
  users: UserDependencies,
  factors: readonly SealedFactor[],
): Promise<void> {
  for (const { userId, id: factorId } of factors) {
    const entry = recorded(users, { event: 'factor-removed', userId, detail: { factorId } })
    await users.store.write(removeFactor, { userId, factorId, ...entry })
  }
}
