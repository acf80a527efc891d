// Reads an issuer's key set (RFC 7517). What no honest issuer publishes spoils the whole set.
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWK } from 'jose'
import { boundedFetch } from '../basics/bounded-fetch.ts'
import { type CarillonError, unavailable } from '../basics/errors.ts'
import { isObject } from '../basics/strict-json.ts'
import type { IssuerAlgorithm, IssuerSetting } from '../config/issuers.ts'
import { isLoopback } from '../config/values.ts'

type JsonObject = Readonly<Record<string, unknown>>
type RsaKey = { modulusLength: number; publicExponent: Uint8Array }

const maxKeys = 100
const minRsaBits = 2_048
/** RFC 7518, sections 6.2.2, 6.3.2 and 6.4. */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const discoveryPath = '/.well-known/openid-configuration'

export async function readKeySet(setting: IssuerSetting): Promise<JSONWebKeySet> {
  const { jwks, algorithms } = setting
  const address = jwks ?? (await discoveredAddress(setting))
  const { keys } = await getJson(address)
  if (!Array.isArray(keys) || keys.length > maxKeys || !keys.every(isObject))
    throw fault(
      `${address} sends no key set: "keys" has to be a list of at most ${maxKeys} objects`,
    )
  if (keys.some((key) => secretMembers.some((name) => Object.hasOwn(key, name))))
    throw fault(
      `${address} publishes a private or symmetric key, with which everyone can sign tokens`,
      'Have the issuer replace that key and publish public keys only.',
    )
  const usable = await Promise.all(
    keys.flatMap((key) => algorithms.map((alg) => isUsable(address, { key, alg }))),
  )
  if (!usable.includes(true))
    throw fault(
      `${address} has no key for ${algorithms.join(', ')}`,
      'Write the algorithms with which the issuer signs tokens in CARILLON_ISSUERS.',
    )
  return { keys }
}

/** OpenID Connect Discovery 1.0, sections 4.1 and 4.3. No changed document may choose the keys. */
async function discoveredAddress({ issuer, origins }: IssuerSetting): Promise<string> {
  const address = issuer.replace(/\/$/, '') + discoveryPath
  const { issuer: named, jwks_uri: jwks } = await getJson(address)
  if (named !== issuer)
    throw fault(
      `${address} names the issuer ${JSON.stringify(named)?.slice(0, 200)} instead of ${JSON.stringify(issuer)}`,
      'Write the issuer in CARILLON_ISSUERS exactly as its discovery document and its tokens do.',
    )
  const url = typeof jwks === 'string' ? URL.parse(jwks) : null
  const isOnThisMachine =
    issuer.startsWith('http:') && url?.protocol === 'http:' && isLoopback(url.hostname)
  if (url === null || !(url.protocol === 'https:' || isOnThisMachine) || url.username !== '')
    throw fault(
      `${address} has ${JSON.stringify(jwks)?.slice(0, 200)} as jwks_uri, which is no https address`,
      'Have the issuer name its key set by https, or write its address as "jwks" in CARILLON_ISSUERS.',
    )
  if (!origins.includes(url.origin))
    throw fault(
      `${address} names a key set on ${url.origin}, which is not the origin of the issuer`,
      `If that is right, add "origins": ["${url.origin}"] to the entry of the issuer in CARILLON_ISSUERS.`,
    )
  return url.href
}

/** RFC 7517, section 5: keys for other uses are no error. */
async function isUsable(
  address: string,
  { key, alg }: { key: JWK; alg: IssuerAlgorithm },
): Promise<boolean> {
  const id = JSON.stringify(key.kid ?? null).slice(0, 80)
  const header = { alg, ...(key.kid !== undefined && { kid: key.kid }) }
  const imported = await createLocalJWKSet({ keys: [key] })(header).catch((error: unknown) => {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined
    throw fault(
      `${address} has a key, ${id}, that cannot be read as one of ${alg}`,
      'Have the issuer repair it.',
    )
  })
  const { modulusLength, publicExponent } = ((imported as CryptoKey | undefined)?.algorithm ??
    {}) as Partial<RsaKey>
  // With exponent 1, the padded digest itself is a signature that OpenSSL accepts.
  if (publicExponent !== undefined && /^0*1$/.test(Buffer.from(publicExponent).toString('hex')))
    throw fault(
      `${address} has a key, ${id}, with the exponent 1, with which everyone can sign tokens`,
      'Have the issuer replace it (RFC 8017, section 3.1).',
    )
  if (modulusLength !== undefined && modulusLength < minRsaBits)
    throw fault(
      `${address} has a key, ${id}, of ${modulusLength} bits`,
      `Have the issuer replace it with one of ${minRsaBits} bits or more (RFC 7518, section 3.3).`,
    )
  return imported !== undefined
}

async function getJson(address: string): Promise<JsonObject> {
  const response = await boundedFetch(
    address,
    { headers: { accept: 'application/json' } },
    { fault },
  )
  const { status, headers } = response
  const location = headers.get('location')?.slice(0, 200)
  if (status >= 300 && status < 400 && location !== undefined)
    throw fault(
      `${address} redirects to ${JSON.stringify(location)}, and redirects are not followed`,
      'Write the address that responds with 200 in CARILLON_ISSUERS.',
    )
  if (status !== 200) throw fault(`${address} responds with ${status} instead of 200`)
  const text = await response.text()
  const value = await new Response(text).json().catch(() => undefined)
  if (isObject(value)) return value
  throw fault(`${address} sends no JSON object, but ${JSON.stringify(text.slice(0, 40))}`)
}

function fault(
  problem: string,
  remedy = 'Check the address in CARILLON_ISSUERS, the name, the certificate, and whether this machine may connect to it.',
): CarillonError {
  return unavailable(problem, remedy)
}
