// Makes the OpenAPI 3.1 document from the route table, so that the published description cannot differ from what is served.
import { type ErrorCode, passwordFaults, secondFactorKinds, statusOf } from '../../basics/errors.ts'
import { type ResponseBody, type Route, type Tag, tags } from '../operation.ts'
import * as t from './schema.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

export type Document = ReturnType<typeof openApi>
export type Described = ReturnType<Description['operation']>
type Media = { schema: t.Schema; example?: unknown }
type Response = { description: string; content?: Record<string, Media> }
export type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: t.Schema }

/** What depends on the deployment. `url` is the public URL of the service. */
export type Deployment = { version: string; url: string; cookieName: string }

const tokenNote = 'An access token; for the inbox also a token of an issuer in CARILLON_ISSUERS'

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
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'at+jwt', description: tokenNote },
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
const pathParameters: Readonly<Record<string, t.Schema>> = {
  externalId: t.string(),
  category: t.string({ minLength: 1, maxLength: 64, description: 'The name of a category' }),
  provider: t.string({ description: 'The name of a provider in CARILLON_PROVIDERS' }),
  name: t.string({ maxLength: 200 }),
  key: t.string({ maxLength: 255 }),
}

const text = { schema: t.string() }
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

// The shapes of error responses: one component for each code, so that generated code knows which codes a route sends.

const Fault = t.component('Fault', {
  field: t.string(),
  reason: t.string(),
  code: t.optional(t.oneOf(passwordFaults, 'Why a password is refused')),
})

/** Fields that one code alone has. */
const fieldsOf: Partial<Record<ErrorCode, Parameters<typeof t.object>[0]>> = {
  SECOND_FACTOR_REQUIRED: {
    challenge: t.string('Send it with the factor, within 5 minutes'),
    factors: t.array(t.oneOf(secondFactorKinds), 'What completes the sign-in'),
    deviceToken: t.optional(t.string('From POST /password/reset with the variant `stateless` alone')),
  },
}

/** The spec's code of the restricted route differs from UNAUTHORIZED only in case, and names have no such difference. */
function nameOf(code: string): string {
  if (code === 'Unauthorized') return 'Restricted'
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function envelope(name: string, own: Parameters<typeof t.object>[0]): t.Schema {
  const message = t.example(t.string(), 'The service failed; its log has the reason under this request id')
  const shared = { message, requestId: t.example(t.string(), '1c7e4f0a-2n'), details: t.optional(t.array(Fault)) }
  const error = t.component(`${name}Problem`, { ...own, ...shared })
  return t.component(`${name}Error`, { success: t.constant(false), error })
}

/** Refusals by the request checks, before the route decides anything, and failures of the service. */
const codesOfAnyRoute = [
  'INTERNAL',
  'INVALID_REQUEST',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
] as const satisfies readonly ErrorCode[]
const refusalNote = 'A refusal that any route can send, in the same envelope'
const errorOfAnyRoute = envelope('General', { code: t.oneOf(codesOfAnyRoute), status: t.example(t.integer(), 500) })

/** Describes operations, and collects the components that they name: each once, with a reference to it wherever a schema contains it. */
class Description {
  // Made with the document, not at each start.
  readonly #errorOf = Object.fromEntries(
    Object.entries(statusOf).map(([code, status]) => [
      code,
      envelope(nameOf(code), { code: t.constant(code), status: t.constant(status), ...fieldsOf[code as ErrorCode] }),
    ]),
  ) as Record<ErrorCode, t.Schema>
  readonly #named = new Map<string, { schema: t.Schema; published: t.Schema }>()

  /** By name, so that a new route does not reorder the others. */
  get schemas(): Record<string, t.Schema> {
    const entries = [...this.#named].map(([name, { published }]) => [name, published] as const)
    return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  operation(route: Route) {
    const { id, tag, guard, operation } = route
    const { summary, body, acceptsForm, responses = { 204: 'none' } } = operation
    const parameters = this.#parameters(route)
    const successes = Object.entries(responses).map(
      ([status, shape]) => [status, this.#success(status, shape)] as const,
    )
    const refusals = [...Map.groupBy(refusalsOf(route), (code) => statusOf[code])]
    return {
      operationId: id,
      tags: [tag],
      summary,
      security: security[guard.name],
      ...(parameters.length > 0 && { parameters }),
      // As a second content type, the form would make openapi-python-client write code that does not run.
      ...(body && {
        requestBody: {
          required: true,
          ...(acceptsForm && { description: `Also accepted as a form (${form})` }),
          content: this.#content(body),
        },
      }),
      responses: {
        ...Object.fromEntries(successes),
        ...Object.fromEntries(refusals.map(([status, codes]) => [status, this.#refusal(codes)])),
        default: { description: refusalNote, content: this.#content(errorOfAnyRoute) },
      } as Record<string, Response>,
    }
  }

  #parameters({ path, operation }: Route): Parameter[] {
    const { query, headers = {} } = operation
    const fromPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
      const schema = pathParameters[name] ?? t.string({ format: 'uuid' })
      return { name, in: 'path', required: true, schema }
    })
    const fromQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => {
      const required = query?.required?.includes(name) && { required: true }
      return { name, in: 'query', ...required, schema: this.#publish(schema) }
    })
    const fromHeaders = Object.entries(headers).map(([name, description]) => {
      return { name, in: 'header', description, schema: t.string() }
    })
    return [...fromPath, ...fromQuery, ...fromHeaders]
  }

  #success(status: string, body: ResponseBody): Response {
    const description = meanings[status] ?? 'Done'
    if (body === 'none') return { description: `${description}; no body` }
    return { description, content: typeof body === 'string' ? documents[body] : this.#content(body) }
  }

  #refusal(codes: readonly ErrorCode[]): Response {
    const schemas = codes.map((code) => this.#publish(this.#errorOf[code]))
    const schema = schemas.length > 1 ? { anyOf: schemas } : (schemas[0] as t.Schema)
    return { description: codes.join(' or '), content: { [json]: { schema } } }
  }

  #content(schema: t.Schema): Record<string, Media> {
    return { [schema.contentMediaType ?? json]: { schema: this.#publish(schema), example: t.exampleOf(schema) } }
  }

  /** The schema as it is published. Throws if two different schemas have one name. */
  #publish(schema: t.Schema): t.Schema {
    const name = schema[t.componentName]
    if (name === undefined) return this.#copy(schema)
    const known = this.#named.get(name)
    if (known === undefined) this.#named.set(name, { schema, published: this.#copy(schema) })
    else if (known.schema !== schema) throw new Error(`two schemas have the name ${name}`)
    return { $ref: t.refTo(name) }
  }

  #copy(schema: t.Schema): t.Schema {
    const copyPart = (key: string, part: t.Schema | null) =>
      key !== '' && part?.[t.componentName] !== undefined ? this.#publish(part) : part
    return JSON.parse(JSON.stringify(schema, copyPart))
  }
}

function refusalsOf({ path, method, guard, operation }: Route): ErrorCode[] {
  const takesBody = operation.body !== undefined
  const codes: (ErrorCode | false)[] = [
    ...guard.refusals,
    ...(operation.refusals ?? []),
    (takesBody || operation.query !== undefined) && 'INVALID_REQUEST',
    method !== 'GET' && 'FORBIDDEN',
    path.includes(':') && 'NOT_FOUND',
    takesBody && 'PAYLOAD_TOO_LARGE',
    takesBody && 'UNSUPPORTED_MEDIA_TYPE',
    operation.anyHost !== true && 'MISDIRECTED_REQUEST',
    // The guard of every other route reads the store.
    guard.name !== 'open' && 'UNAVAILABLE',
  ]
  return [...new Set(codes.filter((code) => code !== false))]
}
