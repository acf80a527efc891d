// One source for validation (JSON Schema 2020-12, as in OpenAPI 3.1), types and the document. A
// library would have 16 MB and load in 45 ms (decision 0008).

declare const described: unique symbol
/** Neither JSON nor the validator sees symbols. */
export const componentName = Symbol('component')
const ownExample = Symbol('example')

export type Schema<Value = unknown> = {
  readonly [described]?: Value
  readonly [componentName]?: string
  readonly [ownExample]?: unknown
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly contentMediaType?: string
  readonly contentSchema?: Schema
  readonly description?: string
  readonly $ref?: string
  readonly [keyword: string]: unknown
}
export type TypeOf<S> = S extends Schema<infer Value> ? Value : never

type Notes = Readonly<Record<string, unknown>> | string
type Optional<S extends Schema> = { readonly optional: S }
type Members = Readonly<Record<string, Schema>>
type Fields = Readonly<Record<string, Schema | Optional<Schema>>>
type Names<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Optional<Schema> ? never : Name
}[keyof F]
type Required<F extends Fields> = { [Name in Names<F>]: TypeOf<F[Name]> }
type Others<F extends Fields> = {
  [Name in Exclude<keyof F, Names<F>>]?: F[Name] extends Optional<infer S> ? TypeOf<S> : never
}
type ObjectOf<F extends Fields> = Schema<Required<F> & Others<F>>

const keywords = (notes: Notes) => (typeof notes === 'string' ? { description: notes } : notes)

const typed = <Value>(type: string, notes: Notes, more = {}): Schema<Value> => ({
  type,
  ...more,
  ...keywords(notes),
})
export const string = (notes: Notes = {}) => typed<string>('string', notes)
export const text = (minLength: number, maxLength: number, notes: Notes = {}) =>
  typed<string>('string', notes, { ...(minLength > 0 && { minLength }), maxLength })
export const integer = (notes: Notes = {}) => typed<number>('integer', notes)
export const boolean = (notes: Notes = {}) => typed<boolean>('boolean', notes)
export const constant = <const Value extends string | number | boolean>(
  value: Value,
): Schema<Value> => ({
  type: typeof value === 'number' ? 'integer' : typeof value,
  const: value,
})
export const oneOf = <const Word extends string>(words: readonly Word[], notes: Notes = {}) =>
  typed<Word>('string', notes, { enum: words })
export const array = <S extends Schema>(items: S, notes: Notes = {}) =>
  typed<TypeOf<S>[]>('array', notes, { items })
export const record = <S extends Schema>(values: S, notes: Notes = {}) =>
  typed<Record<string, TypeOf<S>>>('object', notes, { additionalProperties: values })
export const optional = <S extends Schema>(schema: S): Optional<S> => ({ optional: schema })
/** In a request, null means absent. */
export const orNull = <S extends Schema>(schema: S): Schema<TypeOf<S> | null> => ({
  ...(schema as Schema<TypeOf<S>>),
  type: [schema.type, 'null'].flat() as string[],
  ...(schema.enum && { enum: [...schema.enum, null] }),
})
export const nullable = <S extends Schema>(schema: S) => anyOf(schema, typed<null>('null', {}))
export const allNullable = <M extends Members>(members: M) =>
  mapped(members, nullable) as { [Name in keyof M]: Schema<TypeOf<M[Name]> | null> }
export const allOptional = <M extends Members>(members: M) =>
  mapped(members, (one) => optional(orNull(one))) as {
    [Name in keyof M]: Optional<Schema<TypeOf<M[Name]> | null>>
  }
const mapped = (members: Members, change: (schema: Schema) => Fields[string]) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, change(schema)]))
export const anything: Schema<unknown> = {}
export const named = <S extends Schema>(name: string, schema: S): S => ({
  ...schema,
  [componentName]: name,
})
export const refTo = (name: string): string => `#/components/schemas/${name}`
export const anyOf = <const S extends readonly Schema[]>(...all: S): Schema<TypeOf<S[number]>> => ({
  anyOf: all,
})

/** Generated code selects the variant by the constant `field`. */
export function discriminated<const S extends readonly Schema[]>(
  field: string,
  members: S,
): Schema<TypeOf<S[number]>> {
  const entries = members.map((one) => [
    one.properties?.[field]?.const,
    refTo(one[componentName] as string),
  ])
  return {
    oneOf: members,
    discriminator: { propertyName: field, mapping: Object.fromEntries(entries) },
  }
}

export function object<const F extends Fields>(fields: F, notes: Notes = {}): ObjectOf<F> {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => !isOptional(field)).map(([name]) => name)
  const schemas = entries.map(([name, field]) => [name, isOptional(field) ? field.optional : field])
  const properties = Object.fromEntries(schemas) as Record<string, Schema>
  return { type: 'object', properties, required, additionalProperties: false, ...keywords(notes) }
}

function isOptional(field: Schema | Optional<Schema>): field is Optional<Schema> {
  return 'optional' in field
}

export function component<const F extends Fields>(
  name: string,
  fields: F,
  notes: Notes = {},
): ObjectOf<F> {
  return named(name, object(fields, notes))
}

export function dataOf<S extends Schema>(data: S, name = data[componentName]) {
  return component(`${name}Response`, { success: constant(true), data })
}

export const example = <S extends Schema>(schema: S, value: TypeOf<S>): S => ({
  ...schema,
  [ownExample]: value,
})

export function exampleOf<S extends Schema>(schema: S): TypeOf<S>
export function exampleOf(schema: Schema): unknown {
  const { properties = {}, required = [], items, enum: words, minimum = 0, type } = schema
  const [variant] = schema.anyOf ?? schema.oneOf ?? []
  if (ownExample in schema) return schema[ownExample]
  if ('const' in schema) return schema.const
  if (words !== undefined) return words[0]
  if (variant !== undefined) return exampleOf(variant) ?? null
  if (items !== undefined) return [exampleOf(items)]
  const [kind] = [type].flat()
  if (kind !== 'object') return { boolean: false, integer: minimum }[String(kind)]
  const displayed = Object.entries(properties).filter(
    ([name, one]) => required.includes(name) || ownExample in one,
  )
  return Object.fromEntries(displayed.map(([name, member]) => [name, exampleOf(member)]))
}

export const uuid = (notes: Notes = {}) =>
  example(string({ format: 'uuid', ...keywords(notes) }), '019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70')
export const id = uuid('UUIDv7')
export const timeOf = (description: string) =>
  example(string({ format: 'date-time', description }), '2026-11-02T09:14:05.120Z')
export const time = timeOf('ISO 8601 UTC with milliseconds')
export const expiresAt = example(time, '2026-12-02T09:14:05.120Z')

export const nextAs = (field: string) =>
  example(nullable(string(`Send it as \`${field}\` for the page that follows`)), null)
export const pageOf = <S extends Schema>(name: string, item: S, notes: Notes = {}) =>
  component(name, { items: array(item, notes), next: nextAs('after') })
export const limit = (maximum: number, initial: number) =>
  optional(integer({ minimum: 1, maximum, default: initial }))
export const cursor = {
  after: optional(text(0, 64, '`next` of an earlier page')),
  limit: limit(100, 20),
}
