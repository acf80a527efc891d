// Opens the key by which writes recognise the external ids of erased users.
import { randomText, type Sealing } from '../../basics/secrets.ts'
import type { Store } from '../../store/store.ts'
import { makeSealedKey, openSealedKey } from '../../tokens/sealed-keys.ts'
import { namespaceOf } from '../users.store.ts'
import type { Recognition } from './erased-ids.store.ts'

/** Undefined if the setting remembers none. Throws UNAVAILABLE if the secret does not fit. */
export type Recogniser = () => Promise<Recognition | undefined>

type Issuer = { application: string; issuer: string }
type Place = {
  store: Store
  aged: () => Promise<number>
  config: { erasedForMs: number; issuers: readonly Issuer[] }
}

export function makeErasedKey(store: Store, sealing: Sealing): Promise<void> {
  return makeSealedKey(store, sealing, { purpose: 'erased-ids', make: () => randomText() })
}

/** A database keeps its key, also in its backups. */
export function recogniserOf(
  { store, aged, config }: Place,
  sealing: () => Promise<Sealing>,
): Recogniser {
  let key: string | undefined
  const issuers = config.issuers.map((one) => ({
    plain: namespaceOf({ application: one.application }),
    own: namespaceOf(one),
  }))
  return async () => {
    if (config.erasedForMs === 0) return undefined
    key ??= await openSealedKey(store, await sealing(), 'erased-ids')
    return key === undefined
      ? undefined
      : { key, since: (await aged()) - config.erasedForMs, issuers }
  }
}
