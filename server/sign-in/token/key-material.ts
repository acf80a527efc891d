// One signing key: how it is made and sealed, how it is opened, and how it signs. Ed25519 (RFC 8037); stored with the private part
// encrypted by the service's secret, so that a stolen database cannot sign tokens.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { CarillonError } from '../../errors.ts'
import type { NewSigningKey, SigningKey } from '../../store/store.ts'
import { Sealing, type Secrets } from '../sealing.ts'
import type { Claims } from './read-token.ts'

/** The same key twice: for WebCrypto and for node:crypto. */
export type PrivateKey = { kid: string; privateKey: CryptoKey; keyObject: KeyObject }
export type PublicKey = { kid: string; publicJwk: JWK; publicKey: KeyObject }

export async function makeSigningKey(
  sealing: Sealing,
  times: Pick<SigningKey, 'createdAt' | 'startsAt'>,
): Promise<NewSigningKey> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  // The command line would take it for an option.
  if (kid.startsWith('-')) return makeSigningKey(sealing, times)
  const sealedPrivateJwk = await sealing.seal('signing-keys', JSON.stringify(await exportJWK(privateKey)))
  return { kid, publicJwk: JSON.stringify(publicJwk), sealedPrivateJwk, ...times }
}

export function openPublic({ kid, publicJwk }: SigningKey): PublicKey {
  const jwk = JSON.parse(publicJwk) as JWK
  return { kid, publicJwk: jwk, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) }
}

/** Undefined if the key was sealed with another secret. `secret`: which one had sealed it. */
export async function openPrivate(
  { kid, sealedPrivateJwk }: SigningKey,
  sealing: Sealing,
): Promise<(PrivateKey & { secret: keyof Secrets }) | undefined> {
  const opened = await sealing.openWith('signing-keys', sealedPrivateJwk)
  if (opened === undefined) return undefined
  const jwk = JSON.parse(opened.text) as JWK
  const privateKey = (await importJWK(jwk, 'EdDSA')) as CryptoKey
  return { kid, privateKey, keyObject: createPrivateKey({ key: jwk, format: 'jwk' }), secret: opened.secret }
}

/** The secrets, of which the one that sealed the keys is in use. Throws UNAVAILABLE if neither opens one of them. */
export async function sealingOf(secrets: Secrets, keys: readonly SigningKey[]): Promise<Sealing> {
  const sealing = new Sealing(secrets)
  const sealed = keys.filter(({ retiredAt }) => retiredAt === null)
  const opened = await Promise.all(sealed.map((key) => openPrivate(key, sealing)))
  if (opened.includes(undefined)) throw sealedWithAnother()
  sealing.use(opened.some((key) => key?.secret === 'previous') ? 'previous' : 'current')
  return sealing
}

export function sealedWithAnother(): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The signing keys in the store were sealed with another secret', {
    remedy:
      'Set CARILLON_SECRET to that one (on SQLite it is kept beside the database, in the file that ends in .secret), or ' +
      'CARILLON_SECRET_PREVIOUS while the secret is being changed: docs/operations.md, "Change the secret".',
  })
}

export function signToken({ kid, privateKey }: Omit<PrivateKey, 'keyObject'>, claims: Claims): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid }).sign(privateKey)
}

/**
 * As `signToken`, but in the event loop: that costs half the processor time of WebCrypto's threads, which argon2 needs, too. For
 * the tokens that applications issue, which may be one for each page.
 */
export function signTokenAtOnce({ kid, keyObject }: PrivateKey, claims: Claims): string {
  const signed = `${segmentOf({ alg: 'EdDSA', typ: 'at+jwt', kid })}.${segmentOf(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), keyObject).toString('base64url')}`
}

function segmentOf(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
