// The document is valid (I9), and has exactly the routes that are served. described-responses.ts checks
// each response of a test against it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { routesWith } from '../../server/routes.ts'
import { DescribedApi, type Document } from '../support/http/described-api.ts'
import { startTestService } from '../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const published = await app.get('/openapi.json')
const document = published.json() as Document
const api = new DescribedApi(document)

test('the document is valid: its schemas compile, its references resolve, and its names are unique (I9)', () => {
  assert.match(document.openapi, /^3\.1\.\d+$/)
  assert.match(document.info.version, /^\d+\.\d+\.\d+/)
  assert.ok(api.operations.length > 10)
  for (const { method, template, operation } of api.operations) {
    const { summary, security, requestBody, responses, parameters = [] } = operation
    const place = `${method} ${template}`
    assert.match(place, /^(GET|POST|PUT|PATCH|DELETE) \/[\w./{}-]*$/)
    assert.ok(summary.length > 10, place)
    const contents = [
      requestBody?.content,
      ...Object.values(responses).map(({ content }) => content),
    ]
    const bodies = contents.flatMap((content) => Object.values(content ?? {}))
    for (const { schema } of [...bodies, ...parameters]) api.compile(schema)
    for (const status of Object.keys(responses))
      assert.match(status, /^([2-5]\d\d|default)$/, place)
    assert.ok(
      Object.values(responses).every(({ description }) => description.length > 3),
      place,
    )
    for (const scheme of security.flatMap((one) => Object.keys(one)))
      assert.ok(scheme in document.components.securitySchemes, `${place} names ${scheme}`)
  }
})

test('each operation has an operationId of its own, a verb and a noun in camel case, and one described tag (I9)', () => {
  const ids = api.operations.map(({ operation }) => operation.operationId)
  for (const one of ids) assert.match(one, /^[a-z]+([A-Z][a-z]+)+$/)
  const doubled = ids.filter((one, index) => ids.indexOf(one) !== index)
  assert.deepEqual(doubled, [], 'generated code would have two functions of one name')
  const tags = document.tags.map(({ name }) => name)
  for (const { operation } of api.operations)
    assert.equal(tags.filter((tag) => operation.tags.includes(tag)).length, 1)
})

test('every named schema compiles and is used (I9)', () => {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    api.compile(schema)
    assert.ok(published.text.includes(`"#/components/schemas/${name}"`), `${name} is not used`)
  }
})

test('a required query field is described as such (I9)', () => {
  const needed = api.operations.flatMap(({ template, operation: { parameters = [] } }) =>
    parameters
      .filter((one) => one.in === 'query' && one.required)
      .map(({ name }) => `${template} ${name}`),
  )
  assert.deepEqual(needed, ['/api/notifications/changes since'])
})

test('the HTML page has every operation by its operationId, what a route requires, and the data of events (I9)', async () => {
  const { text } = await app.get('/docs')
  for (const { operation } of api.operations)
    assert.ok(text.includes(`<section id="${operation.operationId}">`))
  for (const { name } of document.tags) assert.ok(text.includes(`<h2>${name}</h2>`))
  assert.ok(text.includes('/api/notifications/changes?since=…'))
  assert.ok(text.includes('events: <a href="#StreamEvent">StreamEvent</a>'))
})

test('every parameter of a path is described, and no other (I9)', () => {
  for (const { method, template, operation } of api.operations) {
    const inTemplate = [...template.matchAll(/{(\w+)}/g)].map(([, name]) => name)
    const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
    assert.deepEqual(
      described.map(({ name }) => name),
      inTemplate,
      `${method} ${template}`,
    )
    assert.ok(described.every(({ required }) => required === true))
  }
})

test('the document has every route of the table, and no other route (I9)', () => {
  const table = routesWith('').map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  )
  assert.ok(table.length > 10)
  assert.deepEqual(
    api.operations.map(({ method, template }) => `${method} ${template}`).sort(),
    table.sort(),
  )
})
