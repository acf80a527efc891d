import assert from 'node:assert/strict'
import { after, beforeEach, suite, test } from 'node:test'

import { pino } from 'pino'
import { recordLogged } from '../../../server/audit/audit.store.ts'
import { SignInLog } from '../../../server/audit/sign-in-log.ts'
import { nameHasher, Sealing } from '../../../server/basics/secrets.ts'
import { replaceOperation, stubStore } from '../../../server/store/testing/operations.ts'
import { startTestService } from '../../support/service.ts'

const written: string[] = []
const log = pino({ level: 'info', base: null }, { write: (line: string) => written.push(line) })
const app = await startTestService({ log, env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
after(() => app.stop())
beforeEach(() => {
  written.length = 0
})
const lines = (event: string) =>
  written.map((line) => JSON.parse(line)).filter((line) => line.event === event)
const from = (address: string) => ({ 'x-forwarded-for': address })
const login = (body: object, headers = {}) => app.post('/login', body, headers)

test('names an unknown user by a keyed hash, the same for every spelling of the name, and never by the name (L2)', async () => {
  const secret = 'violet kettle drum 79'
  for (const username of ['Nobody', 'nobody', secret, `${secret}\n{"level":30}`])
    await login({ username, password: 'x' }, from('203.0.113.7'))
  const hashes = lines('sign-in-refused').map(({ nameHash }) => nameHash)
  assert.equal(hashes.length, 4)
  for (const hash of hashes) assert.match(hash, /^[\w-]{16}$/)
  assert.equal(new Set(hashes).size, 3)
  assert.equal(hashes[0], nameHasher(new Sealing({ current: app.sealingSecret }))('nobody'))
  assert.notEqual(
    nameHasher(new Sealing({ current: 'another secret' }))('nobody'),
    nameHasher(new Sealing({ current: app.sealingSecret }))('nobody'),
  )
  assert.ok(!written.join('').includes('violet'))
  assert.ok(!written.join('').toLowerCase().includes('nobody'))
})

/** The clock leaps forward in these tests, which has a line of its own. */
const ofRequests = () => written.filter((line) => JSON.parse(line).event !== 'clock-ahead')

test('a client without a proof causes no log lines except those of refused sign-ins, and at most one a minute about refused origins (L1)', async () => {
  const json = { 'content-type': 'application/json' }
  const requests: [string, RequestInit][] = [
    ['/login', { method: 'POST', headers: json, body: '{"username":' }],
    ['/login', { method: 'POST', headers: json, body: '{"username":"ann"}' }],
    ['/login', { method: 'POST', headers: json, body: `{"username":"${'x'.repeat(100_000)}"}` }],
    ['/login', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }],
    [
      '/login',
      { method: 'POST', headers: { ...json, origin: 'https://evil.example' }, body: '{}' },
    ],
    ['/nowhere', {}],
    ['/nowhere%00', {}],
    ['/login', { method: 'DELETE' }],
    ['/routeRestreinte', {}],
    ['/api/notifications', { headers: { authorization: 'Bearer a.b.c' } }],
    ['/api/notifications', { method: 'POST', headers: { authorization: 'Bearer crl_0_0' } }],
    ['/token/renew', { method: 'POST' }],
  ]
  for (const [path, init] of requests)
    assert.ok((await app.request(path, init)).status >= 400, path)
  for (const bytes of [
    'rubbish\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'BREW / HTTP/1.1\r\nHost: x\r\n\r\n',
  ])
    assert.match(await app.raw(bytes), /^HTTP\/1.1 4/)
  const events = ofRequests().map((line) => JSON.parse(line).event)
  assert.ok(['', 'origin-refused'].includes(events.join(' ')), events.join(' '))
})

suite('refusals are bounded', () => {
  const source = (n: number, address = '192.0.2.1') => ({ requestId: `a-${n}`, address })
  const refusal = { code: 'INVALID_CREDENTIALS', variant: 'stateful', method: 'password' } as const
  const unknown = (name: string) => ({ name, user: undefined })

  function signInLog() {
    const out: string[] = []
    const store = stubStore()
    replaceOperation(store, recordLogged, async () => {})
    const own = new SignInLog({
      store,
      now: () => 0,
      log: pino({ base: null }, { write: (line: string) => out.push(line) }),
      nameHash: nameHasher(new Sealing({ current: 'a secret' })),
    })
    const parsed = () => out.map((line) => JSON.parse(line))
    return { own, out, parsed }
  }

  test('10,000 refusals of as many accounts and addresses write less than 1,000 bytes a second, and each is counted (L1)', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { own, out, parsed } = signInLog()
    for (let n = 0; n < 10_000; n++) {
      own.refused(source(n, `2001:db8::${n.toString(16)}`), unknown(`name ${n}`), refusal)
      if (n % 1_000 === 999) t.mock.timers.tick(1_000)
    }
    own.end()
    assert.ok(out.join('').length < 10 * 1_000, `${out.join('').length} bytes in 10 seconds`)
    assert.equal(
      parsed().reduce((sum, { count = 1 }) => sum + count, 0),
      10_000,
    )
  })
})
