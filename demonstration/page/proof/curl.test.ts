import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../../server/api.ts'
import { bareExchange } from '../../testing/bare-exchange.ts'
import { addressOf, curlOf } from './curl.ts'

const place = {
  address: 'http://127.0.0.1:7464/demonstration/service/routeRestreinte',
  cookieName: 'demo',
}
const requestOf = (line: string, fields: [string, string][], body = ''): Exchange => ({
  ...bareExchange,
  request: { line: `${line} HTTP/1.1`, fields, body },
})

test('a command has all but its options in its standard input, and no other cookie', () => {
  const request = requestOf('GET /x', [
    ['Carillon-Visit', 'abc'],
    ['Cookie', 'carillon=…; demo=id.secret; other=1'],
    ['User-Agent', 'a browser'],
  ])
  assert.equal(
    curlOf(request, place),
    `curl -si -K - <<'END'
request = GET
url = "${place.address}"
header = "carillon-visit: abc"
header = "cookie: demo=id.secret"
END`,
  )
})

test('a request without the cookie of the session has no cookie', () => {
  const request = requestOf('GET /x', [['Cookie', 'carillon=…']])
  assert.doesNotMatch(curlOf(request, place), /cookie/)
})

test('a request with a body has its proof, too', () => {
  const snooze = requestOf(
    'PATCH /snooze',
    [
      ['Content-Type', 'application/json'],
      ['Authorization', 'Bearer t'],
    ],
    '{"until":"soon"}',
  )
  assert.match(
    curlOf(snooze, place),
    /^request = PATCH$.*^header = "authorization: Bearer t"$.*^data = "\{\\"until\\":\\"soon\\"\}"$/ms,
  )
})

test('no value can end its quotes', () => {
  assert.match(
    curlOf(requestOf('GET /', [['carillon-visit', 'a"\\']]), place),
    /^header = "carillon-visit: a\\"\\\\"$/m,
  )
})

test('the address is that of the page, also behind a proxy that strips a path', () => {
  const exchange = requestOf('GET /hello/demonstration/service/api/notifications?page=1', [])
  assert.equal(
    addressOf(exchange, 'https://shop.example/bell/hello/demonstration#inbox', 'demonstration/'),
    'https://shop.example/bell/hello/demonstration/service/api/notifications?page=1',
  )
})
