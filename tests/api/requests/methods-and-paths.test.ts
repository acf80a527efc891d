// 404 or 405 with any body and proof, and GET and HEAD change nothing (Z8, Z10, C2, E1).
import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { test } from 'node:test'
import { hasSecurityHeaders, refusalIn } from '../../support/http/envelope.ts'
import { startEveryRoute } from '../../support/http/every-route.ts'
import type { HttpRequest } from '../../support/http/http-client.ts'
import type { Proof } from '../../support/service.ts'
import { inTurns } from '../../support/soak.ts'

const { app, client, session: proof, token, producer, routes } = await startEveryRoute()
const proofs: Proof[] = [{}, proof, token, producer]
const paths = [...new Set(routes.map(({ path }) => path))]

/** `/api/notifications/read-all` is also the path of a notification whose id is `read-all`. */
function methodsOf(path: string): string[] {
  const matching = routes.filter(({ template }) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/{\w+}/g, '[^/]+')}$`).test(path),
  )
  const methods = matching.map(({ method }) => method)
  return [...new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)].sort()
}

test('every other method on every path is 405, and Allow has the methods that the path takes (Z10, E1)', async () => {
  const requests = paths.flatMap((path) =>
    METHODS.filter((method) => method !== 'CONNECT' && !methodsOf(path).includes(method)).map(
      (method) => ({
        method,
        path,
      }),
    ),
  )
  assert.ok(requests.length > 400)
  for (const { method, path } of inTurns(requests, { every: 5 })) {
    const { status, headers, text } = await client.request({ method, path, headers: proof })
    assert.equal(status, 405, `${method} ${path} returned ${status}`)
    assert.deepEqual(headers.get('allow')?.split(', ').sort(), methodsOf(path), path)
    if (method === 'HEAD') assert.equal(text, '')
    else assert.equal(refusalIn({ status, headers, text }).code, 'METHOD_NOT_ALLOWED')
  }
})

test('404 and 405 do not depend on a body or its media type (Z10, E1)', async () => {
  const json = { 'content-type': 'application/json' }
  const bodies: { body: string; headers: Proof }[] = [
    { body: '{"a":', headers: json },
    { body: 'x', headers: { 'content-type': 'text/plain' } },
    { body: 'x'.repeat(100_000), headers: json },
    { body: 'x', headers: {} },
  ]
  for (const sent of bodies) {
    for (const [method, path] of [
      ['PUT', '/login'],
      ['QUERY', '/login'],
      ['POST', '/livez'],
    ] as const)
      await refused(405, path, { method, ...sent })
    for (const method of ['POST', 'PUT', 'PATCH', 'QUERY', 'DELETE'])
      await refused(404, '/nowhere', { method, ...sent })
  }
})

test('GET and HEAD change nothing, on every path, with any proof and method override (C2)', async () => {
  const overrides: Proof[] = [
    {},
    { 'x-http-method-override': 'POST' },
    { 'x-method-override': 'PATCH' },
  ]
  const before = await app.database.tables()
  for (const [turn, path] of paths.entries())
    for (const method of ['GET', 'HEAD'])
      for (const carried of inTurns(proofs, { every: 4, turn }))
        for (const override of overrides) {
          const { status } = await client.request({
            method,
            path: `${path}?_method=POST`,
            headers: { ...carried, ...override },
          })
          assert.ok(status < 500, `${method} ${path} returned ${status}`)
        }
  const withoutUse = (tables: typeof before) => ({
    ...tables,
    producer: tables.producer?.map(({ last_used_at: _, ...row }) => row),
  })
  assert.deepEqual(withoutUse(await app.database.tables()), withoutUse(before))
})

test('HEAD has the status and header fields of GET, without the body', async () => {
  for (const { path, method } of routes) {
    if (method !== 'GET') continue
    const got = await client.request({ path, headers: proof })
    const headed = await client.request({ method: 'HEAD', path, headers: proof })
    assert.deepEqual([headed.status, headed.text], [got.status, ''], path)
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control'])
      assert.equal(headed.headers.get(name), got.headers.get(name), `${name} of ${path}`)
    hasSecurityHeaders(headed)
  }
})

async function refused(
  status: number,
  path: string,
  request: Omit<HttpRequest, 'path'>,
): Promise<void> {
  const response = await client.request({ path, ...request })
  assert.equal(response.status, status, `${request.method ?? 'GET'} ${path}: ${response.text}`)
  refusalIn(response)
}
