// The target of a request. Its path has one spelling: the router decodes a path before it matches, so `/%6cogin` would be `/login`, and a
// proxy that limits or forbids `/login` would not notice; any other spelling is 404. Its query is parsed without Fastify's repairs: broken
// encoding is refused, and repeated names unless the route takes a list; numbers are decimal integers.
import type { preValidationHookHandler } from 'fastify'
import { CarillonError, invalidField, invalidRequest } from '../../basics/errors.ts'
import type { Schema } from '../openapi/schema.ts'
import { formFields } from './form.ts'

/** A percent-encoded letter, digit, `-`, `.`, `_` or `~`: no URI has to encode these (RFC 3986, section 2.3). */
const encodedUnreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i
/** A backslash counts as a slash: browsers and some proxies read it as one. */
const encodedSlash = /%(?:2f|5c)/i

/** The one parameter that may be any text: in it, and nowhere else, a slash may be sent as `%2F`. */
const freeText = ':externalId'

/** The path of a request target, without the query. An absolute form (`http://host/login`) has the same path. */
export function pathOf(target: string): string {
  const start = target.charCodeAt(0) === 0x2f ? 0 : target.indexOf('/', target.indexOf('://') + 3)
  const end = target.indexOf('?')
  if (start < 0 || (end >= 0 && end < start)) return ''
  return start === 0 && end < 0 ? target : target.slice(start, end < 0 ? undefined : end)
}

/** The longest path of ours has an external id: 255 characters of 4 bytes each, each byte as `%FF`. */
const maxEncodedPathLength = 3_200

/** A longer encoded path becomes one that no route has: the router decodes before any hook; 5,000 `%25` take 1 ms. */
export function targetToRoute(target: string): string {
  if (target.length <= maxEncodedPathLength) return target
  const path = pathOf(target)
  return path.length > maxEncodedPathLength && path.includes('%') ? '/-' : target
}

/** Whether a path, still encoded, has another spelling than its route. Without a route, no encoded slash is allowed. */
export function isOtherSpelling(path: string, route = ''): boolean {
  if (!path.includes('%')) return false
  return encodedUnreserved.test(path) || (encodedSlash.test(path) && !isWithinFreeText(path, route))
}

function isWithinFreeText(path: string, route: string): boolean {
  const pattern = route.split('/')
  const segments = path.split('/', pattern.length + 1)
  if (segments.length !== pattern.length) return false
  return segments.every((segment, i) => !encodedSlash.test(segment) || pattern[i] === freeText)
}

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
