// How is a secret stored, and when are two secrets equal? Only its hash is stored, so that a reader of the database learns no secret. A comparison
// takes the same time at whichever character two values differ, so that it reveals nothing. tools/lint/secrets.grit refuses any other.
//
// Keys are derived from the service's secret, one for each purpose: to seal what the store must not hold in the clear, and to sign what a
// client keeps. While the secret changes, there are two secrets, and both are accepted (decision 0044). `Sealing` is made once (compose.ts):
// - A text that is read again later: `await sealing.seal('factors', text)` is stored; `await sealing.open('factors', sealed)` reads it.
//   Every sealed column needs its place in re-sealing.ts, so that `carillon secret rotate` re-seals it.
// - A value that a client brings back: `sealing.mac('device-tokens', text)`, and `sealing.isMac('device-tokens', text, mac)`.
// - A hash under which something is found or counted: `sealing.mac('names', name)`. It differs after a change of the secret.
import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'

/** Both are hashed first: `timingSafeEqual` throws for different lengths, and a check of the length would reveal it. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

/** Compares two values of `hashOf`, which have one length, so they are not hashed again. */
export function equalHashes(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** SHA-256 as base64url. For secrets of 32 random bytes, which cannot be guessed from their hash; not for passwords. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** Without l, o, 0 and 1, which look alike. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Characters with five random bits each, in groups joined by hyphens: easy to read out and to type. */
export function randomGroups({ groups, of: length }: { groups: number; of: number }): string {
  const group = () => Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('')
  return Array.from({ length: groups }, group).join('-')
}

/** `previous`: the secret before a change, which is accepted until everything is sealed with the current one. */
export type Secrets = { current: string; previous?: string | undefined }

/** Each purpose and the text that HKDF (RFC 5869, section 2.3) takes as `info`. A changed text makes stored values unreadable. */
const purposes = {
  'signing-keys': 'carillon signing keys',
  names: 'carillon names in the log',
  'device-tokens': 'carillon device tokens',
  guesses: 'carillon guesses',
  factors: 'carillon second factors',
  'provider-sign-ins': 'carillon sign-ins with a provider',
  passkeys: 'carillon challenges of passkeys',
  'erased-ids': 'carillon erased external ids',
} as const
export type Purpose = keyof typeof purposes

type Which = keyof Secrets
type Key = { of: Which; bytes: Uint8Array; kid: string }

export class Sealing {
  #keys = new Map<Purpose, readonly Key[]>()
  #secrets: Secrets
  readonly #reread: (() => Secrets | undefined) | undefined
  #inUse: Which = 'current'

  /** `reread`: reads the secrets again where another process may have changed them. Without it they stay as they are. */
  constructor(secrets: Secrets, reread?: () => Secrets | undefined) {
    this.#secrets = secrets
    this.#reread = reread
  }

  /** Chooses the secret that seals and signs: until `carillon secret rotate` the previous one, which nodes without the current one can read. */
  use(which: Which): void {
    if (which === this.#inUse) return
    this.#inUse = which
    this.#keys = new Map()
  }

  /** Returns a JWE (RFC 7516), encrypted with the secret in use. */
  seal(purpose: Purpose, text: string): Promise<string> {
    const [{ bytes, kid }] = this.#keysFor(purpose)
    return new CompactEncrypt(Buffer.from(text)).setProtectedHeader(headerWith(kid)).encrypt(bytes)
  }

  /** Undefined if the text was sealed for another purpose or with none of the secrets, or was changed. */
  async open(purpose: Purpose, sealed: string): Promise<string | undefined> {
    return (await this.openWith(purpose, sealed))?.text
  }

  /** Does what `open` does, and says which secret had sealed it. */
  async openWith(purpose: Purpose, sealed: string): Promise<{ text: string; secret: Which } | undefined> {
    for (const { of, bytes } of this.#keysFor(purpose)) {
      const opened = await compactDecrypt(sealed, bytes, algorithms).catch(() => undefined)
      if (opened !== undefined) return { text: Buffer.from(opened.plaintext).toString(), secret: of }
    }
    return this.#isChanged() ? this.openWith(purpose, sealed) : undefined
  }

  /** The secret that this process has known so far is the previous one then: what it signed is still accepted. */
  #isChanged(): boolean {
    const fresh = this.#reread?.()
    if (fresh === undefined || equalSecrets(fresh.current, this.#secrets.current)) return false
    this.#secrets = { current: fresh.current, previous: this.#secrets.current }
    this.#keys = new Map()
    return true
  }

  /** HMAC-SHA256 with the secret in use, as 43 characters of base64url. */
  mac(purpose: Purpose, text: string): string {
    return macWith(this.#keysFor(purpose)[0], text)
  }

  /** Whether `mac` is that of `text`, with any of the secrets. Takes the same time for every wrong value. */
  isMac(purpose: Purpose, text: string, mac: string): boolean {
    const matches = this.#keysFor(purpose).map((key) => equalSecrets(macWith(key, text), mac))
    return matches.includes(true)
  }

  /** What every text that the secret in use seals for this purpose begins with. */
  prefix(purpose: Purpose): string {
    return `${Buffer.from(JSON.stringify(headerWith(this.#keysFor(purpose)[0].kid))).toString('base64url')}..`
  }

  /** The one in use first. */
  #keysFor(purpose: Purpose): readonly [Key, ...Key[]] {
    const known = this.#keys.get(purpose) ?? this.#derived(purpose)
    this.#keys.set(purpose, known)
    return known as [Key, ...Key[]]
  }

  #derived(purpose: Purpose): Key[] {
    const { current, previous } = this.#secrets
    const keys = [keyFrom(current, { of: 'current', purpose })]
    if (previous !== undefined && previous !== current) keys.push(keyFrom(previous, { of: 'previous', purpose }))
    return this.#inUse === 'current' ? keys : keys.reverse()
  }
}

const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }

const headerWith = (kid: string) => ({ alg: 'dir', enc: 'A256GCM', kid })

/** `kid` names the key in what it sealed, so that a search finds what another secret sealed without opening it. */
function keyFrom(secret: string, { of, purpose }: { of: Which; purpose: Purpose }): Key {
  const bytes = new Uint8Array(hkdfSync('sha256', secret, '', purposes[purpose], 32))
  return { of, bytes, kid: createHmac('sha256', bytes).update('kid').digest('base64url').slice(0, 11) }
}

function macWith({ bytes }: Key, text: string): string {
  return createHmac('sha256', bytes).update(text).digest('base64url')
}

/** How the log names a username that no user has: attempts can be counted, but a password typed in its place cannot be guessed. 96 bits. */
export function nameHasher(sealing: Sealing): (name: string) => string {
  return (name) => sealing.mac('names', name).slice(0, 16)
}
