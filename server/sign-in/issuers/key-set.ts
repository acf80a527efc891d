// The public keys of an issuer, read from its key set (RFC 7517) and, if the setting has no address of it, from its discovery
// document. A set with something that no honest issuer publishes is refused as a whole.
import { type CryptoKey, createLocalJWKSet, importJWK, type JSONWebKeySet, type JWK } from 'jose'
import { isLoopback } from '../../config/values.ts'
import { getJson, type JsonObject, wrongResponse } from './get-json.ts'
import type { Algorithm, Issuer } from './issuer.ts'

/** The one key for such a token; rejects with an error of jose if there is none, or more than one. */
export type KeySet = (header: { alg: Algorithm; kid?: string }) => Promise<CryptoKey>

type RsaKey = { modulusLength: number; publicExponent: Uint8Array }

const maxKeys = 100
const minRsaBits = 2_048
/** Members of private and of symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const discoveryPath = '/.well-known/openid-configuration'

/** Throws UNAVAILABLE, with what is wrong and what to change. */
export async function readKeySet(issuer: Issuer): Promise<KeySet> {
  const address = issuer.jwks ?? (await discoveredAddress(issuer.issuer))
  const { keys } = await getJson(address)
  if (!Array.isArray(keys) || keys.length > maxKeys || !keys.every(isObject))
    throw wrongResponse(
      `${address} sends no key set: "keys" has to be a list of at most ${maxKeys} objects`,
      'Check the address in CARILLON_ISSUERS.',
    )
  if (keys.some((key) => secretMembers.some((name) => Object.hasOwn(key, name))))
    throw wrongResponse(
      `${address} publishes a private or symmetric key, with which everyone can sign tokens`,
      'Have the issuer replace that key and publish public keys only.',
    )
  const usable = keys.filter((key) => algorithmOf(key, issuer.algorithms) !== undefined)
  if (usable.length === 0)
    throw wrongResponse(
      `${address} has no key for ${issuer.algorithms.join(', ')}`,
      'Write the algorithms with which the issuer signs tokens in CARILLON_ISSUERS.',
    )
  for (const key of usable) await refuseBroken(address, key, algorithmOf(key, issuer.algorithms) as Algorithm)
  return createLocalJWKSet({ keys: usable } as unknown as JSONWebKeySet)
}

/** OpenID Connect Discovery 1.0, sections 4.1 and 4.3. The key set may be on another origin, as it is at large providers. */
async function discoveredAddress(issuer: string): Promise<string> {
  const address = issuer.replace(/\/$/, '') + discoveryPath
  const { issuer: named, jwks_uri: jwks } = await getJson(address)
  if (named !== issuer)
    throw wrongResponse(
      `${address} names the issuer ${JSON.stringify(named)?.slice(0, 200)} instead of ${JSON.stringify(issuer)}`,
      'Write the issuer in CARILLON_ISSUERS exactly as its discovery document and its tokens do.',
    )
  const url = typeof jwks === 'string' ? URL.parse(jwks) : null
  // Plain http is only for an issuer on this machine, and the setting then names the issuer by plain http, too.
  const isOnThisMachine = issuer.startsWith('http:') && url?.protocol === 'http:' && isLoopback(url.hostname)
  const isAllowed = url?.protocol === 'https:' || isOnThisMachine
  if (url === null || !isAllowed || url.username !== '')
    throw wrongResponse(
      `${address} has ${JSON.stringify(jwks)?.slice(0, 200)} as jwks_uri, which is no https address`,
      'Have the issuer name its key set by https, or write its address as "jwks" in CARILLON_ISSUERS.',
    )
  return url.href
}

/** The one algorithm of the list that the key is for. A key for something else is not an error (RFC 7517, section 5). */
function algorithmOf(key: JsonObject, algorithms: readonly Algorithm[]): Algorithm | undefined {
  if (!isForSignatures(key)) return undefined
  const { kty, crv, alg } = key
  const fitting = {
    RS256: kty === 'RSA',
    ES256: kty === 'EC' && crv === 'P-256',
    EdDSA: kty === 'OKP' && crv === 'Ed25519',
  }
  return algorithms.find((one) => fitting[one] && (alg === undefined || alg === one))
}

/** RFC 7517, sections 4.2 and 4.3. */
function isForSignatures({ use = 'sig', key_ops: operations = ['verify'] }: JsonObject): boolean {
  return use === 'sig' && Array.isArray(operations) && operations.includes('verify')
}

async function refuseBroken(address: string, key: JsonObject, algorithm: Algorithm): Promise<void> {
  const id = JSON.stringify(key.kid ?? null).slice(0, 80)
  const imported = await importJWK(key as JWK, algorithm).catch(() => undefined)
  if (imported === undefined)
    throw wrongResponse(
      `${address} has a key, ${id}, that cannot be read as one of ${algorithm}`,
      'Have the issuer repair it.',
    )
  const { modulusLength, publicExponent } = (imported as CryptoKey).algorithm as Partial<RsaKey>
  // The signature is then the padded digest itself, and OpenSSL accepts it.
  if (publicExponent !== undefined && /^0*1$/.test(Buffer.from(publicExponent).toString('hex')))
    throw wrongResponse(
      `${address} has a key, ${id}, with the exponent 1, with which everyone can sign tokens`,
      'Have the issuer replace it (RFC 8017, section 3.1).',
    )
  if (modulusLength !== undefined && modulusLength < minRsaBits)
    throw wrongResponse(
      `${address} has a key, ${id}, of ${modulusLength} bits`,
      `Have the issuer replace it with one of ${minRsaBits} bits or more (RFC 7518, section 3.3).`,
    )
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
