// The keys that sign access tokens: Ed25519, stored with the private part encrypted ("sealed": JWE, RFC 7516) by the
// service's secret, so that a stolen database cannot sign tokens.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { CarillonError } from '../../errors.ts'
import type { SigningKey, Store } from '../../store/store.ts'
import type { Sealing } from '../sealing.ts'
import type { Claims } from './read-token.ts'

type Sealed = { store: Pick<Store, 'signingKeys' | 'ensureSigningKey'>; sealing: Sealing; now: () => number }
/** The same key twice: for WebCrypto and for node:crypto. */
type PrivateKey = { kid: string; privateKey: CryptoKey; keyObject: KeyObject }
type PublicKey = { kid: string; publicJwk: JWK; publicKey: KeyObject }

export class SigningKeys {
  readonly #keys: Map<string, PublicKey>
  readonly current: PrivateKey

  private constructor(keys: PublicKey[], current: PrivateKey) {
    this.#keys = new Map(keys.map((key) => [key.kid, key]))
    this.current = current
  }

  /** Opens the keys of the store, or makes the first one. Throws UNAVAILABLE if the keys were sealed with another secret. */
  static async open({ store, sealing, now }: Sealed): Promise<SigningKeys> {
    const existing = await store.signingKeys()
    const rows = existing.length > 0 ? existing : await store.ensureSigningKey(await makeKey(sealing, now()))
    const keys = rows.map(openPublic)
    const newest = rows.at(-1) as SigningKey
    return new SigningKeys(keys, { kid: newest.kid, ...(await openPrivate(newest, sealing)) })
  }

  /** Undefined if the key is not ours. `kid` is the only statement of a token about keys that the service uses. */
  find(kid: string): KeyObject | undefined {
    return this.#keys.get(kid)?.publicKey
  }

  /** A JWK Set (RFC 7517, section 5) of the public parts. */
  get publicKeySet(): { keys: JWK[] } {
    return {
      keys: [...this.#keys.values()].map(({ kid, publicJwk }) => ({ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' })),
    }
  }
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

async function makeKey(sealing: Sealing, createdAt: number): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  const sealedPrivateJwk = await sealing.seal('signing-keys', JSON.stringify(await exportJWK(privateKey)))
  return { kid, publicJwk: JSON.stringify(publicJwk), sealedPrivateJwk, createdAt }
}

function openPublic({ kid, publicJwk }: SigningKey): PublicKey {
  const jwk = JSON.parse(publicJwk) as JWK
  return { kid, publicJwk: jwk, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) }
}

async function openPrivate({ sealedPrivateJwk }: SigningKey, sealing: Sealing) {
  const opened = await sealing.open('signing-keys', sealedPrivateJwk)
  if (opened === undefined)
    throw new CarillonError('UNAVAILABLE', 'The signing keys in the store were sealed with another secret', {
      remedy:
        'Set CARILLON_SECRET to that one (on SQLite it is kept beside the database, in the file that ends in .secret).',
    })
  const jwk = JSON.parse(opened) as JWK
  const privateKey = (await importJWK(jwk, 'EdDSA')) as CryptoKey
  return { privateKey, keyObject: createPrivateKey({ key: jwk, format: 'jwk' }) }
}
