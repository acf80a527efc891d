// Makes the OpenAPI 3.1 document from the route table, so that the published description cannot differ from what is served.
import { type ErrorCode, statusOf } from '../../basics/errors.ts'
import { type ResponseBody, type Route, type Tag, tags } from '../operation.ts'
import { errorSchemas } from './error-schemas.ts'
import { componentName, exampleOf, refTo, type Schema, string } from './schema.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

export type Document = ReturnType<typeof openApi>
export type Described = ReturnType<Description['operation']>
type Media = { schema: Schema; example?: unknown }
type Response = { description: string; content?: Record<string, Media> }
export type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }

/** What depends on the deployment. `url` is the public URL of the service. */
export type Deployment = { version: string; url: string; cookieName: string }

export function openApi(routes: readonly Route[], { version, url, cookieName }: Deployment) {
  const description = new Description()
  const paths: Record<string, Record<string, Described>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: description.operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Carillon',
      version,
      summary: 'Sign-in and a notification inbox for any application.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    tags: tagsOf(routes),
    paths,
    components: {
      schemas: description.schemas,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: cookieName, description: 'The cookie of a stateful sign-in' },
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'at+jwt',
          description: 'An access token; for the inbox also a token of an issuer in CARILLON_ISSUERS',
        },
        producer: { type: 'http', scheme: 'bearer', description: 'A producer key, `crl_<id>_<secret>`' },
      },
    },
  }
}

/** Those that are in use, in the order of their table. */
function tagsOf(routes: readonly Route[]) {
  const used = new Set(routes.map(({ tag }) => tag))
  return Object.entries(tags).flatMap(([name, description]) => (used.has(name as Tag) ? [{ name, description }] : []))
}

/** The token comes first: some generators offer the first scheme only, and a program that is no browser uses tokens. */
const security: Record<Route['guard']['name'], readonly object[]> = {
  open: [],
  visitor: [{}, { token: [] }, { session: [] }],
  user: [{ token: [] }, { session: [] }],
  token: [{ token: [] }],
  producer: [{ producer: [] }],
}

const meanings: Readonly<Record<string, string>> = {
  201: 'Created',
  202: 'Accepted',
  302: 'The address is in `Location`',
  303: 'The address is in `Location`',
  304: 'Nothing changed since that ETag',
}

/** Path parameters that are not a UUID. */
const pathParameters: Readonly<Record<string, Schema>> = {
  externalId: string(),
  category: string({ minLength: 1, maxLength: 64, description: 'The name of a category' }),
  provider: string({ description: 'The name of a provider in CARILLON_PROVIDERS' }),
  name: string({ maxLength: 200 }),
  key: string({ maxLength: 255 }),
}

const text = { schema: string() }
const documents = {
  json: { [json]: { schema: { type: 'object' } } },
  lines: { 'application/x-ndjson': text },
  html: { 'text/html': text },
  text: { 'text/plain': text },
  css: { 'text/css': text },
  script: { 'text/javascript': text },
  image: { 'image/svg+xml': text, 'image/png': text },
  asset: { 'text/javascript': text, 'text/css': text, 'image/svg+xml': text },
} as const

/** Describes operations, and collects the components that they name. */
class Description {
  readonly #components = new Components()
  readonly #errors = errorSchemas()

  get schemas(): Record<string, Schema> {
    return this.#components.schemas
  }

  operation(route: Route) {
    const { id, tag, guard, operation } = route
    const { summary, body, acceptsForm } = operation
    const parameters = this.#parameters(route)
    const media = body && this.#media(body)
    return {
      operationId: id,
      tags: [tag],
      summary,
      security: security[guard.name],
      ...(parameters.length > 0 && { parameters }),
      // As a second content type, the form would make openapi-python-client write code that does not run.
      ...(media && {
        requestBody: {
          required: true,
          ...(acceptsForm && { description: `Also accepted as a form (${form})` }),
          content: { [json]: media },
        },
      }),
      responses: { ...this.#successes(route), ...this.#refusals(route), default: this.#anyRefusal() },
    }
  }

  #parameters({ path, operation }: Route): Parameter[] {
    const { query, headers = {} } = operation
    const fromPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
      const schema = pathParameters[name] ?? string({ format: 'uuid' })
      return { name, in: 'path', required: true, schema }
    })
    const fromQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => {
      const required = query?.required?.includes(name) && { required: true }
      return { name, in: 'query', ...required, schema: this.#components.publish(schema) }
    })
    const fromHeaders = Object.entries(headers).map(([name, description]) => {
      return { name, in: 'header', description, schema: string() }
    })
    return [...fromPath, ...fromQuery, ...fromHeaders]
  }

  #successes({ operation }: Route): Record<string, Response> {
    const entries = Object.entries(operation.responses ?? { 204: 'none' as const }).map(([status, body]) => {
      return [status, this.#success(body, meanings[status] ?? 'Done')] as const
    })
    return Object.fromEntries(entries)
  }

  #success(body: ResponseBody, description: string): Response {
    if (body === 'none') return { description: `${description}; no body` }
    if (typeof body === 'string') return { description, content: documents[body] }
    return { description, content: { [body.contentMediaType ?? json]: this.#media(body) } }
  }

  #refusals(route: Route): Record<string, Response> {
    const byStatus = Map.groupBy(refusalsOf(route), (code) => statusOf[code])
    const entries = [...byStatus].map(([status, codes]) => {
      const schemas = codes.map((code) => this.#components.publish(this.#errors.ofCode[code]))
      const schema = schemas.length > 1 ? { anyOf: schemas } : (schemas[0] as Schema)
      return [status, { description: codes.join(' or '), content: { [json]: { schema } } }] as const
    })
    return Object.fromEntries(entries)
  }

  #anyRefusal(): Response {
    const content = { [json]: this.#media(this.#errors.ofAnyRoute) }
    return { description: 'A refusal that any route can send, in the same envelope', content }
  }

  #media(schema: Schema): Media {
    return { schema: this.#components.publish(schema), example: exampleOf(schema) }
  }
}

function refusalsOf({ path, method, guard, operation }: Route): ErrorCode[] {
  const takesBody = operation.body !== undefined
  const applies: Partial<Record<ErrorCode, boolean>> = {
    INVALID_REQUEST: takesBody || operation.query !== undefined,
    FORBIDDEN: method !== 'GET',
    NOT_FOUND: path.includes(':'),
    PAYLOAD_TOO_LARGE: takesBody,
    UNSUPPORTED_MEDIA_TYPE: takesBody,
    MISDIRECTED_REQUEST: operation.anyHost !== true,
    // The guard of every other route reads the store.
    UNAVAILABLE: guard.name !== 'open',
  }
  const ofChecks = Object.entries(applies).flatMap(([code, isSent]) => (isSent ? [code as ErrorCode] : []))
  return [...new Set([...guard.refusals, ...(operation.refusals ?? []), ...ofChecks])]
}

/** Every named schema once, and a reference to it wherever another schema contains it. */
class Components {
  readonly #named = new Map<string, { schema: Schema; published: Schema }>()

  /** The schema as it is published. Throws if two different schemas have one name. */
  publish(schema: Schema): Schema {
    const name = schema[componentName]
    if (name === undefined) return this.#copy(schema)
    const known = this.#named.get(name)
    if (known === undefined) this.#named.set(name, { schema, published: this.#copy(schema) })
    else if (known.schema !== schema) throw new Error(`two schemas have the name ${name}`)
    return { $ref: refTo(name) }
  }

  /** By name, so that a new route does not reorder the others. */
  get schemas(): Record<string, Schema> {
    const entries = [...this.#named].map(([name, { published }]) => [name, published] as const)
    return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  #copy(schema: Schema): Schema {
    const copyPart = (key: string, part: Schema | null) =>
      key !== '' && part?.[componentName] !== undefined ? this.publish(part) : part
    return JSON.parse(JSON.stringify(schema, copyPart))
  }
}
