// Verifies other systems' hashes, on libuv's threads. A sign-in replaces them (credentials.ts).
import { hash as digestOf, pbkdf2, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { invalidField } from '../basics/errors.ts'
import { equalSecrets } from '../basics/secrets.ts'

/** Other systems hash `password` as sent, we hash `prepared`. */
export type Matches = (password: string, prepared: string) => Promise<boolean>

type Derived = { salt: Buffer; key: Buffer }
type Digest = 'sha1' | 'sha256' | 'sha512'

export const knownFormats =
  'bcrypt ($2a$, $2b$, $2y$), argon2 ($argon2id$, $argon2i$, $argon2d$), PBKDF2 ($pbkdf2-sha256$, $pbkdf2-sha512$, $pbkdf2$), ' +
  'scrypt ($scrypt$), and the forms of Django, Werkzeug and better-auth'

const maxLength = 512

// Each wrong password may cost half a second and 128 MiB.
const maxBcryptCost = 13
const maxIterations: Record<Digest, number> = {
  sha1: 2_000_000,
  sha256: 2_000_000,
  sha512: 1_000_000,
}
const digestBytes: Record<Digest, number> = { sha1: 20, sha256: 32, sha512: 64 }
/** Each block takes 128 bytes of memory. */
const maxScryptBlocks = 2 ** 20
/** In KiB */
const maxArgon2Memory = 128 * 1024
/** KiB, times the passes */
const maxArgon2Work = 512 * 1024
const maxArgon2Lanes = 16
/** A shorter key would match other passwords. */
const minKey = 16
const maxKey = 128

/** Throws INVALID_REQUEST, also for a too expensive hash. */
export function readHash(text: string): Matches {
  if (text.length <= maxLength)
    for (const [form, read, saltAs = 'base64', keyAs = 'base64'] of forms) {
      const groups = form.exec(text)?.groups
      if (groups)
        return read(groups, { salt: bytesOf(groups.salt, saltAs), key: bytesOf(groups.key, keyAs) })
    }
  return refuse(`has an unknown format; known are ${knownFormats}`)
}

/** passlib's Base64 has full stops. */
function bytesOf(text = '', encoding: Encoding): Buffer {
  return Buffer.from(encoding === 'base64' ? text.replaceAll('.', '+') : text, encoding)
}

type Groups = Readonly<Record<string, string>>
type Encoding = 'base64' | 'hex' | 'utf8'
type Form = [
  pattern: RegExp,
  read: (groups: Groups, derived: Derived) => Matches,
  saltAs?: Encoding,
  keyAs?: Encoding,
]

const whole = (...raw: Parameters<typeof String.raw>) => new RegExp(`^${String.raw(...raw)}$`)
const base64 = '[A-Za-z0-9+/]+={0,2}'
const saltText = '(?<salt>[^$]+)'
const hexKey = String.raw`(?<key>(?:[\da-f]{2})+)`
const rounds = String.raw`(?<iterations>\d{1,10})`
const argon2 = String.raw`\$argon2(?:id|i|d)\$(?:v=(?<v>16|19)\$)?m=(?<m>\d{1,10}),t=(?<t>\d{1,10}),p=(?<p>\d{1,3})`

const forms: readonly Form[] = [
  [
    whole`(?:bcrypt(?<digested>_sha256)?\$)?(?<hash>\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53})`,
    readBcrypt,
  ],
  [whole`(?:argon2)?(?<phc>${argon2}\$(?<salt>${base64})\$(?<key>${base64}))`, readArgon2],
  // passlib leaves out `i=`, and both leave Base64 unpadded.
  [
    whole`\$pbkdf2(?:-(?<digest>sha1|sha256|sha512))?\$(?:i=)?${rounds}(?:,l=\d{1,3})?\$(?<salt>[./+A-Za-z0-9]+)\$(?<key>[./+A-Za-z0-9]+)`,
    readPbkdf2,
  ],
  [
    whole`pbkdf2_(?<digest>sha1|sha256)\$${rounds}\$${saltText}\$(?<key>${base64})`,
    readPbkdf2,
    'utf8',
  ],
  [
    whole`pbkdf2:(?<digest>sha1|sha256|sha512):${rounds}\$${saltText}\$${hexKey}`,
    readPbkdf2,
    'utf8',
    'hex',
  ],
  [
    whole`\$scrypt\$ln=(?<ln>\d{1,2}),r=(?<r>\d{1,7}),p=(?<p>\d{1,7})\$(?<salt>${base64})\$(?<key>${base64})`,
    readScrypt,
  ],
  [
    whole`scrypt\$(?<n>\d{1,10})\$${saltText}\$(?<r>\d{1,7})\$(?<p>\d{1,7})\$(?<key>${base64})`,
    readScrypt,
    'utf8',
  ],
  [
    whole`scrypt:(?<n>\d{1,10}):(?<r>\d{1,7}):(?<p>\d{1,7})\$${saltText}\$${hexKey}`,
    readScrypt,
    'utf8',
    'hex',
  ],
  // better-auth takes the salt's text, and normalizes the password.
  [whole`(?<salt>[\da-f]{32}):(?<key>[\da-f]{128})`, readBetterAuth, 'utf8', 'hex'],
]

/** bcrypt reads 72 bytes. */
function readBcrypt({ hash = '', cost, digested }: Groups): Matches {
  if (Number(cost) < 4) refuse('has a bcrypt cost below 4')
  if (Number(cost) > maxBcryptCost)
    refuse(`costs too much to verify: the bcrypt cost must be at most ${maxBcryptCost}`)
  return async (password) => {
    const { verify } = await import('@node-rs/bcrypt')
    return verify(digested === undefined ? password : digestOf('sha256', password, 'hex'), hash)
  }
}

function readArgon2({ phc = '', v, m, t, p }: Groups, { salt, key }: Derived): Matches {
  const memory = Number(m)
  const passes = Number(t)
  const lanes = Number(p)
  if (passes < 1 || lanes < 1 || memory < 8 * lanes) refuse('has invalid argon2 parameters')
  if (memory > maxArgon2Memory || memory * passes > maxArgon2Work || lanes > maxArgon2Lanes)
    refuse(
      `costs too much to verify: argon2 must use at most ${maxArgon2Memory} KiB (m), ` +
        `${maxArgon2Work} KiB in all passes (m * t) and ${maxArgon2Lanes} lanes (p)`,
    )
  if (salt.length < 8 || salt.length > 48) refuse('has a salt that is not 8 to 48 bytes long')
  if (key.length < minKey || key.length > 64)
    refuse(`has a key that is not ${minKey} to 64 bytes long`)
  // argon2's first version had no number, and the verifier takes that for the current one.
  const versioned = (v === undefined ? phc.replace('$m=', '$v=16$m=') : phc).replaceAll(
    /={1,2}(?=\$|$)/g,
    '',
  )
  return async (...spellings) => {
    const { verify } = await import('@node-rs/argon2')
    for (const spelling of new Set(spellings)) if (await verify(versioned, spelling)) return true
    return false
  }
}

function readPbkdf2(
  { digest: named = 'sha1', iterations: count }: Groups,
  { salt, key }: Derived,
): Matches {
  const digest = named as Digest
  const iterations = Number(count)
  refuseLength(key)
  if (iterations < 1) refuse('has no PBKDF2 iterations')
  if (iterations * Math.ceil(key.length / digestBytes[digest]) > maxIterations[digest])
    refuse(
      `costs too much to verify: PBKDF2 with ${digest} must have at most ${maxIterations[digest]} iterations`,
    )
  const derive = promisify(pbkdf2)
  return async (password) =>
    equalKeys(await derive(password, salt, iterations, key.length, digest), key)
}

function readScrypt(
  { ln, n = `${2 ** Number(ln)}`, ...others }: Groups,
  { salt, key }: Derived,
): Matches {
  const N = Number(n)
  const r = Number(others.r)
  const p = Number(others.p)
  refuseLength(key)
  // RFC 7914, section 6
  if (!Number.isInteger(Math.log2(N)) || N < 2 || r < 1 || p < 1 || Math.log2(N) >= 16 * r)
    refuse('has invalid scrypt parameters')
  if (N * r * p > maxScryptBlocks)
    refuse(`costs too much to verify: scrypt must have at most N * r * p = ${maxScryptBlocks}`)
  const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
  const options = { N, r, p, maxmem: 256 * 2 ** 20 }
  return async (password) => equalKeys(await derive(password, salt, key.length, options), key)
}

function readBetterAuth(_: Groups, derived: Derived): Matches {
  const matches = readScrypt({ n: '16384', r: '16', p: '1' }, derived)
  return (password, prepared) => matches(password.normalize('NFKC'), prepared)
}

function equalKeys(a: Buffer, b: Buffer): boolean {
  return equalSecrets(a.toString('base64'), b.toString('base64'))
}

function refuseLength(key: Buffer): void {
  if (key.length < minKey || key.length > maxKey)
    refuse(`has a key that is not ${minKey} to ${maxKey} bytes long`)
}

function refuse(reason: string): never {
  throw invalidField('passwordHash', reason, `The password hash ${reason}`)
}
