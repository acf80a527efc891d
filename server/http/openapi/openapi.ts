// The document follows from the route table, so it cannot differ from what is served.
import { type ErrorCode, passwordFaults, secondFactorKinds, statusOf } from '../../basics/errors.ts'
import { type ResponseBody, type Route, tags } from '../operation.ts'
import * as t from './schema.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

export type Document = ReturnType<typeof openApi>
export type Described = ReturnType<typeof describe>
type Paths = Record<string, Record<string, Described>>
type Media = { schema: t.Schema; example?: unknown }
type Response = { description: string; content?: Record<string, Media> }
export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: t.Schema
}

type Deployment = { version: string; url: string; cookieName: string }

const tokenNote = 'An access token; for the inbox also a token of an issuer in CARILLON_ISSUERS'

export function openApi(routes: readonly Route[], { version, url, cookieName }: Deployment) {
  const errors = errorShapes()
  const described: Paths = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    described[path] = { ...described[path], [route.method.toLowerCase()]: describe(route, errors) }
  }
  const { paths, schemas } = withReferences(described)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Carillon',
      version,
      summary: 'Sign-in and a notification inbox for any application.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    tags: Object.entries(tags)
      .filter(([name]) => routes.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: 'The cookie of a stateful sign-in',
        },
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'at+jwt', description: tokenNote },
        producer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A producer key, `crl_<id>_<secret>`',
        },
      },
    },
  }
}

/** Some generators offer only the first scheme, and programs use tokens. */
const security: Record<Route['guard']['name'], readonly object[]> = {
  open: [],
  visitor: [{}, { token: [] }, { session: [] }],
  user: [{ token: [] }, { session: [] }],
  token: [{ token: [] }],
  producer: [{ producer: [] }],
  operator: [{ session: [] }],
}

const meanings: Readonly<Record<string, string>> = {
  201: 'Created',
  202: 'Accepted',
  302: 'The address is in `Location`',
  303: 'The address is in `Location`',
  304: 'Nothing changed since that ETag',
}

const pathParameters: Readonly<Record<string, t.Schema>> = {
  externalId: t.string(),
  category: t.string({ minLength: 1, maxLength: 64, description: 'The name of a category' }),
  provider: t.string({ description: 'The name of a provider in CARILLON_PROVIDERS' }),
  name: t.string({ maxLength: 200 }),
  key: t.string({ maxLength: 255 }),
  keyId: t.string({ description: 'The id of a producer key: 16 hexadecimal digits' }),
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

// Each code has a component, so generated code knows which codes a route sends.

const Fault = t.component('Fault', {
  field: t.string(),
  reason: t.string(),
  code: t.optional(t.oneOf(passwordFaults, 'Why a password is refused')),
})

const fieldsOf: Partial<Record<ErrorCode, Parameters<typeof t.object>[0]>> = {
  SECOND_FACTOR_REQUIRED: {
    challenge: t.string(
      'Send it with the factor, within 5 minutes. Empty from POST /api/me/confirm, which takes the factor itself',
    ),
    factors: t.array(t.oneOf(secondFactorKinds), 'What completes the sign-in'),
    deviceToken: t.optional(
      t.string('From POST /password/reset with the variant `stateless` alone'),
    ),
  },
}

/** The restricted route's code differs from UNAUTHORIZED only in case. */
function nameOf(code: string): string {
  if (code === 'Unauthorized') return 'Restricted'
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function envelope(name: string, own: Parameters<typeof t.object>[0]): t.Schema {
  const message = t.example(
    t.string(),
    'The service failed; its log has the reason under this request id',
  )
  const shared = {
    message,
    requestId: t.example(t.string(), '1c7e4f0a-2n'),
    details: t.optional(t.array(Fault)),
  }
  const error = t.component(`${name}Problem`, { ...own, ...shared })
  return t.component(`${name}Error`, { success: t.constant(false), error })
}

const codesOfAnyRoute = [
  'INTERNAL',
  'INVALID_REQUEST',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
] as const satisfies readonly ErrorCode[]
const refusalNote = 'A refusal that any route can send, in the same envelope'
const errorOfAnyRoute = envelope('General', {
  code: t.oneOf(codesOfAnyRoute),
  status: t.example(t.integer(), 500),
})

type Errors = Readonly<Record<ErrorCode, t.Schema>>

function errorShapes(): Errors {
  const shapes = Object.entries(statusOf).map(([code, status]) => [
    code,
    envelope(nameOf(code), {
      code: t.constant(code),
      status: t.constant(status),
      ...fieldsOf[code as ErrorCode],
    }),
  ])
  return Object.fromEntries(shapes)
}

function describe(route: Route, errors: Errors) {
  const { id, tag, guard, operation } = route
  const { summary, body, acceptsForm, responses = { 204: 'none' } } = operation
  const parameters = parametersOf(route)
  const successes = Object.entries(responses).map(([status, shape]) => [
    status,
    success(status, shape),
  ])
  const refusals = [...Map.groupBy(refusalsOf(route), (code) => statusOf[code])]
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: security[guard.name],
    ...(parameters.length > 0 && { parameters }),
    // For a second content type, openapi-python-client would write code that does not run.
    ...(body && {
      requestBody: {
        required: true,
        ...(acceptsForm && { description: `Also accepted as a form (${form})` }),
        content: contentOf(body),
      },
    }),
    responses: {
      ...Object.fromEntries(successes),
      ...Object.fromEntries(refusals.map(([status, codes]) => [status, refusal(codes, errors)])),
      default: { description: refusalNote, content: contentOf(errorOfAnyRoute) },
    } as Record<string, Response>,
  }
}

function parametersOf({ path, operation }: Route): Parameter[] {
  const { query, headers = {} } = operation
  const fromPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    return {
      name,
      in: 'path',
      required: true,
      schema: pathParameters[name] ?? t.string({ format: 'uuid' }),
    }
  })
  const fromQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    return { name, in: 'query', ...(query?.required?.includes(name) && { required: true }), schema }
  })
  const fromHeaders = Object.entries(headers).map(([name, description]) => {
    return { name, in: 'header', description, schema: t.string() }
  })
  return [...fromPath, ...fromQuery, ...fromHeaders]
}

function success(status: string, body: ResponseBody): Response {
  const description = meanings[status] ?? 'Done'
  if (body === 'none') return { description: `${description}; no body` }
  return { description, content: typeof body === 'string' ? documents[body] : contentOf(body) }
}

function refusal(codes: readonly ErrorCode[], errors: Errors): Response {
  const schemas = codes.map((code) => errors[code])
  const schema = schemas.length > 1 ? { anyOf: schemas } : (schemas[0] as t.Schema)
  return { description: codes.join(' or '), content: { [json]: { schema } } }
}

function contentOf(schema: t.Schema): Record<string, Media> {
  return { [schema.contentMediaType ?? json]: { schema, example: t.exampleOf(schema) } }
}

function withReferences(described: Paths) {
  const named = new Map<string, t.Schema>()
  const reference = (key: string, part: t.Schema | null) => {
    const name = part?.[t.componentName]
    if (part === null || key === '' || name === undefined) return part
    if ((named.get(name) ?? part) !== part) throw new Error(`two schemas have the name ${name}`)
    named.set(name, part)
    return { $ref: t.refTo(name) }
  }
  const copy = <Whole>(whole: Whole): Whole => JSON.parse(JSON.stringify(whole, reference))
  const paths = copy(described)
  const schemas: [string, t.Schema][] = []
  for (const [name, schema] of named) schemas.push([name, copy(schema)])
  // A new route then does not reorder the others.
  return {
    paths,
    schemas: Object.fromEntries(schemas.sort(([one], [other]) => (one < other ? -1 : 1))),
  }
}

function refusalsOf({ path, method, guard, operation }: Route): ErrorCode[] {
  const takesBody = operation.body !== undefined
  const codes: (ErrorCode | false)[] = [
    ...guard.refusals,
    ...(operation.refusals ?? []),
    (takesBody || operation.query !== undefined) && 'INVALID_REQUEST',
    (method !== 'GET' || operation.takesPlace === true) && 'FORBIDDEN',
    path.includes(':') && 'NOT_FOUND',
    takesBody && 'PAYLOAD_TOO_LARGE',
    takesBody && 'UNSUPPORTED_MEDIA_TYPE',
    operation.anyHost !== true && 'MISDIRECTED_REQUEST',
    guard.name !== 'open' && 'UNAVAILABLE',
  ]
  return [...new Set(codes.filter((code) => code !== false))]
}
