// Parses bodies strictly, and the fields of a query in the same way (SECURITY.md, I2, I3, I5), without Fastify's repairs.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CarillonError } from '../../basics/errors.ts'
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import { parseJson, refuseBody } from '../../basics/strict-json.ts'

const maxFieldsByDefault = 8
/** A body of at least this size is parsed in its own share of the event loop: that and its delivery take a millisecond. */
const largeBytes = 16 * 1024

export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    refuseOtherCharset(request)
    if (body.length > largeBytes) await yieldToEventLoop()
    if (body.length === 0) return null
    return parseJson(body, request.routeOptions.config.operation?.maxFields ?? maxFieldsByDefault)
  })
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (!request.routeOptions.config.operation?.acceptsForm)
        throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
      refuseOtherCharset(request)
      return { ...parseForm(body) }
    },
  )
}

const charsets = /;[ \t]*charset[ \t]*=[ \t]*"?([^ \t;"]*)/gi

/** Bodies are UTF-8 (RFC 8259, section 8.1). ASCII only: Fastify and `\s` read 0xA0 as a space, a proxy does not. */
function refuseOtherCharset({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  if (type === 'application/json') return
  if (/[^\t -~]/.test(type))
    throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be ASCII, such as application/json')
  for (const [, charset = ''] of type.matchAll(charsets))
    if (!/^utf-?8$/i.test(charset)) throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as UTF-8')
}

/** Fields of a form: twice as many as any route takes. 11,000 fields take 20 ms of the event loop. */
export const maxFormFields = 8

/** The fields of a form, at most 8, each once. */
export function parseForm(bytes: Buffer): Record<string, string> {
  if (!isUtf8(bytes)) refuseBody('is not UTF-8')
  const fields = Object.create(null) as Record<string, string>
  for (const [name, value] of formFields(bytes.toString('utf8'), maxFormFields)) {
    if (name in fields) refuseBody('contains a field twice')
    fields[name] = value
  }
  return fields
}

/** The fields of a form or a query (URL Standard, section 5.1) in their order. Refuses what the standard would repair. */
export function formFields(text: string, most: number): [name: string, value: string][] {
  const pairs = text === '' ? [] : text.split('&', most + 1)
  if (pairs.length > most) refuseBody(`contains more than ${most} fields`)
  return pairs.map((pair) => {
    const equals = pair.indexOf('=')
    const name = decodeForm(equals < 0 ? pair : pair.slice(0, equals))
    if (name === '') refuseBody('contains a field without a name')
    if (name === '__proto__') refuseBody('contains the field "__proto__"')
    return [name, equals < 0 ? '' : decodeForm(pair.slice(equals + 1))]
  })
}

function decodeForm(text: string): string {
  // A tenth of the work, for nearly every field of a query.
  if (/^[\w-]*$/.test(text)) return text
  if (text.includes('\0') || text.includes('%00')) refuseBody('contains NUL')
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return refuseBody('contains percent-encoding that is broken or is not UTF-8')
  }
}
