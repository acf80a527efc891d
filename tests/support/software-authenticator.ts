// Signs whatever a test wants, also what a real authenticator never would. Written after WebAuthn
// Level 3 (sections 5.8.1, 6.1 and 6.5) and RFC 9052 with node:crypto alone; it shares no code with
// the service.
import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'

type CreationOptions = { challenge: string; rp: { id?: string }; user: { id: string } }
type RequestOptions = { challenge: string }

export type Passkey = {
  id: string
  rpId: string
  userHandle: string
  privateKey: KeyObject
  count: number
}

/** Each entry differs from an honest ceremony. */
export type Forgery = {
  /** Replaces words of the browser; those that are undefined are left out. */
  clientData?: Partial<
    Record<'type' | 'challenge' | 'origin' | 'crossOrigin' | 'topOrigin', unknown>
  >
  rpId?: string
  isPresent?: boolean
  isVerified?: boolean
  count?: number
  id?: string
  /** Base64url; null leaves it out. */
  userHandle?: string | null
  /** Another key signs. */
  signer?: KeyObject
  /** Says which product made a new passkey; zeros if it is absent. */
  aaguid?: string
  format?: string
  statement?: Map<string, Cbor>
}

/**
 * Pages of this `origin` use it. `counts`: it has a counter, as security keys have, and
 * synchronised passkeys have not.
 */
export class SoftwareAuthenticator {
  readonly #origin: string
  readonly #counts: boolean

  constructor({ origin, counts = true }: { origin: string; counts?: boolean }) {
    this.#origin = origin
    this.#counts = counts
  }

  /** Does as `navigator.credentials.create(...)` followed by `toJSON()`. */
  create({ challenge, rp, user }: CreationOptions, forgery: Forgery = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { id = randomBytes(32).toString('base64url'), rpId = rp.id ?? '', count = 0 } = forgery
    const { aaguid = '0'.repeat(32) } = forgery
    const passkey: Passkey = { id, rpId, userHandle: user.id, privateKey, count }
    const cose = cbor(coseKey(publicKey))
    const idBytes = Buffer.from(id, 'base64url')
    const authData = Buffer.concat([
      authenticatorData({ ...forgery, rpId, count, hasCredential: true }),
      Buffer.from(aaguid.replaceAll('-', ''), 'hex'),
      Buffer.from([idBytes.length >> 8, idBytes.length & 0xff]),
      idBytes,
      cose,
    ])
    const { format = 'none', statement = new Map() } = forgery
    const attestation = new Map<string, Cbor>(
      Object.entries({ fmt: format, attStmt: statement, authData }),
    )
    const response = {
      clientDataJSON: this.#clientData({ type: 'webauthn.create', challenge }, forgery),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal'],
    }
    return {
      passkey,
      publicKey: cose.toString('base64url'),
      response: { ...credential(id), response },
    }
  }

  /** Does as `navigator.credentials.get(...)` followed by `toJSON()`. */
  get(passkey: Passkey, { challenge }: RequestOptions, forgery: Forgery = {}) {
    if (this.#counts) passkey.count++
    const data = authenticatorData({ rpId: passkey.rpId, count: passkey.count, ...forgery })
    const clientDataJSON = this.#clientData({ type: 'webauthn.get', challenge }, forgery)
    const signed = Buffer.concat([
      data,
      hash('sha256', Buffer.from(clientDataJSON, 'base64url'), 'buffer'),
    ])
    const {
      signer = passkey.privateKey,
      userHandle = passkey.userHandle,
      id = passkey.id,
    } = forgery
    const response = {
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, signer).toString('base64url'),
      ...(userHandle !== null && { userHandle }),
    }
    return { ...credential(id), response }
  }

  #clientData(honest: { type: string; challenge: string }, { clientData }: Forgery): string {
    const words = { ...honest, origin: this.#origin, crossOrigin: false, ...clientData }
    return Buffer.from(JSON.stringify(words)).toString('base64url')
  }
}

function credential(id: string) {
  return {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  }
}

type AuthenticatorData = Pick<Forgery, 'isPresent' | 'isVerified'> & {
  rpId: string
  count: number
  hasCredential?: boolean
}

/** Has the hash of the relying party, the flags and the counter (section 6.1). */
function authenticatorData({
  rpId,
  count,
  isPresent = true,
  isVerified = true,
  hasCredential,
}: AuthenticatorData): Buffer {
  const data = Buffer.alloc(37)
  hash('sha256', rpId, 'buffer').copy(data)
  data[32] = (isPresent ? 0x01 : 0) | (isVerified ? 0x04 : 0) | (hasCredential ? 0x40 : 0)
  data.writeUInt32BE(count, 33)
  return data
}

/** RFC 9053, section 7.1.1: kty EC2, alg ES256, crv P-256, x, y. */
function coseKey(publicKey: KeyObject): Map<number, Cbor> {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const coordinates = [x, y].map((text) => Buffer.from(text, 'base64url'))
  return new Map<number, Cbor>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, coordinates[0] as Buffer],
    [-3, coordinates[1] as Buffer],
  ])
}

export type Cbor = number | string | Buffer | readonly Cbor[] | ReadonlyMap<string | number, Cbor>

/** RFC 8949, section 3: integers, byte strings, text, arrays and maps of less than 65,536 of each. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  const entries = [...(value as ReadonlyMap<string | number, Cbor>)]
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)])
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count])
  if (count < 256) return Buffer.from([(major << 5) | 24, count])
  return Buffer.from([(major << 5) | 25, count >> 8, count & 0xff])
}
