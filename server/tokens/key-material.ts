// One signing key (Ed25519, RFC 8037). The secret seals it, so a stolen database signs nothing.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { type CarillonError, unavailable } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { Sealing, type Secrets } from '../basics/secrets.ts'
import { scheduleOf } from './key-schedule.ts'
import { type Claimed, type Claims, claimsOf } from './read-token.ts'
import type { NewSigningKey, SigningKey } from './signing-keys.store.ts'

export type PrivateKey = { kid: string; privateKey: KeyObject }

export async function makeSigningKey(
  sealing: Sealing,
  times: Pick<SigningKey, 'createdAt' | 'startsAt'>,
): Promise<NewSigningKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const publicJwk = publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint(publicJwk)
  // The command line would take it for an option.
  if (kid.startsWith('-')) return makeSigningKey(sealing, times)
  const sealedPrivateJwk = await sealing.seal(
    'signing-keys',
    JSON.stringify(privateKey.export({ format: 'jwk' })),
  )
  return { kid, publicJwk: JSON.stringify(publicJwk), sealedPrivateJwk, ...times }
}

export function openPublic({ kid, publicJwk }: SigningKey): {
  kid: string
  publicJwk: JWK
  publicKey: KeyObject
} {
  const jwk = JSON.parse(publicJwk) as JWK
  return { kid, publicJwk: jwk, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) }
}

/** Undefined if another secret sealed the key. */
export async function openPrivate(
  { kid, sealedPrivateJwk }: SigningKey,
  sealing: Sealing,
): Promise<(PrivateKey & { secret: keyof Secrets }) | undefined> {
  const opened = await sealing.openWith('signing-keys', sealedPrivateJwk)
  if (opened === undefined) return undefined
  const privateKey = createPrivateKey({ key: JSON.parse(opened.text), format: 'jwk' })
  return { kid, privateKey, secret: opened.secret }
}

/** The Sealing uses the secret that sealed the keys. Throws UNAVAILABLE if neither opens one. */
export async function sealingOf(secrets: Secrets, keys: readonly SigningKey[]): Promise<Sealing> {
  const sealing = new Sealing(secrets)
  const sealed = keys.filter(({ retiredAt }) => retiredAt === null)
  const opened = await Promise.all(sealed.map((key) => openPrivate(key, sealing)))
  if (opened.includes(undefined)) throw sealedWithAnother()
  sealing.use(opened.some((key) => key?.secret === 'previous') ? 'previous' : 'current')
  return sealing
}

export function sealedWithAnother(what = 'The signing keys in the store were'): CarillonError {
  return unavailable(
    `${what} sealed with another secret`,
    'Set CARILLON_SECRET to that one (on SQLite it is kept beside the database, in the file that ends in .secret), or ' +
      'CARILLON_SECRET_PREVIOUS while the secret is being changed: docs/operations/keys-and-secrets.md, "Change the secret".',
  )
}

/** WebCrypto's threads, which argon2 needs, would cost twice the processor time. */
export function signToken({ kid, privateKey }: PrivateKey, claims: Claims): string {
  const signed = `${segmentOf({ alg: 'EdDSA', typ: 'at+jwt', kid })}.${segmentOf(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}

function segmentOf(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

type Making = {
  signingKeys: SigningKey[]
  secrets: Secrets
  issuer: string
  now: () => number
  lifetimeMs: number
}

/** Throws UNAVAILABLE if the secret does not open the keys. */
export async function makeToken(
  making: Making,
  claimed: Omit<Claimed, 'signInId' | 'signedInAt'>,
): Promise<string> {
  const { signingKeys, secrets, issuer, now, lifetimeMs } = making
  const at = now()
  const signing = scheduleOf(signingKeys, at).find(({ state }) => state === 'signing')
  const current = signing && (await openPrivate(signing.key, new Sealing(secrets)))
  if (current === undefined) throw sealedWithAnother()
  const signIn = { ...claimed, signInId: newId(at), signedInAt: at }
  return signToken(current, claimsOf(signIn, { issuer, at, endsAt: at + lifetimeMs }))
}

/** With it, `carillon doctor` opens a stream for a minute. It names no user, and opens no inbox. */
export function probeToken(making: Omit<Making, 'lifetimeMs'>): Promise<string> {
  return makeToken(
    { ...making, lifetimeMs: 60_000 },
    { userId: newId(making.now()), username: 'carillon-doctor', generation: 0 },
  )
}
