// What the files of this folder work with.
import type { Guesses } from '../guessing/guesses.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { Store } from '../store/store.ts'

export type FactorDependencies = {
  store: Store
  /** Seals the secrets of TOTP factors, so that a reader of the database cannot compute codes. */
  sealing: Sealing
  guesses: Guesses
  now: () => number
  /** The public URL, whose host an authenticator app displays. */
  publicUrl: () => string
}
