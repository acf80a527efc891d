// Compiles the validator of a schema at the first request that it checks. Fastify's own factory, which this replaces, loads AJV and
// compiles the schemas of all routes when the service starts: 100 ms and 10 MB (decision 0056).
import { createRequire } from 'node:module'
import type { Schema } from '../openapi/schema.ts'

type Validate = { (value: unknown): unknown; errors?: unknown[] | null }
type Compile = (definition: { schema: Schema }) => Validate
type ValidatorFactory = (schemas: Readonly<Record<string, Schema>>, options?: object) => Compile

/** AJV without its repairs: nothing is coerced, removed or filled in. It stops at the first fault (see faults.ts). */
const strictness = { allErrors: false, coerceTypes: false, removeAdditional: false, useDefaults: false }
/** The schemas are our own: validators.test.ts checks them against the rules of JSON Schema, and no start does. */
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
