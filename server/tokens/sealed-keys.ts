import type { Sealing } from '../basics/secrets.ts'
import type { Store } from '../store/store.ts'
import { sealedWithAnother } from './key-material.ts'
import { addSealedKey, type KeyPurpose, sealedKey } from './sealed-keys.store.ts'

const uses: Readonly<Record<KeyPurpose, string>> = {
  'erased-ids': 'that recognises erased users',
  push: 'for push services',
}

type NewKey = { purpose: KeyPurpose; make: () => string | Promise<string> }

/** If another node is faster at the first start, its key stays. */
export async function makeSealedKey(
  store: Store,
  sealing: Sealing,
  { purpose, make }: NewKey,
): Promise<void> {
  if ((await store.read(sealedKey, purpose)) !== undefined) return
  await store.write(addSealedKey, { purpose, sealed: await sealing.seal(purpose, await make()) })
}

/** Undefined before the first start. Throws UNAVAILABLE if the secret does not fit. */
export async function openSealedKey(
  store: Store,
  sealing: Sealing,
  purpose: KeyPurpose,
): Promise<string | undefined> {
  const sealed = await store.read(sealedKey, purpose)
  if (sealed === undefined) return undefined
  const key = await sealing.open(purpose, sealed)
  if (key === undefined) throw sealedWithAnother(`The key ${uses[purpose]} was`)
  return key
}
