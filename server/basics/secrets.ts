// Stores and compares secrets, in constant time: tools/lint/secrets.grit refuses other comparisons.
//
// Each purpose has a key derived from the service's secret, or two while that changes (decision
// 0044):
// - `seal` and `open`: what the store reads again. Each sealed column needs its place in
//   re-sealing.ts.
// - `mac` and `isMac`: what a client brings back.
// - `mac`: a hash to find or count. Another secret gives another hash.
import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'

/** `timingSafeEqual` throws for different lengths, which would reveal the length. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

export function equalHashes(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** Use it for 32 random bytes, which cannot be guessed, never for passwords. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

export function randomText(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** l, o, 0 and 1 look alike. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Each has five random bits and is easy to read out and type. */
export function randomGroups({ groups, of: length }: { groups: number; of: number }): string {
  const group = () =>
    Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('')
  return Array.from({ length: groups }, group).join('-')
}

/** `previous` is accepted until all is sealed again. */
export type Secrets = { current: string; previous?: string | undefined }

/** HKDF's `info` (RFC 5869, section 2.3). Another text makes stored values unreadable. */
const purposes = {
  'signing-keys': 'carillon signing keys',
  names: 'carillon names in the log',
  'device-tokens': 'carillon device tokens',
  guesses: 'carillon guesses',
  factors: 'carillon second factors',
  'provider-sign-ins': 'carillon sign-ins with a provider',
  passkeys: 'carillon challenges of passkeys',
  unsubscribe: 'carillon unsubscription by a mail',
  'mail-threads': 'carillon threads of mails',
  'erased-ids': 'carillon erased external ids',
  webhooks: 'carillon secrets of webhooks',
  push: 'carillon key for push services',
} as const
export type Purpose = keyof typeof purposes

type Which = keyof Secrets
type Key = { of: Which; bytes: Uint8Array; kid: string }

export class Sealing {
  #keys = new Map<Purpose, readonly Key[]>()
  #secrets: Secrets
  readonly #reread: (() => Secrets | undefined) | undefined
  #inUse: Which = 'current'

  /** `reread`: another process may have changed the secrets. */
  constructor(secrets: Secrets, reread?: () => Secrets | undefined) {
    this.#secrets = secrets
    this.#reread = reread
  }

  /** The previous secret seals for nodes without the current one. */
  use(which: Which): void {
    if (which === this.#inUse) return
    this.#inUse = which
    this.#keys = new Map()
  }

  /** A JWE (RFC 7516). */
  seal(purpose: Purpose, text: string): Promise<string> {
    const [{ bytes, kid }] = this.#keysFor(purpose)
    return new CompactEncrypt(Buffer.from(text)).setProtectedHeader(headerWith(kid)).encrypt(bytes)
  }

  /** Undefined for another purpose or secret, or a changed text. */
  async open(purpose: Purpose, sealed: string): Promise<string | undefined> {
    return (await this.openWith(purpose, sealed))?.text
  }

  async openWith(
    purpose: Purpose,
    sealed: string,
  ): Promise<{ text: string; secret: Which } | undefined> {
    for (const { of, bytes } of this.#keysFor(purpose)) {
      const opened = await compactDecrypt(sealed, bytes, algorithms).catch(() => undefined)
      if (opened !== undefined)
        return { text: Buffer.from(opened.plaintext).toString(), secret: of }
    }
    return this.#isChanged() ? this.openWith(purpose, sealed) : undefined
  }

  /** Still accepts what the secret known so far signed. */
  #isChanged(): boolean {
    const fresh = this.#reread?.()
    if (fresh === undefined || equalSecrets(fresh.current, this.#secrets.current)) return false
    this.#secrets = { current: fresh.current, previous: this.#secrets.current }
    this.#keys = new Map()
    return true
  }

  mac(purpose: Purpose, text: string): string {
    return macWith(this.#keysFor(purpose)[0], text)
  }

  /** Takes the same time for every wrong value. */
  isMac(purpose: Purpose, text: string, mac: string): boolean {
    const matches = this.#keysFor(purpose).map((key) => equalSecrets(macWith(key, text), mac))
    return matches.includes(true)
  }

  prefix(purpose: Purpose): string {
    return `${Buffer.from(JSON.stringify(headerWith(this.#keysFor(purpose)[0].kid))).toString('base64url')}..`
  }

  #keysFor(purpose: Purpose): readonly [Key, ...Key[]] {
    const known = this.#keys.get(purpose) ?? this.#derived(purpose)
    this.#keys.set(purpose, known)
    return known as [Key, ...Key[]]
  }

  #derived(purpose: Purpose): Key[] {
    const { current, previous } = this.#secrets
    const keys = [keyFrom(current, { of: 'current', purpose })]
    if (previous !== undefined && previous !== current)
      keys.push(keyFrom(previous, { of: 'previous', purpose }))
    return this.#inUse === 'current' ? keys : keys.reverse()
  }
}

const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }

const headerWith = (kid: string) => ({ alg: 'dir', enc: 'A256GCM', kid })

/** A search for `kid` finds what another secret sealed. */
function keyFrom(secret: string, { of, purpose }: { of: Which; purpose: Purpose }): Key {
  const bytes = new Uint8Array(hkdfSync('sha256', secret, '', purposes[purpose], 32))
  return {
    of,
    bytes,
    kid: createHmac('sha256', bytes).update('kid').digest('base64url').slice(0, 11),
  }
}

function macWith({ bytes }: Key, text: string): string {
  return createHmac('sha256', bytes).update(text).digest('base64url')
}

/** Attempts can be counted, but a password typed as a name stays hidden. 96 bits. */
export function nameHasher(sealing: Sealing): (name: string) => string {
  return (name) => sealing.mac('names', name).slice(0, 16)
}
