// Refuses what JSON.parse accepts: bytes other than UTF-8, NUL, lone surrogates, repeated keys,
// deep nesting, keys that set a prototype (I2, I3, I5).
import { isUtf8 } from 'node:buffer'
import { invalidField } from './errors.ts'

export const maxDepth = 32

/** 120,000 keys block the event loop for 45 ms. A body may have three times as many values. */
export const maxKeys = 10_000

/** RFC 8259 and I-JSON (RFC 7493, section 2). */
export function parseJson(bytes: Buffer, max = maxKeys): unknown {
  if (bytes.length === 0) refuseBody('is empty')
  if (!isUtf8(bytes)) refuseBody('is not UTF-8')
  const text = bytes.toString('utf8')
  if (text.startsWith('\ufeff')) refuseBody('begins with a byte order mark; leave it out')
  const keys = keysIn(text, max)
  const value = parse(text)
  // JSON.parse keeps only the last of two equal keys.
  if (inspect(value) !== keys) refuseBody('contains a key twice in one object')
  return value
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"?/gs

function keysIn(text: string, max: number): number {
  let depth = 0
  let keys = 0
  let values = 0
  const outside = text.replace(strings, '')
  for (let n = 0; n < outside.length; n++) {
    const character = outside[n]
    const opens = character === '{' || character === '['
    if (opens && ++depth > maxDepth) refuseBody(`is nested deeper than ${maxDepth} levels`)
    if ((opens || character === ',') && ++values > max * 3)
      refuseBody(`contains more than ${max * 3} values`)
    if (character === ':' && ++keys > max) refuseBody(`contains more than ${max} keys`)
    if (character === '}' || character === ']') depth--
  }
  return keys
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // V8's message may quote a password.
    return refuseBody('is not JSON')
  }
}

/** Two readers may understand these differently. */
function inspect(value: unknown): number {
  if (typeof value === 'string') refuseText(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    refuseBody('contains a number that is out of range')
  if (typeof value !== 'object' || value === null) return 0
  let keys = 0
  if (Array.isArray(value)) for (const item of value) keys += inspect(item)
  else
    for (const key in value) keys += 1 + inspectField(key, (value as Record<string, unknown>)[key])
  return keys
}

function inspectField(key: string, value: unknown): number {
  refuseText(key)
  if (key === '__proto__') refuseBody('contains the key "__proto__"')
  if (key === 'constructor' && Object.hasOwn(Object(value), 'prototype'))
    refuseBody('contains the key "constructor" with "prototype" in it')
  return inspect(value)
}

function refuseText(text: string): void {
  if (text.includes('\0')) refuseBody('contains NUL')
  if (!text.isWellFormed()) refuseBody('contains half a surrogate pair')
}

export function refuseBody(reason: string): never {
  throw invalidField('body', reason, `The body ${reason}`)
}
