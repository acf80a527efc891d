// Reads openapi.json and checks responses against it, with Ajv in strict mode and JSON Schema
// 2020-12, as OpenAPI 3.1 requires.
import assert from 'node:assert/strict'
import { Ajv2020 as Ajv, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Seen } from './envelope.ts'

export type Schema = { readonly [keyword: string]: unknown }
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}
type Content = Record<string, { schema: Schema; example?: unknown }>
export type PromisedResponse = { description: string; content?: Content }
export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  security: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, PromisedResponse>
}
export type Described = { method: string; template: string; operation: Operation }
export type Document = {
  openapi: string
  info: { title: string; version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, Schema> }
}

export class DescribedApi {
  readonly document: Document
  readonly operations: readonly Described[]
  readonly #patterns: ReadonlyMap<Described, RegExp>
  /** By text: many operations have the same refusals, and to compile one takes milliseconds. */
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #ajv = new Ajv({ strict: true, allErrors: true })

  constructor(document: Document) {
    this.document = document
    this.operations = Object.entries(document.paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        template,
        operation,
      })),
    )
    this.#patterns = new Map(this.operations.map((one) => [one, patternOf(one.template)]))
    addFormats.default(this.#ajv)
    // OpenAPI has this keyword. It says which schema of a `oneOf` applies, and changes nothing
    // about what is valid.
    this.#ajv.addKeyword('discriminator')
    for (const [name, schema] of Object.entries(document.components.schemas))
      this.#ajv.addSchema(JSON.parse(reachable(schema)), `component:${name}`)
  }

  /** Throws if the schema is invalid or has a dangling reference. */
  compile(schema: Schema): (value: unknown) => string[] {
    const text = reachable(schema)
    const validate = this.#compiled.get(text) ?? this.#ajv.compile(JSON.parse(text))
    this.#compiled.set(text, validate)
    return (value) => {
      validate(value)
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${instancePath || 'it'} ${message}`,
      )
    }
  }

  /** A literal path takes precedence over one with parameters. */
  find(method: string, path: string): Described | undefined {
    const bare = path.split('?', 1)[0] as string
    const fits = this.operations.filter(
      (one) => one.method === method && this.#patterns.get(one)?.test(bare),
    )
    return fits.find(({ template }) => template === bare) ?? fits[0]
  }

  resolve(schema: Schema): Schema {
    const name = (schema.$ref as string | undefined)?.split('/').at(-1)
    return name === undefined ? schema : (this.document.components.schemas[name] as Schema)
  }

  codesOf({ content }: PromisedResponse): string[] {
    const schema = this.resolve(content?.['application/json']?.schema ?? {})
    return [schema.anyOf ?? schema].flat().flatMap((one) => {
      const error = this.#property(this.resolve(one as Schema), 'error')
      const code = this.#property(error, 'code')
      return (code.enum ?? [code.const]) as string[]
    })
  }

  #property({ properties }: Schema, name: string): Schema {
    return this.resolve((properties as Record<string, Schema>)[name] as Schema)
  }

  /**
   * Throws unless the document describes this response. Returns the status under which it is
   * listed.
   */
  promises({ method, template, operation }: Described, response: Seen): string {
    const place = `${method} ${template} got ${response.status}`
    const listed =
      String(response.status) in operation.responses ? String(response.status) : 'default'
    const promised = operation.responses[listed]
    assert.ok(promised, `${place}, which is not described`)
    assert.ok(
      listed !== 'default' || response.status >= 400,
      `${place}, which is described as a refusal`,
    )
    if (promised.content === undefined) {
      if (promised.description === 'No body' || response.status === 204 || response.status === 304)
        assert.equal(response.text, '', `${place} with a body that is not described`)
      return listed
    }
    const type = response.headers.get('content-type')?.split(';')[0] ?? 'nothing'
    const described = promised.content[type]
    assert.ok(described, `${place} with ${type}, which is not described`)
    if (type !== 'application/json') return listed
    assert.deepEqual(
      this.compile(described.schema)(JSON.parse(response.text)),
      [],
      `${place} with ${response.text}`,
    )
    return listed
  }
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/{\w+}/g, '[^/]+')}$`)
}

/** Ajv knows the components by these names. */
function reachable(schema: Schema): string {
  return JSON.stringify(schema).replaceAll('#/components/schemas/', 'component:')
}
