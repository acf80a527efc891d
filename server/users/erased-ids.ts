// Opens the key by which writes recognise the external ids of erased users (erased-ids.store.ts).
import { randomBytes } from 'node:crypto'
import type { Sealing } from '../basics/secrets.ts'
import type { Store } from '../store/store.ts'
import { sealedWithAnother } from '../tokens/key-material.ts'
import { addErasedKey, type Recognition, sealedErasedKey } from './erased-ids.store.ts'
import { namespaceOf } from './users.store.ts'

/** Undefined if the setting says that no erased id is remembered, or before the first start. Throws UNAVAILABLE if the secret does not fit. */
export type Recogniser = () => Promise<Recognition | undefined>

type Issuer = { application: string; issuer: string }
/** `aged`: the time by which something is too old (start/removal-clock.ts). */
type Place = { store: Store; aged: () => Promise<number>; config: { erasedForMs: number; issuers: readonly Issuer[] } }

/** Makes the key at the first start. If another node is faster, its key stays. */
export async function makeErasedKey(store: Store, sealing: Sealing): Promise<void> {
  await store.write(addErasedKey, await sealing.seal('erased-ids', randomBytes(32).toString('base64url')))
}

/** It opens the key once: a database keeps its key, also in its backups. */
export function recogniserOf({ store, aged, config }: Place, sealing: () => Promise<Sealing>): Recogniser {
  let key: string | undefined
  const issuers = config.issuers.map((one) => ({
    plain: namespaceOf({ application: one.application }),
    own: namespaceOf(one),
  }))
  return async () => {
    if (config.erasedForMs === 0) return undefined
    key ??= await openErasedKey(store, sealing)
    return key === undefined ? undefined : { key, since: (await aged()) - config.erasedForMs, issuers }
  }
}

async function openErasedKey(store: Store, sealing: () => Promise<Sealing>): Promise<string | undefined> {
  const sealed = await store.read(sealedErasedKey)
  if (sealed === undefined) return undefined
  const key = await (await sealing()).open('erased-ids', sealed)
  if (key === undefined) throw sealedWithAnother('The key that recognises erased users was')
  return key
}
