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

test('a command has the proof in its standard input, and no other cookie', () => {
  const request = requestOf('GET /x', [
    ['Carillon-Visit', 'abc'],
    ['Cookie', 'carillon=…; demo=id.secret; other=1'],
    ['User-Agent', 'a browser'],
  ])
  assert.equal(
    curlOf(request, place),
    `curl -si \\\n  -H 'carillon-visit: abc' \\\n  -H @- \\\n  '${place.address}' <<'END'\ncookie: demo=id.secret\nEND`,
  )
})

test('a body goes through the standard input, and a method that curl would not choose is named', () => {
  const login = curlOf(
    requestOf('POST /login', [['Content-Type', 'application/json']], '{"password":"p"}'),
    place,
  )
  assert.match(
    login,
    /^curl -si \\\n {2}-H 'content-type: application\/json' \\\n {2}-d @- .*<<'END'\n\{"password":"p"\}\nEND$/s,
  )
  assert.match(curlOf(requestOf('PATCH /read', []), place), /^curl -si -X PATCH/)
  assert.match(curlOf(requestOf('POST /read-all', []), place), /^curl -si -X POST/)
})

test('no value can end its quotes', () => {
  assert.match(
    curlOf(requestOf('GET /', [['carillon-visit', "a'; rm -rf '"]]), place),
    /'carillon-visit: a'\\''; rm -rf '\\'''/,
  )
})

test('the address is that of the page, also behind a proxy that strips a path', () => {
  const exchange = requestOf('GET /hello/demonstration/service/api/notifications?page=1', [])
  assert.equal(
    addressOf(exchange, 'https://shop.example/bell/hello/demonstration#inbox', 'demonstration/'),
    'https://shop.example/bell/hello/demonstration/service/api/notifications?page=1',
  )
})
