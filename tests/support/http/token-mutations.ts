// Generates every mutation of the members of a token, from its header and claims, and of the
// token's text.
import { encode } from './forge.ts'

export type Members = Readonly<Record<string, unknown>>
/** `json` is the text of one part in which something was changed. */
export type MutatedPart = { what: string; json: string }

const others: Readonly<Record<string, (value: string) => unknown>> = {
  iss: () => 'https://other.example',
  aud: () => 'https://other.example',
  scope: () => 'users',
  from: () => 'inbox',
  alg: () => 'Ed25519',
  typ: () => 'JWT',
}

/** Another last hexadecimal digit names another user, sign-in, token or key. */
const withOtherEnd = (value: string) => value.slice(0, -1) + (value.endsWith('0') ? '1' : '0')

const strange: Readonly<Record<string, (value: unknown) => unknown>> = {
  null: () => null,
  true: () => true,
  false: () => false,
  'an object': () => ({}),
  'an empty list': () => [],
  'in a list': (value) => [value],
  'in an object': (value) => ({ value }),
}

const texts: Readonly<Record<string, (value: string, name: string) => unknown>> = {
  'a number': () => 7,
  empty: () => '',
  'in upper case': (value) => value.toUpperCase(),
  'in lower case': (value) => value.toLowerCase(),
  'longer by a blank': (value) => `${value} `,
  'longer by a blank before it': (value) => ` ${value}`,
  'longer by NUL': (value) => `${value}\0`,
  'longer by a slash': (value) => `${value}/`,
  shorter: (value) => value.slice(0, -1),
  other: (value, name) => (others[name] ?? withOtherEnd)(value),
  'in a list with another': (value) => [value, 'https://other.example'],
}

const numbers: Readonly<Record<string, (value: number) => unknown>> = {
  'a text': String,
  empty: () => '',
  zero: () => 0,
  'one less': (value) => value - 1,
  'one more': (value) => value + 1,
  negative: (value) => -value,
  'a fraction': (value) => value + 0.5,
  'in milliseconds': (value) => value * 1_000,
  huge: () => 1e300,
}

function valuesOf(name: string, value: unknown): [what: string, value: unknown][] {
  const kinds = typeof value === 'number' ? numbers : texts
  const changed = Object.entries({ ...strange, ...kinds }) as [
    string,
    (value: unknown, name: string) => unknown,
  ][]
  return changed.map(([what, change]) => [what, change(value, name)])
}

function mutationsOfMember(members: Members, name: string): MutatedPart[] {
  const value = members[name]
  const pairs = Object.entries(members)
  const renamed = (to: string) =>
    JSON.stringify(Object.fromEntries(pairs.map(([key, one]) => [key === name ? to : key, one])))
  const doubled = (first: unknown, second: unknown) => {
    const rest = JSON.stringify({ ...members, [name]: undefined }).slice(1, -1)
    return `{"${name}":${JSON.stringify(first)},${rest},"${name}":${JSON.stringify(second)}}`
  }
  const absent: MutatedPart = {
    what: `${name} missing`,
    json: JSON.stringify({ ...members, [name]: undefined }),
  }
  return [
    absent,
    ...valuesOf(name, value).map(([what, one]) => ({
      what: `${name} ${what}`,
      json: JSON.stringify({ ...members, [name]: one }),
    })),
    { what: `${name} renamed to upper case`, json: renamed(name.toUpperCase()) },
    {
      what: `${name} renamed with a capital`,
      json: renamed(name.slice(0, 1).toUpperCase() + name.slice(1)),
    },
    { what: `${name} renamed with a blank`, json: renamed(`${name} `) },
    { what: `${name} twice, equal`, json: doubled(value, value) },
    { what: `${name} twice, the right one first`, json: doubled(value, 'other') },
    { what: `${name} twice, the right one last`, json: doubled('other', value) },
    {
      what: `${name} with an escaped name`,
      json: JSON.stringify(members).replace(
        `"${name}"`,
        `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`,
      ),
    },
  ]
}

function spellingsOf(members: Members): MutatedPart[] {
  const json = JSON.stringify(members)
  return [
    { what: 'with a blank before it', json: ` ${json}` },
    { what: 'with a line break after it', json: `${json}\n` },
    { what: 'with blanks in it', json: JSON.stringify(members, null, 1) },
    { what: 'with a byte order mark', json: `\ufeff${json}` },
    { what: 'with a comma at the end', json: json.replace(/}$/, ',}') },
    { what: 'in a list', json: `[${json}]` },
    { what: 'in a text', json: JSON.stringify(json) },
    { what: 'twice', json: json + json },
    { what: 'empty', json: '{}' },
    { what: 'null', json: 'null' },
    { what: 'cut off', json: json.slice(0, -1) },
  ]
}

/** Other services write these members; each is added to those that are there. */
const additions: Readonly<Record<string, unknown>> = {
  crit: ['b64'],
  b64: false,
  jwk: { kty: 'OKP', crv: 'Ed25519', x: 'x' },
  jku: 'https://other.example/keys',
  x5u: 'https://other.example/keys',
  x5c: ['x'],
  cty: 'JWT',
  zip: 'DEF',
  enc: 'A256GCM',
  nbf: 'later',
  // Computed, so that it is a member and sets no prototype.
  ['__proto__']: { sub: 'x' },
}

function additionsTo(members: Members): MutatedPart[] {
  const absent = Object.entries(additions).filter(([name]) => !(name in members))
  return absent.map(([name, value]) => ({
    what: `${name} added`,
    json: JSON.stringify({ ...members, [name]: value }),
  }))
}

/** A change that leaves the text as it is, such as `false` for `false`, is none. */
export function mutationsOf(members: Members): MutatedPart[] {
  const all = [
    ...Object.keys(members).flatMap((name) => mutationsOfMember(members, name)),
    ...additionsTo(members),
    ...spellingsOf(members),
  ]
  return all.filter(({ json }) => json !== JSON.stringify(members))
}

/** The group of Ed25519 has this order (RFC 8032, section 5.1). */
const order = 2n ** 252n + 27742317777372353535851937790883648493n

/** A lenient check would accept S + L in place of S (RFC 8032, section 8.4). */
function malleated(signature: Buffer): Buffer {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order
  const bytes = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()
  return Buffer.concat([signature.subarray(0, 32), bytes])
}

/** The next character differs in bits that only a lenient decoder ignores, if there are any. */
function respelled(segment: string): string | undefined {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const other = segment.slice(0, -1) + (alphabet[alphabet.indexOf(segment.at(-1) ?? '') + 1] ?? '')
  return Buffer.from(other, 'base64url').equals(Buffer.from(segment, 'base64url'))
    ? other
    : undefined
}

export function mutationsOfText(token: string): Record<string, string> {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const signed = (of: Buffer | string) =>
    `${header}.${payload}.${typeof of === 'string' ? of : encode(of)}`
  const parts = { header, payload, signature }
  const join = (changed: Partial<typeof parts>) => Object.values({ ...parts, ...changed }).join('.')
  const spelled = Object.entries(parts).flatMap(([name, part]) => {
    const other = respelled(part)
    return [
      [`${name} padded`, join({ [name]: `${part}=` })],
      [`${name} padded twice`, join({ [name]: `${part}==` })],
      [`${name} with a plus`, join({ [name]: `+${part.slice(1)}` })],
      [`${name} with a slash`, join({ [name]: `/${part.slice(1)}` })],
      [`${name} shorter`, join({ [name]: part.slice(0, -1) })],
      [`${name} longer`, join({ [name]: `${part}A` })],
      [`${name} empty`, join({ [name]: '' })],
      [`${name} twice`, join({ [name]: part + part })],
      ...(other === undefined ? [] : [[`${name} with unused bits`, join({ [name]: other })]]),
    ]
  })
  return {
    ...Object.fromEntries(spelled),
    'signature one byte shorter': signed(bytes.subarray(0, -1)),
    'signature one byte longer': signed(Buffer.concat([bytes, Buffer.of(0)])),
    'signature of zeros': signed(Buffer.alloc(64)),
    'signature with its halves exchanged': signed(
      Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)]),
    ),
    'signature with S + L': signed(malleated(bytes)),
    'parts exchanged': `${payload}.${header}.${signature}`,
    'a fourth part': `${token}.${signature}`,
    'without a signature': `${header}.${payload}`,
  }
}
