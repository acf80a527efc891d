// JSON Schema (2020-12, as in OpenAPI 3.1) with the TypeScript type that it describes: one source for validation, types and the
// published document. A few lines instead of a library of 16 MB that takes 45 ms to load (decision 0012).

declare const described: unique symbol

/** A schema, and at compile time the type of the values that it accepts. */
export type Schema<Value = unknown> = {
  readonly [described]?: Value
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly contentSchema?: Schema
  readonly description?: string
  readonly $ref?: string
  readonly [keyword: string]: unknown
}
export type TypeOf<S> = S extends Schema<infer Value> ? Value : never

type Notes = Readonly<Record<string, unknown>>
type Fields = Readonly<Record<string, Schema>>
type Required<F extends Fields> = { [Name in keyof F]: TypeOf<F[Name]> }

export const string = (notes: Notes = {}): Schema<string> => ({ type: 'string', ...notes })
export const integer = (notes: Notes = {}): Schema<number> => ({ type: 'integer', ...notes })
export const boolean = (notes: Notes = {}): Schema<boolean> => ({ type: 'boolean', ...notes })
export const constant = <const Value>(value: Value): Schema<Value> => ({ const: value })
export const oneOf = <const Word extends string>(words: readonly Word[], notes: Notes = {}): Schema<Word> => ({
  type: 'string',
  enum: words,
  ...notes,
})
export const array = <S extends Schema>(items: S, notes: Notes = {}): Schema<TypeOf<S>[]> => ({
  type: 'array',
  items,
  ...notes,
})
export const record = <S extends Schema>(values: S, notes: Notes = {}): Schema<Record<string, TypeOf<S>>> => ({
  type: 'object',
  additionalProperties: values,
  ...notes,
})
/** A member of a request that may also be null, which means that it is absent: responses contain such nulls. */
export const orNull = <S extends Schema>(schema: S): Schema<TypeOf<S> | null> => ({
  ...(schema as Schema<TypeOf<S>>),
  type: [schema.type, 'null'].flat() as string[],
})
export const nullable = <S extends Schema>(schema: S): Schema<TypeOf<S> | null> => ({
  anyOf: [schema, { type: 'null' }],
})
export const anything: Schema<unknown> = {}
/** A schema of the document's components, by its name; the caller gives the type. */
export const ref = <Value = unknown>(name: string): Schema<Value> => ({ $ref: `#/components/schemas/${name}` })
export const anyOf = <const S extends readonly Schema[]>(...schemas: S): Schema<TypeOf<S[number]>> => ({
  anyOf: schemas,
})

/** An object with exactly these fields: an unknown field is refused. */
export function object<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional: O = {} as O,
  notes: Notes = {},
): Schema<Required<R> & Partial<Required<O>>> {
  const properties = { ...required, ...optional }
  return { type: 'object', properties, required: Object.keys(required), additionalProperties: false, ...notes }
}
