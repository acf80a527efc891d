// Parses a query without Fastify's repairs: refuses broken encoding, and repeated names unless the route takes a list; numbers are
// decimal integers.
import type { preValidationHookHandler } from 'fastify'
import { CarillonError, invalidRequest } from '../../errors.ts'
import type { Schema } from '../openapi/schema.ts'
import { formFields } from './strict-json.ts'

/** More than any route takes: a list takes 20 categories and 3 other fields. */
const maxFields = 32
const plain = /^[a-z]+=[\w-]+(?:&[a-z]+=[\w-]+)*$/

/**
 * A repeated name has an array of its values. If the text cannot be parsed, the refusal is returned as `cause`: the router has
 * no way to refuse, so `readQuery` does.
 */
export function parseQuery(text: string): Record<string, unknown> {
  if (text === '') return {}
  try {
    return parsePlain(text) ?? parseAny(text)
  } catch (cause) {
    const { details: [fault] = [] } = cause as CarillonError
    return { cause: invalidRequest([{ field: 'query', reason: fault?.reason ?? '' }], cause) }
  }
}

/** For a query that needs no decoding and repeats no name, as nearly every one: a tenth of the work. Undefined for another one. */
export function parsePlain(text: string): Record<string, unknown> | undefined {
  if (!plain.test(text)) return undefined
  const query: Record<string, unknown> = {}
  const pairs = text.split('&', maxFields + 1)
  if (pairs.length > maxFields) return undefined
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals)
    if (name in query) return undefined
    query[name] = pair.slice(equals + 1)
  }
  return query
}

function parseAny(text: string): Record<string, unknown> {
  const query = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of formFields(Buffer.from(text), maxFields)) {
    const earlier = query[name]
    query[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return query
}

const decimalInteger = /^(0|-?[1-9]\d*)$/

/**
 * Prepares a query for its schema: one value of a list becomes a list, and integers become numbers. 1.5, 1e3, 007 and an empty
 * text stay text, which the schema refuses.
 */
export function readQuery({ properties = {} }: Schema): preValidationHookHandler {
  const types = new Map(Object.entries(properties).map(([name, { type }]) => [name, type]))
  return (request, _reply, done) => {
    const query = request.query as Record<string, unknown>
    if (query.cause instanceof CarillonError) return done(query.cause)
    for (const name in query) {
      const value = query[name]
      const type = types.get(name)
      if (type === 'array') query[name] = [value].flat()
      else if (typeof value !== 'string')
        return done(invalidRequest([{ field: 'query', reason: 'contains a field twice' }]))
      else if (type === 'integer' && decimalInteger.test(value)) query[name] = Number(value)
    }
    done()
  }
}
