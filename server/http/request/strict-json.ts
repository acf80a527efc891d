// What does this body say? JSON.parse says it, and this file refuses what JSON.parse lets through: bytes that are not
// UTF-8, NUL, half surrogate pairs, a key twice, keys that reach for a prototype, endless nesting (TRUST I2, I3, I5).

import { isUtf8 } from 'node:buffer'
import { CarillonError } from '../../errors.ts'

/** Objects and arrays inside one another. */
export const maxDepth = 32

/**
 * Keys in one body, with three times as many values: more than the largest delivery needs, 1,000 recipients and 8 KiB of data.
 * 120,000 keys took 45 ms of the event loop, and an array of 500,000 numbers 3 s, most of it in finding every fault.
 */
export const maxKeys = 10_000

/**
 * The value of a JSON body (RFC 8259, and I-JSON of RFC 7493, section 2, as to strings, keys and numbers). Throws
 * `INVALID_REQUEST` with the field `body` and the reason; a position counts UTF-16 units from 0. `most` is the largest number
 * of keys at every depth together; values may be three times as many.
 */
export function parseJson(bytes: Buffer, most = maxKeys): unknown {
  const text = textOf(bytes)
  const colons = scan(text, most)
  const value = parse(text)
  if (inspect(value) !== colons) refuse(repeatedKey(text))
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
/** With the bit 0x20 set, a square bracket is a brace. */
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * One pass over the text before it is parsed, true for any text: refuses nesting beyond `maxDepth` and the escapes of
 * NUL and of half a pair. (Written out, NUL is refused by JSON.parse and half a pair is not UTF-8.) Stops at the first
 * key or value too many.
 * Returns how many colons stand outside strings: in a text that JSON.parse accepts, its number of keys.
 */
function scan(text: string, most: number): number {
  let [depth, keys] = [0, 0]
  // Commas and opening brackets: in a text that JSON.parse accepts, no fewer than the values within the outermost.
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === quote) i = endOfString(text, i)
    else if (unit === colon) keys = oneMore(keys, most, 'keys')
    else if (unit === comma) values = oneMore(values, most * 3, 'values')
    else if ((unit | 0x20) === openBrace) {
      values = oneMore(values, most * 3, 'values')
      if (++depth > maxDepth) refuse(`is nested deeper than ${maxDepth} levels, at position ${i}`)
    } else if ((unit | 0x20) === closeBrace) depth--
  }
  return keys
}

function oneMore(count: number, most: number, ofWhat: string): number {
  return count < most ? count + 1 : refuse(`contains more than ${most} ${ofWhat}`)
}

/** From the position of the opening quote to that of the closing one, or beyond the text. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  for (; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === quote) return i
    if (unit === backslash) i = endOfEscape(text, i)
  }
  return i
}

/** From the position of a backslash to that of the last unit that it covers. */
function endOfEscape(text: string, start: number): number {
  const unit = escapedUnit(text, start)
  if (unit === undefined) return start + 1
  if (unit === 0) refuse(`contains NUL, at position ${start}`)
  if (unit < 0xd800 || unit > 0xdfff) return start + 5
  const next = escapedUnit(text, start + 6) ?? 0
  if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) refuse(`contains half a surrogate pair, at position ${start}`)
  return start + 11
}

/** The UTF-16 unit that `\uXXXX` at this position stands for; undefined where there is none. */
function escapedUnit(text: string, at: number): number | undefined {
  if (text.charCodeAt(at) !== backslash || text.charCodeAt(at + 1) !== 0x75) return undefined
  const digits = text.slice(at + 2, at + 6)
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return refuse(`is not JSON${placeOf(error, text)}`)
  }
}

/** What V8's message tells about the place, and nothing else of it: it quotes the body, which may hold a password. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const position = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position) return `, at position ${position}`
  if (message.startsWith('Unexpected end')) return `: it ends too early, at position ${text.length}`
  const token = /^Unexpected token '(.)'/u.exec(message)?.[1]
  return token ? `: unexpected ${JSON.stringify(token)}` : ''
}

/**
 * Goes through the parsed value, which is at most `maxDepth` deep, and returns its number of keys. Refuses `__proto__`,
 * `constructor` with a `prototype` in it, and numbers that only fit as Infinity.
 */
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
    if (key === 'constructor' && holdsPrototype(field)) refuse('contains the key "constructor" with "prototype" in it')
    if (typeof field !== 'string') keys += inspect(field)
    keys++
  }
  return keys
}

function holdsPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

/** Names the first key that its object has twice. Only for a text that JSON.parse accepts. */
function repeatedKey(text: string): string {
  const open: Set<string>[] = []
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') open.push(new Set())
    if (text[i] === '}') open.pop()
    if (text[i] !== '"') continue
    const end = endOfString(text, i)
    if (isFollowedByColon(text, end)) {
      const key = JSON.parse(text.slice(i, end + 1)) as string
      if (open.at(-1)?.has(key)) return `contains the key ${shown(key)} twice, at position ${i}`
      open.at(-1)?.add(key)
    }
    i = end
  }
  return 'contains a key twice'
}

function isFollowedByColon(text: string, end: number): boolean {
  let i = end + 1
  while (text[i] === ' ' || text[i] === '\t' || text[i] === '\n' || text[i] === '\r') i++
  return text[i] === ':'
}

function shown(name: string): string {
  return JSON.stringify([...name.slice(0, 80)].slice(0, 40).join(''))
}

/** Fields of a form or a query: twice what a route takes. 11,000 of them took 20 ms of the event loop. */
export const maxFormFields = 8

/**
 * The fields of an `application/x-www-form-urlencoded` body (URL Standard, section 5.1), each name once, in an object
 * without prototype, 8 at most. Stricter than the standard, which repairs: wrong percent-encoding or UTF-8 and NUL are refused.
 */
export function parseForm(bytes: Buffer): Record<string, string> {
  if (!isUtf8(bytes)) refuse('is not UTF-8')
  const fields = Object.create(null) as Record<string, string>
  const text = bytes.toString('utf8')
  const pairs = text === '' ? [] : text.split('&', maxFormFields + 1)
  if (pairs.length > maxFormFields) refuse(`contains more than ${maxFormFields} fields`)
  for (const pair of pairs) {
    const cut = pair.indexOf('=')
    const name = decodeForm(cut < 0 ? pair : pair.slice(0, cut))
    if (name === '') refuse('contains a field without a name')
    if (name === '__proto__') refuse('contains the field "__proto__"')
    if (name in fields) refuse(`contains the field ${shown(name)} twice`)
    fields[name] = cut < 0 ? '' : decodeForm(pair.slice(cut + 1))
  }
  return fields
}

function decodeForm(text: string): string {
  const decoded = percentDecode(text.replaceAll('+', ' '))
  return decoded.includes('\0') ? refuse('contains NUL') : decoded
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('contains percent-encoding that is broken or is not UTF-8')
  }
}

function refuse(reason: string): never {
  throw new CarillonError('INVALID_REQUEST', `The body ${reason}`, { details: [{ field: 'body', reason }] })
}
