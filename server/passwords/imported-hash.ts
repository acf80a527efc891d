// Password hashes that other systems made: bcrypt, scrypt, argon2 and PBKDF2 in the usual forms. Each is verified as that system
// verifies it, on a thread of libuv's pool. A sign-in replaces it by a hash of ours (credentials.ts).
import { hash as digestOf, pbkdf2, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { CarillonError } from '../basics/errors.ts'
import { equalSecrets } from '../basics/secrets.ts'

export type ImportedHash =
  | { kind: 'argon2'; phc: string }
  /** `bytesOf`: what the source system passes to bcrypt, which reads 72 bytes of it. */
  | { kind: 'bcrypt'; hash: string; bytesOf: (password: string) => string }
  | { kind: 'scrypt'; cost: ScryptCost; salt: Buffer; key: Buffer; isNormalized: boolean }
  | { kind: 'pbkdf2'; digest: Digest; iterations: number; salt: Buffer; key: Buffer }

type Derived = { salt: Buffer; key: Buffer }
type ScryptCost = { N: number; r: number; p: number }
type Digest = 'sha1' | 'sha256' | 'sha512'

/** For error messages and the documentation. */
export const knownFormats =
  'bcrypt ($2a$, $2b$, $2y$), argon2 ($argon2id$, $argon2i$, $argon2d$), PBKDF2 ($pbkdf2-sha256$, $pbkdf2-sha512$, $pbkdf2$), ' +
  'scrypt ($scrypt$), and the forms of Django, Werkzeug and better-auth'

/** A longer text is no password hash. */
const maxLength = 512

// The bounds: at most about half a second of one processor and 128 MiB. An imported hash costs as much at each wrong password.
const maxBcryptCost = 13
const maxIterations: Record<Digest, number> = { sha1: 2_000_000, sha256: 2_000_000, sha512: 1_000_000 }
const digestBytes: Record<Digest, number> = { sha1: 20, sha256: 32, sha512: 64 }
/** N * r * p; 128 bytes of memory each. */
const maxScryptBlocks = 2 ** 20
const scryptMemory = 256 * 2 ** 20
/** KiB */
const maxArgon2Memory = 128 * 1024
/** KiB, times the passes over them */
const maxArgon2Work = 512 * 1024
const maxArgon2Lanes = 16
/** Bytes of a derived key. A shorter one would match other passwords, too. */
const [minKey, maxKey] = [16, 128]

/** Throws INVALID_REQUEST with field `passwordHash`: an unknown format (the reason lists the known ones), damaged, or too expensive. */
export function readHash(text: string): ImportedHash {
  if (text.length <= maxLength)
    for (const [form, read] of forms) {
      const groups = form.exec(text)?.groups
      if (groups !== undefined) return read(groups)
    }
  return refuse(`has an unknown format; known are ${knownFormats}`)
}

type Groups = Record<string, string>

const bcrypt = String.raw`(?<hash>\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53})`
const base64 = '[A-Za-z0-9+/]+={0,2}'
const argon2 = String.raw`\$argon2(?:id|i|d)\$(?:v=(?<v>16|19)\$)?m=(?<m>\d{1,10}),t=(?<t>\d{1,10}),p=(?<p>\d{1,3})\$${base64}\$${base64}`

/** In each, the groups of the pattern are the arguments. */
const forms: readonly [RegExp, (groups: Groups) => ImportedHash][] = [
  [new RegExp(`^(?:bcrypt\\$)?${bcrypt}$`), (groups) => readBcrypt(groups, (text) => text)],
  [
    new RegExp(`^bcrypt_sha256\\$${bcrypt}$`),
    (groups) => readBcrypt(groups, (text) => digestOf('sha256', text, 'hex')),
  ],
  [new RegExp(`^(?:argon2)?(?<phc>${argon2})$`), readArgon2],
  // PHC writes i=..., passlib the bare number, and both Base64 without padding; passlib with a full stop in place of the plus.
  [
    /^\$pbkdf2(?:-(?<digest>sha1|sha256|sha512))?\$(?:i=)?(?<iterations>\d{1,10})(?:,l=\d{1,3})?\$(?<salt>[./+A-Za-z0-9]+)\$(?<key>[./+A-Za-z0-9]+)$/,
    ({ digest = 'sha1', iterations = '', salt, key }) =>
      readPbkdf2({ digest, iterations }, { salt: fromBase64(salt), key: fromBase64(key) }),
  ],
  [
    new RegExp(`^pbkdf2_(?<digest>sha1|sha256)\\$(?<iterations>\\d{1,10})\\$(?<salt>[^$]+)\\$(?<key>${base64})$`),
    (groups) => readPbkdf2(groups, { salt: fromText(groups.salt), key: fromBase64(groups.key) }),
  ],
  [
    /^pbkdf2:(?<digest>sha1|sha256|sha512):(?<iterations>\d{1,10})\$(?<salt>[^$]+)\$(?<key>(?:[\da-f]{2})+)$/,
    (groups) => readPbkdf2(groups, { salt: fromText(groups.salt), key: fromHex(groups.key) }),
  ],
  [
    new RegExp(
      `^\\$scrypt\\$ln=(?<ln>\\d{1,2}),r=(?<r>\\d{1,7}),p=(?<p>\\d{1,7})\\$(?<salt>${base64})\\$(?<key>${base64})$`,
    ),
    ({ ln, r, p, salt, key }) =>
      readScrypt({ N: 2 ** Number(ln), r: Number(r), p: Number(p) }, { salt: fromBase64(salt), key: fromBase64(key) }),
  ],
  [
    new RegExp(`^scrypt\\$(?<n>\\d{1,10})\\$(?<salt>[^$]+)\\$(?<r>\\d{1,7})\\$(?<p>\\d{1,7})\\$(?<key>${base64})$`),
    ({ n, r, p, salt, key }) =>
      readScrypt({ N: Number(n), r: Number(r), p: Number(p) }, { salt: fromText(salt), key: fromBase64(key) }),
  ],
  [
    /^scrypt:(?<n>\d{1,10}):(?<r>\d{1,7}):(?<p>\d{1,7})\$(?<salt>[^$]+)\$(?<key>(?:[\da-f]{2})+)$/,
    ({ n, r, p, salt, key }) =>
      readScrypt({ N: Number(n), r: Number(r), p: Number(p) }, { salt: fromText(salt), key: fromHex(key) }),
  ],
  // better-auth does not write its cost. It uses the text of the salt as the salt, and normalizes the password.
  [
    /^(?<salt>[\da-f]{32}):(?<key>[\da-f]{128})$/,
    ({ salt, key }) => readScrypt({ N: 16_384, r: 16, p: 1 }, { salt: fromText(salt), key: fromHex(key) }, true),
  ],
]

function readBcrypt({ hash = '', cost }: Groups, bytesOf: (password: string) => string): ImportedHash {
  if (Number(cost) < 4) refuse('has a bcrypt cost below 4')
  if (Number(cost) > maxBcryptCost) refuse(`costs too much to verify: the bcrypt cost must be at most ${maxBcryptCost}`)
  return { kind: 'bcrypt', hash, bytesOf }
}

function readArgon2({ phc = '', v, m, t, p }: Groups): ImportedHash {
  const [memory, passes, lanes] = [Number(m), Number(t), Number(p)]
  if (passes < 1 || lanes < 1 || memory < 8 * lanes) refuse('has invalid argon2 parameters')
  if (memory > maxArgon2Memory || memory * passes > maxArgon2Work || lanes > maxArgon2Lanes)
    refuse(
      `costs too much to verify: argon2 must use at most ${maxArgon2Memory} KiB (m), ` +
        `${maxArgon2Work} KiB in all passes (m * t) and ${maxArgon2Lanes} lanes (p)`,
    )
  const [salt, key] = phc
    .split('$')
    .slice(-2)
    .map((part) => fromBase64(part)) as [Buffer, Buffer]
  if (salt.length < 8 || salt.length > 48) refuse('has a salt that is not 8 to 48 bytes long')
  if (key.length < minKey || key.length > 64) refuse(`has a key that is not ${minKey} to 64 bytes long`)
  // The first version of argon2 did not write its number, and the verifier takes none for the current one.
  return { kind: 'argon2', phc: (v === undefined ? phc.replace('$m=', '$v=16$m=') : phc).replaceAll(/=+(?=\$|$)/g, '') }
}

function readPbkdf2({ digest: named, iterations: count }: Groups, { salt, key }: Derived): ImportedHash {
  const [digest, iterations] = [named as Digest, Number(count)]
  refuseLength(key)
  if (iterations < 1) refuse('has no PBKDF2 iterations')
  if (iterations * Math.ceil(key.length / digestBytes[digest]) > maxIterations[digest])
    refuse(`costs too much to verify: PBKDF2 with ${digest} must have at most ${maxIterations[digest]} iterations`)
  return { kind: 'pbkdf2', digest, iterations, salt, key }
}

function readScrypt({ N, r, p }: ScryptCost, { salt, key }: Derived, isNormalized = false): ImportedHash {
  refuseLength(key)
  // RFC 7914, section 6
  if (!Number.isInteger(Math.log2(N)) || N < 2 || r < 1 || p < 1 || Math.log2(N) >= 16 * r)
    refuse('has invalid scrypt parameters')
  if (N * r * p > maxScryptBlocks)
    refuse(`costs too much to verify: scrypt must have at most N * r * p = ${maxScryptBlocks}`)
  return { kind: 'scrypt', cost: { N, r, p }, salt, key, isNormalized }
}

function refuseLength(key: Buffer): void {
  if (key.length < minKey || key.length > maxKey) refuse(`has a key that is not ${minKey} to ${maxKey} bytes long`)
}

function refuse(reason: string): never {
  const details = [{ field: 'passwordHash', reason }]
  throw new CarillonError('INVALID_REQUEST', `The password hash ${reason}`, { details })
}

/** `password` as the client sent it: the source system did not prepare it as we do. */
export async function matchesImported(hash: ImportedHash, password: string): Promise<boolean> {
  switch (hash.kind) {
    case 'argon2':
      return (await import('@node-rs/argon2')).verify(hash.phc, password)
    case 'bcrypt':
      return (await import('@node-rs/bcrypt')).verify(hash.bytesOf(password), hash.hash)
    case 'scrypt': {
      const text = hash.isNormalized ? password.normalize('NFKC') : password
      return equalKeys(await deriveScrypt(text, hash), hash.key)
    }
    case 'pbkdf2': {
      const { digest, iterations, salt, key } = hash
      return equalKeys(await derivePbkdf2(password, salt, iterations, key.length, digest), key)
    }
  }
}

const derivePbkdf2 = promisify(pbkdf2)

function deriveScrypt(password: string, { cost, salt, key }: { cost: ScryptCost; salt: Buffer; key: Buffer }) {
  return new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, key.length, { ...cost, maxmem: scryptMemory }, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    )
  })
}

const fromText = (text = '') => Buffer.from(text)
const fromHex = (text = '') => Buffer.from(text, 'hex')
const fromBase64 = (text = '') => Buffer.from(text.replaceAll('.', '+'), 'base64')

function equalKeys(a: Buffer, b: Buffer): boolean {
  return equalSecrets(a.toString('base64'), b.toString('base64'))
}
