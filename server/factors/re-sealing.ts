// `carillon secret rotate`: seals again, with the current secret, what the previous one had sealed (decision 0044). Everything is
// opened first, so that a secret that does not fit changes nothing. The signing keys come before everything else: when a node reads
// them, it seals with the current secret from then on. What a node sealed with the previous one in between is found by a second pass.
import { recorded } from '../audit/entry.ts'
import { type CarillonError, conflict } from '../basics/errors.ts'
import { Sealing, type Secrets } from '../basics/secrets.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { type Resealed, resealSigningKeys, signingKeys } from '../tokens/signing-keys.store.ts'
import { resealErasedKey, sealedErasedKey } from '../users/erased-ids.store.ts'
import type { UserDependencies } from '../users/users.ts'
import { factorsSealedOtherwise, removeFactor, resealFactors, type SealedFactor } from './factors.store.ts'

export type Counts = { signingKeys: number; factors: number }
type Options = { audit: (counts: Counts) => AuditEntry; pause: () => Promise<unknown> }

/** Throws CONFLICT, and changes nothing, if neither secret opens one of the sealed texts. Can be repeated after an interruption. */
export async function sealAgain(store: Store, secrets: Secrets, { audit, pause }: Options): Promise<Counts> {
  const sealing = new Sealing(secrets)
  const found = await countSealedOtherwise(store, sealing)
  const erasedKey = await openErasedKey(store, sealing)
  if (erasedKey !== undefined) await store.write(resealErasedKey, erasedKey)
  if (found.signingKeys + found.factors === 0) return found
  const done = { signingKeys: 0, factors: 0 }
  await pass(store, sealing, { done, entries: [audit(found)] })
  // Every node has read the signing keys after a second, and what it sealed before that is in the store.
  await pause()
  await pass(store, sealing, { done, entries: [] })
  return done
}

/** How much is not sealed with the current secret. Throws CONFLICT if neither secret opens it. */
export async function countSealedOtherwise(store: Store, sealing: Sealing): Promise<Counts> {
  const counts = { signingKeys: (await openKeys(store, sealing)).length, factors: 0 }
  await openErasedKey(store, sealing)
  for await (const batch of factorsOf(store, sealing)) {
    for (const factor of batch) await textOf(factor, sealing)
    counts.factors += batch.length
  }
  return counts
}

type Pass = { done: Counts; entries: readonly AuditEntry[] }

/** Adds to `done`. The entries are recorded with the first change. */
async function pass(store: Store, sealing: Sealing, { done, entries }: Pass): Promise<void> {
  const keys = await openKeys(store, sealing)
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

/** The signing keys that the previous secret sealed, with what replaces them. */
async function openKeys(store: Store, sealing: Sealing): Promise<Resealed[]> {
  const sealed: Resealed[] = []
  for (const { kid, sealedPrivateJwk, retiredAt } of await store.read(signingKeys)) {
    if (retiredAt !== null) continue
    const opened = await sealing.openWith('signing-keys', sealedPrivateJwk)
    if (opened === undefined) throw doesNotFit(`signing key ${kid}`)
    if (opened.secret === 'current') continue
    sealed.push({ kid, from: sealedPrivateJwk, to: await sealing.seal('signing-keys', opened.text) })
  }
  return sealed
}

/** The key that recognises erased users, with what replaces it; undefined before the first start. It is not counted. */
async function openErasedKey(store: Store, sealing: Sealing): Promise<Omit<Resealed, 'kid'> | undefined> {
  const from = await store.read(sealedErasedKey)
  if (from === undefined) return undefined
  const text = await sealing.open('erased-ids', from)
  if (text === undefined) throw doesNotFit('the key that recognises erased users')
  return { from, to: await sealing.seal('erased-ids', text) }
}

/** Those that the current secret did not seal. */
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

async function textOf({ userId, id, sealedSecret }: SealedFactor, sealing: Sealing): Promise<string> {
  const text = await sealing.open('factors', sealedSecret)
  if (text === undefined) throw doesNotFit(`the factor ${id} of the user ${userId}`)
  return text
}

function doesNotFit(what: string): CarillonError {
  const both = 'CARILLON_SECRET_PREVIOUS to the secret that the service had before, and CARILLON_SECRET to the new one'
  const remedy = `Set ${both}: docs/operations/keys-and-secrets.md, "Change the secret".`
  return conflict(`Neither secret opens ${what}, and nothing was changed`, remedy)
}

// A secret that is lost: what it had sealed is of no use any more, and an operator removes it.

/** The factors that no secret of the service opens. Throws CONFLICT if it opens no signing key: then it is the wrong one, and not lost. */
export async function unreadableFactors(store: Store, sealing: Sealing): Promise<SealedFactor[]> {
  const keys = (await store.read(signingKeys)).filter(({ retiredAt }) => retiredAt === null)
  const opened = await Promise.all(keys.map((key) => sealing.open('signing-keys', key.sealedPrivateJwk)))
  const remedy = 'Set the right one. If it is lost, see "A secret that is lost" in docs/operations/keys-and-secrets.md.'
  if (opened.length === 0 || opened.includes(undefined))
    throw conflict('The secret that is set does not open the signing keys, so it may be a wrong one', remedy)
  const found: SealedFactor[] = []
  for await (const batch of factorsOf(store, sealing))
    for (const factor of batch)
      if ((await sealing.open('factors', factor.sealedSecret)) === undefined) found.push(factor)
  return found
}

/** Other factors stay, and so do sessions: nothing of the user is in other hands. With the last factor, the recovery codes end. */
export async function removeUnreadable(users: UserDependencies, factors: readonly SealedFactor[]): Promise<void> {
  for (const { userId, id: factorId } of factors) {
    const entry = recorded(users, { event: 'factor-removed', userId, detail: { factorId } })
    await users.store.write(removeFactor, { userId, factorId, ...entry })
  }
}
