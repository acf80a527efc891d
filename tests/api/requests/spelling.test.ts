// Each request has its route's method and a valid proof, so that an accepted spelling has another
// status than 404 (Z8).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isOtherSpelling } from '../../../server/http/request/spelling.ts'
import { pathOf } from '../../../server/http/requests.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { startEveryRoute } from '../../support/http/every-route.ts'
import { exchangeBytes, readResponses } from '../../support/http/raw-http.ts'
import type { Proof } from '../../support/service.ts'
import { inTurns } from '../../support/soak.ts'

const { app, client, ann, session, routes: documented } = await startEveryRoute()

/** `/` has no other spelling. */
const routes = documented
  .filter(({ path }) => path !== '/')
  .map(({ method, template, path, example, proof }) => ({
    method,
    template,
    path,
    proof,
    body: template === '/login' ? { username: ann.username, password: ann.password } : example,
  }))

type Request = { method: string; proof: Proof; body: object | undefined }

function request(path: string, { method, proof, body }: Request) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  return client.request({
    method,
    path,
    headers: { ...proof, ...json },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

async function isNoRoute(path: string, route: Request): Promise<void> {
  const response = await request(path, route)
  assert.equal(response.status, 404, `${route.method} ${path} returned ${response.status}`)
  const { code, message } =
    route.method === 'HEAD' ? { code: 'NOT_FOUND', message: unknown } : refusalIn(response)
  assert.deepEqual([code, message], ['NOT_FOUND', unknown], `${route.method} ${path}`)
}

const unknown = refusalIn(await client.request({ path: '/nowhere' })).message
const encoded = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`
const replacedAt = (path: string, at: number, text: string) =>
  path.slice(0, at) + text + path.slice(at + 1)

/** An external id or a category may be any text, also `customer-42;` and, encoded, a slash. */
const isFreeText = (path: string) => /^\/api\/(?:users\/external|categories)\/[^/\\]+$/.test(path)

test('a path with a percent-encoded character at any place is 404, with the method and proof of its route (Z8)', async () => {
  assert.ok(routes.length > 15)
  for (const [turn, route] of routes.entries())
    for (const at of inTurns(
      [...route.path.slice(1)]
        .keys()
        .map((n) => n + 1)
        .toArray(),
      { every: 6, turn },
    )) {
      const code = encoded(route.path[at] as string)
      if (route.path[at] === '/' && isFreeText(replacedAt(route.path, at, code))) continue
      await isNoRoute(replacedAt(route.path, at, code), route)
      if (code !== code.toUpperCase())
        await isNoRoute(replacedAt(route.path, at, code.toUpperCase()), route)
    }
})

test('a path with a percent-encoded character is 404 for every other method, a preflight, without proof, with a query and with a body (Z8)', async () => {
  const preflight = { 'access-control-request-method': 'POST', origin: 'https://shop.example.org' }
  for (const route of inTurns(routes, { every: 3 })) {
    const at = route.path.length - 1
    const other = replacedAt(route.path, at, encoded(route.path[at] as string))
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'QUERY'])
      await isNoRoute(other, { ...route, method })
    await isNoRoute(other, { ...route, method: 'OPTIONS', proof: preflight })
    await isNoRoute(other, { ...route, proof: {} })
    await isNoRoute(`${other}?limit=1&x=%41`, route)
    await isNoRoute(other, { ...route, method: 'POST', body: { x: 'a'.repeat(100_000) } })
  }
})

/** `/api/notifications/read-all;` is not a route, but could have the id of a notification, which takes GET and not POST. */
function isIdOfAnotherMethod(path: string, method: string): boolean {
  const last = path.lastIndexOf('/') + 1
  const isId = /^[^/%\\]+(?:%(?:3b|20|09|23|3f))?$/.test(path.slice(last))
  const methods = routes
    .filter(
      ({ template }) =>
        /^{\w+}$/.test(template.slice(last)) && template.slice(0, last) === path.slice(0, last),
    )
    .map((one) => one.method)
  return isId && methods.length > 0 && !methods.includes(method)
}

/** `by-key\\every-route` has the place of an id, which the user's DELETE takes. */
const isOfReader = (path: string) => path === '/api/notifications/by-key\\every-route'

/** Two pages have a route of their own with a slash at its end. */
const isPageToo = (path: string) => path === '/account/' || path === '/inbox/'

test('a path with doubled or encoded slashes, dots, parameters, a backslash or other letters is 404 (Z8)', async () => {
  for (const [turn, route] of routes.entries()) {
    const { path } = route
    const last = path.lastIndexOf('/')
    const others = [
      `${path}/`,
      `/${path}`,
      `${path}//`,
      `/.${path}`,
      `/x/..${path}`,
      `/%2e${path}`,
      `/x/%2e%2e${path}`,
      `${path}/.`,
      `${path}/%2e`,
      `${path};`,
      `${path};x=1`,
      `${path}%3b`,
      `${path}%20`,
      `${path}%09`,
      `${path}%23`,
      `${path}%3f`,
      `${path}%2f`,
      `${path}%2F`,
      `${path}%5c`,
      `${path}.`,
      `${path}&x=1`,
      `/%2f${path.slice(1)}`,
      `${path.slice(0, last)}%2f${path.slice(last + 1)}`,
      `${path.slice(0, last)}%2F${path.slice(last + 1)}`,
      `${path.slice(0, last)}//${path.slice(last + 1)}`,
      `${path.slice(0, last)}\\${path.slice(last + 1)}`,
      `${path.slice(0, last)}%5c${path.slice(last + 1)}`,
      `${path.slice(0, last)}/./${path.slice(last + 1)}`,
      replacedAt(path, 1, `%25${encoded(path[1] as string).slice(1)}`),
      replacedAt(path, 1, `%c1%${(path.charCodeAt(1) & 0xbf).toString(16)}`),
    ]
    for (const other of inTurns(others, { every: 4, turn }).filter(
      (one) => one.startsWith('/') && !isFreeText(one) && !isOfReader(one) && !isPageToo(one),
    )) {
      const { status } = await request(other, route)
      const isIdToo = isIdOfAnotherMethod(other, route.method)
      // `staff\\start` is the name of a provider that there is not; the body is one of another route.
      const isProviderToo =
        path.endsWith('/start') && /^\/login\/with\/[^/]+$/.test(other) && status === 400
      // Bytes that are not UTF-8 make the request malformed.
      const unrouted = isIdToo && status === 405 ? 405 : 404
      const expected = other.includes('%c1') || isProviderToo ? 400 : unrouted
      assert.equal(status, expected, `${route.method} ${other} returned ${status}`)
    }
  }
})

test('a target in absolute form is routed by the same spelling, and only if its host is the Host field (Z8, I7)', async () => {
  const { host } = new URL(app.url)
  const line = async (target: string) => {
    const sent = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${session.cookie}\r\nConnection: close\r\n\r\n`
    return readResponses((await exchangeBytes(app.url, [sent])).bytes)[0]?.status
  }
  assert.equal(await line(`http://${host}/api/me`), 200)
  for (const target of [
    `http://${host}/api/%6de`,
    `http://${host}//api/me`,
    `http://${host}/x/../api/me`,
    `http://${host}`,
  ])
    assert.equal(await line(target), 404, target)
  for (const target of [
    'http://other.example/api/me',
    `HTTP://${host}/api/me`,
    `http://a@${host}/api/me`,
    `http:/${host}/api/me`,
    `http:///api/me`,
    `ftp://${host}/api/me`,
    `http://${host}/api/me#x`,
    `http://${host}#/api/me`,
    `/api/me#x`,
  ])
    assert.equal(await line(target), 400, target)
})

test('an encoded slash is accepted only within a parameter that is free text', () => {
  const route = '/users/:externalId/inbox'
  for (const path of [
    '/users/a%2Fb/inbox',
    '/users/%2f/inbox',
    '/users/%C3%A9%20%25/inbox',
    '/users/a/inbox',
  ])
    assert.equal(isOtherSpelling(path, route), false, path)
  for (const path of [
    '/users%2fa/inbox',
    '/users/a%2Finbox',
    '/users/a/inbox%2f',
    '/users/%61/inbox',
    '/users/a%2Db/inbox',
  ])
    assert.equal(isOtherSpelling(path, route), true, path)
  for (const other of [undefined, '/users/:id/inbox'])
    assert.equal(isOtherSpelling('/users/a%2fb/inbox', other), true)
})

test('the encoding of encodeURIComponent is accepted, and every other encoding of the same text is refused', () => {
  const route = '/users/:externalId'
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(), (text, place) => {
      const segment = encodeURIComponent(text)
      assert.equal(isOtherSpelling(`/users/${segment}`, route), false)
      const at = place % segment.length
      const character = segment[at] as string
      if (!/[\w.~-]/.test(character) || /%[\da-f]?$/i.test(segment.slice(Math.max(0, at - 2), at)))
        return
      assert.equal(
        isOtherSpelling(`/users/${replacedAt(segment, at, encoded(character))}`, route),
        true,
      )
    }),
  )
})

test('the path of a request target ends before the query, in origin form and in absolute form', () => {
  const paths: Record<string, string> = {
    '/login': '/login',
    '/login?x=/y': '/login',
    '/': '/',
    'http://a/login?x': '/login',
    'http://a': '',
    'http://a?x=/login': '',
    '*': '',
  }
  for (const [target, path] of Object.entries(paths)) assert.equal(pathOf(target), path, target)
})
