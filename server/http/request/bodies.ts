// Parses bodies and queries strictly (I2, I3, I5), without Fastify's repairs. The first request
// compiles a validator: all would cost a start 100 ms and 10 MB (decision 0056).
import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { CarillonError, type Fault, invalidRequest } from '../../basics/errors.ts'
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import { parseJson, refuseBody } from '../../basics/strict-json.ts'
import type { Schema } from '../openapi/schema.ts'

const form = 'application/x-www-form-urlencoded'
const maxFieldsByDefault = 8
/** Parsing such a body blocks the event loop for a millisecond. */
const largeBytes = 16 * 1024

export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const whole = { parseAs: 'buffer' } as const
  app.addContentTypeParser(
    'application/json',
    whole,
    async (request: FastifyRequest, body: Buffer) => {
      refuseOtherCharset(request)
      if (body.length > largeBytes) await yieldToEventLoop()
      if (body.length === 0) return null
      return parseJson(body, request.routeOptions.config.operation?.maxFields ?? maxFieldsByDefault)
    },
  )
  app.addContentTypeParser(
    'multipart/form-data',
    whole,
    async (request: FastifyRequest, body: Buffer) => {
      if (!request.routeOptions.config.operation?.acceptsMultipart)
        throw unsupported('The body must be sent as application/json')
      return parseOneField(body)
    },
  )
  app.addContentTypeParser(form, whole, async (request: FastifyRequest, body: Buffer) => {
    if (!request.routeOptions.config.operation?.acceptsForm)
      throw unsupported('The body must be sent as application/json')
    refuseOtherCharset(request)
    return { ...parseForm(body) }
  })
}

/**
 * RFC 8058, section 3.1: mail programs may send their one field as multipart. Libraries describe it
 * further, before or behind its name.
 */
const descriptions = String.raw`(?:content-[tl][^\r\n]{1,80}\r\n){0,3}`
const nameOfField = String.raw`content-disposition: form-data; name="([\w-]{1,40})"\r\n`
const oneField = new RegExp(
  String.raw`^--[^\r\n]+\r\n${descriptions}${nameOfField}${descriptions}\r\n([^\r\n]{0,100})\r\n--`,
  'i',
)

function parseOneField(body: Buffer): Record<string, string> {
  const [, name, value = ''] = oneField.exec(body.toString('latin1')) ?? []
  return name === undefined ? refuseBody('is not one field of one line') : { [name]: value }
}

const charsets = /;[ \t]*charset[ \t]*=[ \t]*"?([^ \t;"]*)/gi

/** RFC 8259, section 8.1. Fastify and `\s` take 0xA0 for a space; a proxy does not. */
function refuseOtherCharset({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  if (type === 'application/json') return
  if (/[^\t -~]/.test(type))
    throw unsupported('The Content-Type must be ASCII, such as application/json')
  for (const [, charset = ''] of type.matchAll(charsets))
    if (!/^utf-?8$/i.test(charset)) throw unsupported('The body must be sent as UTF-8')
}

export function unsupported(problem: string): CarillonError {
  return new CarillonError('UNSUPPORTED_MEDIA_TYPE', problem)
}

/** 11,000 fields take 20 ms of the event loop. */
export const maxFormFields = 8

export function parseForm(bytes: Buffer): Record<string, string> {
  if (!isUtf8(bytes)) refuseBody('is not UTF-8')
  const fields = Object.create(null) as Record<string, string>
  for (const [name, value] of formFields(bytes.toString('utf8'), maxFormFields)) {
    if (name in fields) refuseBody('contains a field twice')
    fields[name] = value
  }
  return fields
}

/** Parses as the URL Standard, section 5.1, but refuses what that repairs. */
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
  if (/^[\w-]*$/.test(text)) return text
  if (text.includes('\0') || text.includes('%00')) refuseBody('contains NUL')
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return refuseBody('contains percent-encoding that is broken or is not UTF-8')
  }
}

export const compilersFactory = {
  buildValidator: () => checkOf as never,
  buildSerializer: () => () => JSON.stringify,
}

function checkOf({ schema, httpPart }: { schema: Schema; httpPart: string }) {
  return (value: unknown) =>
    validatorOf(schema)(value) || { error: invalidRequest(faultsIn(schema, value, httpPart)) }
}

type SchemaFault = Omit<FastifySchemaValidationError, 'schemaPath'>
type Validate = { (value: unknown): boolean; errors?: SchemaFault[] | null }

/** AJV's repairs stop at the first fault. schemas.test.ts checks our schemas. */
const customOptions = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  validateSchema: false,
}
let compile: ((definition: { schema: Schema }) => Validate) | undefined

function validatorOf(schema: Schema): Validate {
  compile ??= fastifysCompiler()
  return compile({ schema })
}

/** Fastify calls a check without waiting, so this imports nothing dynamically. */
function fastifysCompiler(): NonNullable<typeof compile> {
  const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
  return ofFastify('@fastify/ajv-compiler')()({}, { customOptions })
}

const maxUnknownFields = 8

/** Reports the first fault of each field: finding all in 500,000 recipients takes up to 3 s. */
function faultsIn(schema: Schema, value: unknown, part: string): Fault[] {
  const hasFields = schema.properties !== undefined && typeof value === 'object' && value !== null
  const faults =
    hasFields && !Array.isArray(value) ? faultsOfFields(schema, value as Fields, part) : []
  return faults.length > 0 ? faults : firstFault(schema, value, part)
}

type Fields = Readonly<Record<string, unknown>>

function faultsOfFields(
  { properties = {}, required = [] }: Schema,
  value: Fields,
  part: string,
): Fault[] {
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  const present = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name))
  const ofValues = present.flatMap(([name, schema]) =>
    firstFault(schema, value[name], name, [name]),
  )
  if (part !== 'body') for (const fault of ofValues) fault.field = fault.field.replace(/\.\d+$/, '')
  return [
    ...required
      .filter((name) => !Object.hasOwn(value, name))
      .map((field) => ({ field, reason: 'is missing' })),
    ...unknown
      .slice(0, maxUnknownFields)
      .map((name) => ({ field: name || part, reason: 'is not a known field' })),
    ...ofValues,
  ]
}

function firstFault(
  schema: Schema,
  value: unknown,
  whole: string,
  within: readonly string[] = [],
): Fault[] {
  const validate = validatorOf(schema)
  return validate(value)
    ? []
    : firstOf(validate.errors ?? []).map((fault) => faultOf(fault, within, whole))
}

/** If there are several variants, takes the fault in the one of the value's type. */
function firstOf(faults: readonly SchemaFault[]): SchemaFault[] {
  const last = faults.at(-1)
  if (last?.keyword !== 'anyOf') return faults.slice(0, 1)
  const ofWhole = faults.filter(({ instancePath }) => instancePath === last.instancePath)
  const inner = faults.find(
    (fault) => !ofWhole.includes(fault) || !['type', 'enum', 'anyOf'].includes(fault.keyword),
  )
  const types = ofWhole.flatMap(({ keyword, params }) => (keyword === 'type' ? [params.type] : []))
  const unlisted = ofWhole.find(({ keyword }) => keyword === 'enum')
  return [inner ?? unlisted ?? { ...last, keyword: 'type', params: { type: types } }]
}

function faultOf(fault: SchemaFault, within: readonly string[], whole: string): Fault {
  const { instancePath, keyword, params, message = 'is not valid' } = fault
  const named = params.missingProperty ?? params.additionalProperty
  const path = [
    ...within,
    ...instancePath.split('/').slice(1),
    ...(named === undefined ? [] : [named]),
  ]
  const sentence = sentences[keyword]?.replace('#', String(params.limit))
  return {
    field: path.join('.') || whole,
    reason: sentence ?? reasons[keyword]?.(params) ?? message,
  }
}

const formats: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'a time such as 2026-12-02T09:14:05.120Z',
}

const sentences: Record<string, string> = {
  required: 'is missing',
  additionalProperties: 'is not a known field',
  minimum: 'must be at least #',
  maximum: 'must be at most #',
  maxLength: 'must have at most # characters',
  maxItems: 'must have at most # entries',
  minProperties: 'must have at least # of its fields',
  maxProperties: 'must have at most # of its fields',
}

const reasons: Record<string, (params: SchemaFault['params']) => string> = {
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  enum: ({ allowedValues }) =>
    `must be one of: ${(allowedValues as unknown[]).map(String).join(', ')}`,
  type: ({ type }) =>
    `must be ${type === 'integer' ? 'a whole number in decimal digits' : `of the type ${[type].flat().join(' or ')}`}`,
  format: ({ format }) => `must be ${formats[String(format)] ?? `a ${format}`}`,
  minLength: ({ limit }) =>
    `must have at least ${limit} ${limit === 1 ? 'character' : 'characters'}`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
}
