// The access token with which `carillon doctor` opens a live stream, if it has the signing keys and their secret. The token
// names a user who does not exist, so it opens no user's inbox. It lives for a minute and cannot be renewed.
import { SignJWT } from 'jose'
import { newId } from '../../ids.ts'
import type { SigningKey } from '../../store/store.ts'
import { SigningKeys } from './signing-keys.ts'

const lifetimeMs = 60_000

export type Probe = {
  /** From the store, the newest last. */
  signingKeys: readonly SigningKey[]
  secret: string
  /** The service's public URL: `iss` and `aud`. */
  issuer: string
  /** How long after a sign-in the service renews tokens, in milliseconds. */
  chainMs: number
  now: () => number
}

/** Throws UNAVAILABLE if the secret does not open the keys. */
export async function probeToken({ signingKeys, secret, issuer, chainMs, now }: Probe): Promise<string> {
  const rows = [...signingKeys]
  const store = { signingKeys: async () => rows, ensureSigningKey: async () => rows }
  const { kid, privateKey } = (await SigningKeys.open({ store, secret, now })).current
  const at = now()
  // The chain then ends when the token expires, so that the service never renews it.
  const signedInAt = at + lifetimeMs - Math.max(chainMs, lifetimeMs)
  return await new SignJWT({
    preferred_username: 'carillon-doctor',
    sid: newId(signedInAt),
    auth_time: Math.floor(signedInAt / 1000),
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(newId(at))
    .setIssuedAt(Math.floor(at / 1000))
    .setExpirationTime(Math.floor((at + lifetimeMs) / 1000))
    .setJti(newId(at))
    .sign(privateKey)
}
