// The route table -> an OpenAPI 3.1 document. What is published is made from what is served, so it cannot drift.
import { statusOf } from '../../errors.ts'
import type { Guard } from '../request/guards.ts'
import type { HttpResponse, Route } from '../routes/operation.ts'
import { responses } from './schemas.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

export function openApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
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
    paths,
    components: {
      schemas: responses,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'carillon', description: '`__Host-carillon` on HTTPS' },
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'at+jwt' },
        producer: { type: 'http', scheme: 'bearer', description: 'A producer key, `crl_<id>_<secret>`' },
      },
    },
  }
}

const security: Record<Guard<unknown>['name'], readonly object[]> = {
  open: [],
  user: [{ session: [] }, { token: [] }],
  token: [{ token: [] }],
  producer: [{ producer: [] }],
}

function describe(route: Route): object {
  const { path, method, guard, operation } = route
  const { summary, query, headers = {}, body, acceptsForm } = operation
  const fromPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  }))
  const { properties = {}, required = [] } = (query ?? {}) as {
    properties?: Record<string, object>
    required?: string[]
  }
  const fromQuery = Object.entries(properties).map(([name, schema]) => {
    return { name, in: 'query', ...(required.includes(name) && { required: true }), schema }
  })
  const fromHeaders = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }))
  const parameters = [...fromPath, ...fromQuery, ...fromHeaders]
  return {
    summary,
    operationId: operationId(method, path),
    security: security[guard.name],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { [json]: { schema: body }, ...(acceptsForm && { [form]: { schema: body } }) },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          describeResponse(response, meaningOf(Number(status))),
        ]),
      ),
      ...Object.fromEntries(refusals(route).map((status) => [status, describeResponse(['Error'], codesOf(status))])),
      default: describeResponse(['Error'], 'Any other refusal, in the same envelope'),
    },
  }
}

/** The refusals that follow from what a route is; its own are among its answers. */
function refusals({ path, method, guard, operation }: Route): number[] {
  const takesBody = operation.body !== undefined
  const followsFrom: readonly (readonly [status: number, follows: boolean])[] = [
    [400, takesBody || operation.query !== undefined],
    [401, guard.name !== 'open' || path === '/login'],
    [403, method !== 'GET'],
    [404, path.includes(':')],
    [413, takesBody],
    [415, takesBody],
    [421, operation.anyHost !== true],
    [503, true],
  ]
  return followsFrom.flatMap(([status, follows]) => (follows && !(status in operation.responses) ? [status] : []))
}

function codesOf(status: number): string {
  const codes = Object.entries(statusOf).filter(([, statusOfCode]) => statusOfCode === status)
  return codes.map(([code]) => code).join(' or ')
}

function meaningOf(status: number): string {
  if (status === 304) return 'Nothing changed since that ETag'
  return status < 400 ? 'Done' : codesOf(status)
}

function describeResponse(response: HttpResponse, description: string): object {
  if (response === 'none') return { description: `${description}; no body` }
  if (response === 'text') return { description }
  if (response === 'events') return { description, content: { 'text/event-stream': { schema: eventText } } }
  const refs = response.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  return { description, content: { [json]: { schema: refs.length === 1 ? refs[0] : { anyOf: refs } } } }
}

const eventText = {
  type: 'string',
  contentMediaType: 'text/event-stream',
  contentSchema: { $ref: '#/components/schemas/StreamEvent' },
  description:
    'Events; the `data` of each is a StreamEvent as one line of JSON, and the `id` of those with a version a position',
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => word[0]?.toUpperCase() + word.slice(1))].join('')
}
