import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { pino } from 'pino'
import { CarillonError, overloaded } from '../../basics/errors.ts'
import { comesFromOtherSite } from '../requests.ts'
import { RequestLog } from './request-log.ts'

const request = { requestId: 'a-1', method: 'POST', route: '/login' }

function logged() {
  const written: string[] = []
  const log = new RequestLog(pino({ base: null }, { write: (line: string) => written.push(line) }))
  const lines = () => written.map((line) => JSON.parse(line))
  return { log, lines, bytes: () => written.join('').length }
}

test('writes one warning a second for overload, with a count and without a stack, at 10,000 refusals a second (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines, bytes } = logged()
  for (let second = 0; second < 3; second++) {
    for (let n = 0; n < 10_000; n++) {
      const error =
        n % 100 === 0
          ? overloaded('The service is stopping')
          : overloaded('Too many sign-ins at once')
      log.note(error, error, request)
    }
    t.mock.timers.tick(1_000)
  }
  assert.equal(lines().length, 3)
  for (const { level, event, count, reasons } of lines())
    assert.deepEqual(
      { level, event, count, reasons },
      {
        level: 40,
        event: 'overload',
        count: 10_000,
        reasons: {
          'The service is stopping. Try again in a moment.': 100,
          'Too many sign-ins at once. Try again in a moment.': 9_900,
        },
      },
    )
  assert.ok(bytes() < 3 * 400, `${bytes()} bytes in 3 seconds`)
  t.mock.timers.tick(10_000)
  assert.equal(lines().length, 3, 'a quiet second has no line')
})

test('writes the same failure in full a few times a minute, and counts the others (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines } = logged()
  const away = () =>
    new CarillonError('UNAVAILABLE', 'The store is away', {
      cause: new Error('connect ECONNREFUSED'),
    })
  const fail = (times: number) => {
    for (let n = 0; n < times; n++) log.note(away(), away(), request)
  }
  fail(100)
  t.mock.timers.tick(1_000)
  const inFull = () => lines().filter(({ err }) => err !== undefined)
  assert.equal(inFull().length, 5)
  assert.match(inFull()[0].err.stack, /ECONNREFUSED/)
  assert.deepEqual(
    lines()
      .filter(({ event }) => event === 'failure-repeated')
      .map(({ count }) => count),
    [95],
  )
  t.mock.timers.tick(60_000)
  fail(1)
  assert.equal(inFull().length, 6)
})

test('limits the lines of failures that are all different (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines } = logged()
  for (let n = 0; n < 1_000; n++)
    log.note(new CarillonError('INTERNAL', `${n}`), new Error(`${n}`), request)
  t.mock.timers.tick(1_000)
  const repeated = lines().filter(({ event }) => event === 'failure-repeated')
  assert.deepEqual([lines().length, repeated.length, repeated[0].count], [21, 1, 980])
  assert.ok(Object.keys(repeated[0].reasons).length <= 9)
})

test('writes the remaining counts at the shutdown, once', () => {
  const { log, lines } = logged()
  log.note(overloaded('Too many'), undefined, request)
  log.end()
  log.end()
  assert.deepEqual(
    lines().map(({ event, count }) => [event, count]),
    [['overload', 1]],
  )
})

test("writes nothing for a client's mistake, and nothing for an expected state", () => {
  const { log, lines } = logged()
  log.note(new CarillonError('INVALID_REQUEST', 'malformed'), undefined, request)
  log.note(new CarillonError('TOO_MANY_REQUESTS', 'You have 20 streams open'), undefined, request)
  log.note(new CarillonError('UNAVAILABLE', 'not ready', { report: 'nothing' }), undefined, request)
  log.end()
  assert.deepEqual(lines(), [])
})

test('names a refused origin and the setting at once, and at most once a minute (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines } = logged()
  for (let n = 0; n < 100; n++) log.noteOrigin('https://app.example')
  assert.deepEqual(
    lines().map(({ level, event, origins }) => ({ level, event, origins })),
    [{ level: 40, event: 'origin-refused', origins: { 'https://app.example': 1 } }],
  )
  assert.match(lines()[0].msg, /CARILLON_ALLOWED_ORIGINS/)
  t.mock.timers.tick(60_000)
  assert.deepEqual(lines()[1].origins, { 'https://app.example': 99 })
  t.mock.timers.tick(600_000)
  assert.equal(lines().length, 2, 'a quiet minute has no line')
  log.noteOrigin('https://app.example')
  assert.equal(lines().length, 3)
})

test('clients that send 10,000 made-up origins of any length get one short line a minute (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines, bytes } = logged()
  for (let minute = 0; minute < 3; minute++) {
    for (let n = 0; n < 10_000; n++) log.noteOrigin(`https://${n}.${'x'.repeat(5_000)}`)
    t.mock.timers.tick(60_000)
  }
  assert.equal(lines().length, 4)
  assert.equal(lines()[1].origins.other, 9_999 - 8)
  assert.ok(bytes() < 4 * 3_000, `${bytes()} bytes`)
})

test('neither the own origin nor an allowed one counts as another site', () => {
  const isOther = (origin: string, allowed: string[]) => {
    const raw = { headers: { origin, host: 'bell.example' } }
    return comesFromOtherSite({ raw } as unknown as FastifyRequest, allowed)
  }
  assert.ok(isOther('https://app.example', []))
  assert.ok(!isOther('https://bell.example', []))
  assert.ok(!isOther('https://app.example', ['https://app.example']))
})

test('writes the remaining counts of origins at the shutdown', () => {
  const { log, lines } = logged()
  for (let n = 0; n < 3; n++) log.noteOrigin('null')
  log.end()
  assert.deepEqual(
    lines().map(({ origins }) => origins),
    [{ null: 1 }, { null: 2 }],
  )
})

test('writes one line a minute with the count of refused proofs by reason, and none for a quiet minute (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines } = logged()
  for (let n = 0; n < 10_000; n++)
    log.noteRefusal(n % 10 === 0 ? 'scope-missing' : 'token-not-valid')
  assert.equal(lines().length, 0)
  t.mock.timers.tick(60_000)
  const [{ level, event, count, reasons }] = lines()
  assert.deepEqual([level, event, count], [40, 'proof-refused', 10_000])
  assert.deepEqual(reasons, { 'scope-missing': 1_000, 'token-not-valid': 9_000 })
  t.mock.timers.tick(600_000)
  assert.equal(lines().length, 1)
  log.noteRefusal('in-query')
  log.end()
  assert.deepEqual(lines()[1].reasons, { 'in-query': 1 }, 'a stop loses no count')
})
