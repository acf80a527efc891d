// The components of the OpenAPI document: every named schema once, and a reference to it wherever another schema contains it.
import { componentName, refTo, type Schema } from './schema.ts'

export class Components {
  readonly #named = new Map<string, { schema: Schema; published: Schema }>()

  /** The schema as it is published. Throws if two different schemas have one name. */
  publish(schema: Schema): Schema {
    const name = schema[componentName]
    if (name === undefined) return this.#copy(schema) as Schema
    const known = this.#named.get(name)
    if (known === undefined) this.#named.set(name, { schema, published: this.#copy(schema) as Schema })
    else if (known.schema !== schema) throw new Error(`two schemas have the name ${name}`)
    return { $ref: refTo(name) }
  }

  /** By name, so that a new route does not reorder the others. */
  get schemas(): Record<string, Schema> {
    const entries = [...this.#named].map(([name, { published }]) => [name, published] as const)
    return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#part(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, this.#part(part)]))
  }

  #part(value: unknown): unknown {
    const isNamed = typeof value === 'object' && value !== null && componentName in value
    return isNamed ? this.publish(value as Schema) : this.#copy(value)
  }
}
