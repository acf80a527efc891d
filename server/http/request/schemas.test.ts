// The service does not check schemas at its start.
import { test } from 'node:test'
import Fastify from 'fastify'
import { routesWith } from '../../routes.ts'

test('the schemas of every route follow the rules of JSON Schema', async () => {
  const strict = {
    allErrors: false,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
  }
  const app = Fastify({ ajv: { customOptions: strict } })
  for (const { method, path, operation } of routesWith('/')) {
    const { query, body, shallowBody = body } = operation
    const schema = {
      ...(query && { querystring: query }),
      ...(shallowBody && { body: shallowBody }),
    }
    app.route({ method, url: path, schema, handler: async () => null })
  }
  await app.ready()
})
