// Makes the OpenAPI 3.1 document from the route table, so that the published description cannot differ from what is served.
import { type ErrorCode, statusOf } from '../../errors.ts'
import type { Guard } from '../request/guards.ts'
import { type ResponseBody, type Route, tags } from '../routes/operation.ts'
import { type Schema, string } from './schema.ts'
import { responses } from './schemas.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

export type Document = ReturnType<typeof openApi>
export type Described = ReturnType<typeof describe>
type Response = { description: string; content?: Record<string, { schema: Schema }> }
export type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }

/** `url` is the public URL of the service. */
export function openApi(routes: readonly Route[], { version, url }: { version: string; url: string }) {
  const paths: Record<string, Record<string, Described>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Carillon',
      version,
      summary: 'Sign-in and a notification inbox for any application.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: tagsOf(routes),
    servers: [{ url }],
    paths,
    components: {
      schemas: responses,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'carillon',
          description: '`__Host-carillon` on HTTPS, `__Secure-carillon` if the public URL has a path',
        },
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'at+jwt' },
        producer: { type: 'http', scheme: 'bearer', description: 'A producer key, `crl_<id>_<secret>`' },
      },
    },
  }
}

/** Those that are in use, in the order of their table. */
function tagsOf(routes: readonly Route[]) {
  const used = new Set(routes.map(({ operation }) => operation.tag))
  return Object.entries(tags).flatMap(([name, description]) =>
    used.has(name as keyof typeof tags) ? [{ name, description }] : [],
  )
}

const security: Record<Guard<unknown>['name'], readonly object[]> = {
  open: [],
  visitor: [{}, { session: [] }, { token: [] }],
  user: [{ session: [] }, { token: [] }],
  token: [{ token: [] }],
  producer: [{ producer: [] }],
}

function describe(route: Route) {
  const { path, guard, operation } = route
  const { summary, query, headers = {}, body, acceptsForm } = operation
  const id = string({ format: 'uuid' })
  const fromPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    return { name, in: 'path', required: true, schema: id }
  })
  const fromQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    return { name, in: 'query', ...(query?.required?.includes(name) && { required: true }), schema }
  })
  const fromHeaders = Object.entries(headers).map(([name, description]) => {
    return { name, in: 'header', description, schema: string() }
  })
  const successes = Object.entries(operation.responses).map(([status, response]) => {
    return [status, describeResponse(response, status === '304' ? 'Nothing changed since that ETag' : 'Done')] as const
  })
  const parameters: Parameter[] = [...fromPath, ...fromQuery, ...fromHeaders]
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary,
    security: security[guard.name],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { [json]: { schema: body }, ...(acceptsForm && { [form]: { schema: body } }) },
      },
    }),
    responses: {
      ...Object.fromEntries(successes),
      ...describeRefusals(route),
      default: describeResponse(['Error'], 'Any other refusal, in the same envelope'),
    },
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
    UNAVAILABLE: true,
  }
  const ofChecks = Object.entries(applies).flatMap(([code, isSent]) => (isSent ? [code as ErrorCode] : []))
  return [...new Set([...guard.refusals, ...(operation.refusals ?? []), ...ofChecks])]
}

function describeRefusals(route: Route): Record<string, Response> {
  const byStatus = Map.groupBy(refusalsOf(route), (code) => statusOf[code])
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, describeResponse(['Error'], codes.join(' or '))]),
  )
}

function describeResponse(response: ResponseBody, description: string): Response {
  if (response === 'none') return { description: `${description}; no body` }
  if (response === 'text') return { description }
  if (response === 'events') return { description, content: { 'text/event-stream': { schema: eventText } } }
  const refs = response.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  return { description, content: { [json]: { schema: refs.length > 1 ? { anyOf: refs } : { ...refs[0] } } } }
}

const eventText = {
  type: 'string',
  contentMediaType: 'text/event-stream',
  contentSchema: { $ref: '#/components/schemas/StreamEvent' },
  description:
    'Events; the `data` of each is a StreamEvent as one line of JSON, and the `id` of those with a version is a position',
}
