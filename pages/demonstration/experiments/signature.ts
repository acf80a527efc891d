// Checks and reads an access token as any other service could: with the public key and no request. Web Crypto is missing on plain HTTP
// beyond localhost, and older browsers do not know Ed25519.

export type CryptoSupport = 'supported' | 'no-web-crypto' | 'no-ed25519'

/** One key pair is enough to know it: a browser without Ed25519 refuses the name. */
export async function cryptoSupport(
  subtle: SubtleCrypto | null = globalThis.crypto?.subtle ?? null,
): Promise<CryptoSupport> {
  if (subtle === null) return 'no-web-crypto'
  try {
    await subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify'])
    return 'supported'
  } catch {
    return 'no-ed25519'
  }
}

export type Claims = Record<string, unknown>

/** The payload of a token, which anyone can read; null if it is not JSON. */
export function claimsOf(token: string): Claims | null {
  try {
    return jsonIn(token.split('.')[1])
  } catch {
    return null
  }
}

/** `keySet`: the body of /.well-known/jwks.json (RFC 7517). False also if the set has not the key that the token names. */
export async function isSignatureValid(token: string, keySet: unknown): Promise<boolean | 'cannot-check'> {
  if ((await cryptoSupport()) !== 'supported') return 'cannot-check'
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { kid } = jsonIn(header)
  const jwk = (keySet as { keys: (JsonWebKey & { kid: string })[] }).keys.find((one) => one.kid === kid)
  if (jwk === undefined) return false
  const { kty = '', crv = '', x = '' } = jwk
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, { name: 'Ed25519' }, false, ['verify'])
  const signed = new TextEncoder().encode(`${header}.${payload}`)
  return crypto.subtle.verify({ name: 'Ed25519' }, key, bytesOf(signature), signed)
}

/** The object in a piece of a token. Throws if there is none. */
export function jsonIn(piece = ''): Claims {
  return JSON.parse(new TextDecoder().decode(bytesOf(piece)))
}

/** Decodes base64url (RFC 4648, section 5). Throws for other characters. */
function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
