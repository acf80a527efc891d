// Checks queries and bodies against the schemas of their routes, and says which fields are invalid and what would be valid. A validator is
// compiled at the first request that it checks. Fastify's own factory, which this replaces, loads AJV and compiles the schemas of all routes
// when the service starts: 100 ms and 10 MB (decision 0056).
import { createRequire } from 'node:module'
import type { FastifyError, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { Fault } from '../../basics/errors.ts'
import type { Schema } from '../openapi/schema.ts'

type Validate = { (value: unknown): unknown; errors?: unknown[] | null }
type Compile = (definition: { schema: Schema }) => Validate
type ValidatorFactory = (schemas: Readonly<Record<string, Schema>>, options?: object) => Compile

/** AJV without its repairs: nothing is coerced, removed or filled in. It stops at the first fault. */
const strictness = { allErrors: false, coerceTypes: false, removeAdditional: false, useDefaults: false }
/** The schemas are our own: validation.test.ts checks them against the rules of JSON Schema, and no start does. */
const options = { customOptions: { ...strictness, validateSchema: false } }

export const compilersFactory = {
  buildValidator: validatorsOnDemand as never,
  buildSerializer: () => () => JSON.stringify,
}

function validatorsOnDemand(schemas: Readonly<Record<string, Schema>>): Compile {
  let compile: Compile | undefined
  return (definition) => {
    let compiled: Validate | undefined
    const validate: Validate = (value) => {
      compile ??= fastifysCompiler()(schemas, options)
      compiled ??= compile(definition)
      const isValid = compiled(value)
      validate.errors = compiled.errors ?? null
      return isValid
    }
    return validate
  }
}

/** The package that Fastify depends on. Not a dynamic import: Fastify calls a validator and does not wait. */
function fastifysCompiler(): ValidatorFactory {
  const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
  return ofFastify('@fastify/ajv-compiler')()
}

const maxUnknownFields = 8

/** Each field up to its first fault: to find all in 500,000 recipients or 10,000 unknown fields takes up to 3 s. */
export function faultsOf(error: FastifyError, request: FastifyRequest): Fault[] {
  const { validation = [], validationContext = 'body' } = error
  const schema = request.routeOptions.schema?.[validationContext as 'body' | 'querystring'] as Schema | undefined
  const value = validationContext === 'body' ? request.body : request.query
  const first = validation.slice(0, 1).map((fault) => faultOf(fault, [], validationContext))
  if (schema?.properties === undefined || typeof value !== 'object' || value === null || Array.isArray(value))
    return first
  const ofValues = faultsOfValues(schema, value, request)
  // A query has no inner fields: the entry of a list is reported under the name of the list.
  if (validationContext !== 'body') for (const fault of ofValues) fault.field = fault.field.replace(/\.\d+$/, '')
  const faults = [...faultsOfNames(schema, value, validationContext), ...ofValues]
  return faults.length === 0 ? first : faults
}

/** A field with an empty name is reported as `whole`: the body or the query. */
function faultsOfNames({ properties = {}, required = [] }: Schema, value: object, whole: string): Fault[] {
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const unknown: string[] = []
  for (const name in value) {
    if (!Object.hasOwn(properties, name)) unknown.push(name)
    if (unknown.length === maxUnknownFields) break
  }
  return [
    ...missing.map((field) => ({ field, reason: 'is missing' })),
    ...unknown.map((name) => ({ field: name === '' ? whole : name, reason: 'is not a known field' })),
  ]
}

function faultsOfValues({ properties = {} }: Schema, value: object, request: FastifyRequest): Fault[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (!Object.hasOwn(value, name)) return []
    const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema)
    if (validate((value as Record<string, unknown>)[name]) !== false) return []
    return (validate.errors ?? []).slice(0, 1).map((fault) => faultOf(fault as SchemaFault, [name], name))
  })
}

type SchemaFault = Omit<FastifySchemaValidationError, 'schemaPath'>

function faultOf(fault: SchemaFault, within: string[], whole: string): Fault {
  const { instancePath, keyword, params, message = 'is not valid' } = fault
  const named = params.missingProperty ?? params.additionalProperty
  const path = [...within, ...instancePath.split('/').slice(1), ...(named === undefined ? [] : [named])]
  return { field: path.join('.') || whole, reason: reasons[keyword]?.(params) ?? message }
}

const reasons: Record<string, (params: SchemaFault['params']) => string> = {
  required: () => 'is missing',
  additionalProperties: () => 'is not a known field',
  enum: ({ allowedValues }) => `must be one of: ${(allowedValues as unknown[]).map(String).join(', ')}`,
  type: ({ type }) =>
    `must be ${type === 'integer' ? 'a whole number in decimal digits' : `of the type ${[type].flat().join(' or ')}`}`,
  format: ({ format }) => `must be ${format === 'uuid' ? 'a UUID' : `a ${format}`}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'character' : 'characters'}`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
  maxItems: ({ limit }) => `must have at most ${limit} entries`,
  minProperties: ({ limit }) => `must have at least ${limit} of its fields`,
  maxProperties: ({ limit }) => `must have at most ${limit} of its fields`,
}
