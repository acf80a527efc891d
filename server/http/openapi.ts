// The route table -> an OpenAPI 3.1 document. What is published is made from what is served, so it cannot drift.
import { statusOf } from '../errors.ts'
import type { Guard } from './guards.ts'
import type { Answer, Route } from './operation.ts'
import { answers } from './schemas.ts'

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
      schemas: answers,
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

function describe({ path, method, guard, operation }: Route): object {
  const { summary, query, headers = {}, body, acceptsForm } = operation
  const fromPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  }))
  const fromQuery = Object.entries(
    (query as { properties?: Record<string, object> } | undefined)?.properties ?? {},
  ).map(([name, schema]) => ({ name, in: 'query', schema }))
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
        Object.entries(operation.answers).map(([status, answer]) => [status, describeAnswer(answer)]),
      ),
      default: describeAnswer(['Error'], `Refused: one envelope, with the codes ${Object.keys(statusOf).join(', ')}`),
    },
  }
}

function describeAnswer(answer: Answer, description = 'As asked'): object {
  if (answer === 'none') return { description: 'No body' }
  if (answer === 'text') return { description }
  const refs = answer.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  return { description, content: { [json]: { schema: refs.length === 1 ? refs[0] : { anyOf: refs } } } }
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => word[0]?.toUpperCase() + word.slice(1))].join('')
}
