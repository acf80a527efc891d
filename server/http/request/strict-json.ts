// Parses a JSON or form body strictly. JSON.parse does the parsing; this file refuses what JSON.parse accepts: bytes that are not
// UTF-8, NUL, lone surrogates, a repeated key, keys that set a prototype, and deep nesting (SECURITY.md, I2, I3, I5).
import { isUtf8 } from 'node:buffer'
import { CarillonError } from '../../errors.ts'

export const maxDepth = 32

/**
 * Keys in one body, with three times as many values: more than the largest delivery needs, with 1,000 recipients and 8 KiB of data.
 * 120,000 keys took 45 ms of the event loop. An array of 500,000 numbers took 3 s, nearly all of it to find every fault.
 */
export const maxKeys = 10_000

/**
 * RFC 8259; for strings, keys and numbers also I-JSON (RFC 7493, section 2). Throws INVALID_REQUEST with field `body`;
 * a position in its reason counts UTF-16 units from 0. `max` limits keys at all depths, and three times as many values.
 */
export function parseJson(bytes: Buffer, max = maxKeys): unknown {
  const text = textOf(bytes)
  const colons = scan(text, max)
  const value = parse(text)
  // JSON.parse keeps only the last of two equal keys.
  if (inspect(value) !== colons) refuse('contains a key twice in one object')
  return value
}

function textOf(bytes: Buffer): string {
  if (bytes.length === 0) refuse('is empty')
  if (!isUtf8(bytes)) refuse('is not UTF-8')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) refuse('begins with a byte order mark; leave it out')
  return bytes.toString('utf8')
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
/** The bit 0x20 is the only difference between a brace and a square bracket. */
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * One pass over any text before it is parsed. Refuses nesting beyond `maxDepth`, and the escapes of NUL and of a lone surrogate.
 * (JSON.parse refuses a NUL that is not escaped, and an unescaped lone surrogate is not UTF-8.) Stops at the first key or value
 * beyond the limit. Returns the number of colons outside strings: the number of keys of any text that JSON.parse accepts.
 */
function scan(text: string, max: number): number {
  let [depth, keys] = [0, 0]
  // Commas and opening brackets: at least as many as the values inside the outermost value, if JSON.parse accepts the text.
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === quote) i = endOfString(text, i)
    else if (unit === colon) keys = oneMore(keys, max, 'keys')
    else if (unit === comma) values = oneMore(values, max * 3, 'values')
    else if ((unit | 0x20) === openBrace) {
      values = oneMore(values, max * 3, 'values')
      if (++depth > maxDepth) refuse(`is nested deeper than ${maxDepth} levels, at position ${i}`)
    } else if ((unit | 0x20) === closeBrace) depth--
  }
  return keys
}

function oneMore(count: number, max: number, kind: 'keys' | 'values'): number {
  return count < max ? count + 1 : refuse(`contains more than ${max} ${kind}`)
}

/** From the position of the opening quote to that of the closing one, or to the end of the text. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  for (; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === quote) return i
    if (unit === backslash) i = endOfEscape(text, i)
  }
  return i
}

function endOfEscape(text: string, start: number): number {
  const unit = escapedUnit(text, start)
  if (unit === undefined) return start + 1
  if (unit === 0) refuse(`contains NUL, at position ${start}`)
  if (unit < 0xd800 || unit > 0xdfff) return start + 5
  const next = escapedUnit(text, start + 6) ?? 0
  if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) refuse(`contains half a surrogate pair, at position ${start}`)
  return start + 11
}

function escapedUnit(text: string, at: number): number | undefined {
  if (text.charCodeAt(at) !== backslash || text.charCodeAt(at + 1) !== 0x75) return undefined
  const digits = text.slice(at + 2, at + 6)
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // V8's message is not passed on: it quotes the body, which may contain a password.
    return refuse('is not JSON')
  }
}

/** The keys in a parsed value. Refuses `__proto__`, `constructor` with a `prototype`, and numbers out of range. */
function inspect(value: unknown): number {
  if (typeof value === 'number' && !Number.isFinite(value)) refuse('contains a number that is out of range')
  if (typeof value !== 'object' || value === null) return 0
  return Array.isArray(value) ? inspectItems(value) : inspectFields(value as Record<string, unknown>)
}

function inspectItems(items: readonly unknown[]): number {
  let keys = 0
  for (const item of items) if (typeof item !== 'string') keys += inspect(item)
  return keys
}

function inspectFields(fields: Record<string, unknown>): number {
  if (Object.hasOwn(fields, '__proto__')) refuse('contains the key "__proto__"')
  let keys = 0
  for (const key in fields) {
    const field = fields[key]
    if (key === 'constructor' && Object.hasOwn(Object(field), 'prototype'))
      refuse('contains the key "constructor" with "prototype" in it')
    if (typeof field !== 'string') keys += inspect(field)
    keys++
  }
  return keys
}

/** Fields of a form: twice as many as any route takes. 11,000 fields took 20 ms of the event loop. */
export const maxFormFields = 8

/** The fields of a form, at most 8, each once. */
export function parseForm(bytes: Buffer): Record<string, string> {
  const fields = Object.create(null) as Record<string, string>
  for (const [name, value] of formFields(bytes, maxFormFields)) {
    if (name in fields) refuse('contains a field twice')
    fields[name] = value
  }
  return fields
}

/** The fields of a form or a query (URL Standard, section 5.1) in their order. Refuses what the standard would repair. */
export function formFields(bytes: Buffer, most: number): [name: string, value: string][] {
  if (!isUtf8(bytes)) refuse('is not UTF-8')
  const text = bytes.toString('utf8')
  const pairs = text === '' ? [] : text.split('&', most + 1)
  if (pairs.length > most) refuse(`contains more than ${most} fields`)
  return pairs.map((pair) => {
    const equals = pair.indexOf('=')
    const name = decodeForm(equals < 0 ? pair : pair.slice(0, equals))
    if (name === '') refuse('contains a field without a name')
    if (name === '__proto__') refuse('contains the field "__proto__"')
    return [name, equals < 0 ? '' : decodeForm(pair.slice(equals + 1))]
  })
}

function decodeForm(text: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return refuse('contains percent-encoding that is broken or is not UTF-8')
  }
  return decoded.includes('\0') ? refuse('contains NUL') : decoded
}

function refuse(reason: string): never {
  throw new CarillonError('INVALID_REQUEST', `The body ${reason}`, { details: [{ field: 'body', reason }] })
}
