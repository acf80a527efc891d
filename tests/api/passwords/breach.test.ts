// A real server stands in the place of Have I Been Pwned.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { startTestService } from '../../support/service.ts'

const stolen = 'grey heron over the weir'
const rare = 'violet otter sleeps late'
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex').toUpperCase()

type Received = { url: string; text: string }
const received: Received[] = []
let answer = withHits
const server = createServer((request, response) => {
  const text = JSON.stringify([request.method, request.url, request.rawHeaders])
  received.push({ url: request.url ?? '', text })
  answer(request, response)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
const lines: string[] = []
const log = pino({ level: 'trace', base: null }, { write: (line: string) => lines.push(line) })
const app = await startTestService({
  env: { CARILLON_BREACH_URL: `http://127.0.0.1:${port}/range` },
  log,
})
after(async () => {
  await app.stop()
  server.closeAllConnections()
  server.close()
})

/** The rare password is a padding row, which means nothing. */
function withHits(_: IncomingMessage, response: ServerResponse): void {
  const others = `${'0'.repeat(35)}:3\r\n`
  response.end(`${others}${sha1(stolen).slice(5)}:42\r\n${sha1(rare).slice(5)}:0\r\n`)
}

async function change(newPassword: string) {
  const ann = await app.user()
  const own = await app.signIn(ann, 'stateful')
  const headers = { 'content-type': 'application/json', ...own }
  const body = JSON.stringify({ currentPassword: ann.password, newPassword })
  return app.request('/api/me/password', { method: 'PUT', headers, body })
}

const warnings = () => lines.filter((line) => line.includes('breach-check-failed'))

test('a stolen password is refused with its code, and another one is accepted', async () => {
  const refused = await change(stolen)
  const [fault] = refused.json().error.details
  assert.deepEqual([refused.status, fault.field, fault.code], [400, 'newPassword', 'too_common'])
  assert.equal((await change(rare)).status, 204)
  assert.equal(warnings().length, 0)
})

test('five characters of the SHA-1 leave the machine, and nothing else of the password', async () => {
  received.length = 0
  await change(rare)
  assert.deepEqual(
    received.map(({ url }) => url),
    [`/range/${sha1(rare).slice(0, 5)}`],
  )
  const { text } = received[0] as Received
  for (const secret of [rare, sha1(rare).slice(0, 6), sha1(rare).slice(5)])
    assert.ok(!text.toLowerCase().includes(secret.toLowerCase()))
})

test('our own rules come first: a password that they refuse is not asked about', async () => {
  received.length = 0
  assert.equal((await change('short')).status, 400)
  assert.equal(received.length, 0)
})

test('if the server fails, redirects, is slow, sends too much or is down, the password is accepted and the log says so, without it', async () => {
  const faults = [
    (_: IncomingMessage, response: ServerResponse) => response.writeHead(500).end(),
    (_: IncomingMessage, response: ServerResponse) =>
      response.writeHead(302, { location: '/range/ABCDE' }).end(),
    (_: IncomingMessage, response: ServerResponse) => response.end('x'.repeat(1_048_577)),
    () => {},
  ]
  for (const [n, fault] of faults.entries()) {
    answer = fault
    assert.equal((await change(stolen)).status, 204)
    assert.equal(warnings().length, n + 1)
  }
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  assert.equal((await change(stolen)).status, 204)
  assert.equal(warnings().length, faults.length + 1)
  for (const secret of [stolen, sha1(stolen), sha1(stolen).slice(5)])
    assert.equal(lines.filter((line) => line.includes(secret)).length, 0)
})
