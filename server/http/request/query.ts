// Parses a query without Fastify's repairs: refuses broken encoding, and repeated names unless the route takes a list; numbers are
// decimal integers.
import type { preValidationHookHandler } from 'fastify'
import { CarillonError, invalidField, invalidRequest } from '../../basics/errors.ts'
import type { Schema } from '../openapi/schema.ts'
import { formFields } from './form.ts'

/** More than any route takes: a list takes 20 categories and 3 other fields. */
const maxFields = 32

/**
 * A repeated name has an array of its values. If the text cannot be parsed, the refusal is returned as `cause`: the router has
 * no way to refuse, so `readQuery` does.
 */
export function parseQuery(text: string): Record<string, unknown> {
  if (text === '') return {}
  try {
    const query: Record<string, unknown> = {}
    for (const [name, value] of formFields(text, maxFields))
      query[name] = Object.hasOwn(query, name) ? [query[name], value].flat() : value
    return query
  } catch (cause) {
    const { details: [fault] = [] } = cause as CarillonError
    return { cause: invalidRequest([{ field: 'query', reason: fault?.reason ?? '' }], cause) }
  }
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
      else if (typeof value !== 'string') return done(invalidField('query', 'contains a field twice'))
      else if (type === 'integer' && decimalInteger.test(value)) query[name] = Number(value)
    }
    done()
  }
}
