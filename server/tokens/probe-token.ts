// The token with which `carillon doctor` opens a live stream. It names a user who does not exist, so it opens no inbox.
import { newId } from '../basics/ids.ts'
import { Sealing, type Secrets } from '../basics/secrets.ts'
import { openPrivate, sealedWithAnother, signToken } from './key-material.ts'
import { scheduleOf } from './key-schedule.ts'
import { claimsOf } from './read-token.ts'
import type { SigningKey } from './signing-keys.store.ts'

const lifetimeMs = 60_000

export type Probe = {
  signingKeys: SigningKey[]
  secrets: Secrets
  /** The service's public URL: `iss` and `aud`. */
  issuer: string
  now: () => number
}

/** Throws UNAVAILABLE if the secret does not open the keys. */
export async function probeToken({ signingKeys, secrets, issuer, now }: Probe): Promise<string> {
  const at = now()
  const signing = scheduleOf(signingKeys, at).find(({ state }) => state === 'signing')
  const current = signing && (await openPrivate(signing.key, new Sealing(secrets)))
  if (current === undefined) throw sealedWithAnother()
  const signIn = { userId: newId(at), signInId: newId(at), signedInAt: at, username: 'carillon-doctor', generation: 0 }
  return signToken(current, claimsOf(signIn, { issuer, at, endsAt: at + lifetimeMs }))
}
