// How often does the log name an origin that is not allowed, whatever clients send?
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { pino } from 'pino'
import { RefusedOrigins } from './refused-origins.ts'

const from = (origin: string, host = 'bell.example') =>
  ({ raw: { headers: { origin, host } } }) as unknown as FastifyRequest

function logged() {
  const written: string[] = []
  const refused = new RefusedOrigins(pino({ base: null }, { write: (line: string) => written.push(line) }))
  const lines = () => written.map((line) => JSON.parse(line))
  return { refused, lines, bytes: () => written.join('').length }
}

test('names a refused origin and the setting at once, and at most once a minute (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { refused, lines } = logged()
  for (let n = 0; n < 100; n++) refused.noteFrom(from('https://app.example'), [])
  assert.deepEqual(
    lines().map(({ level, event, origins }) => ({ level, event, origins })),
    [{ level: 40, event: 'origin-refused', origins: { 'https://app.example': 1 } }],
  )
  assert.match(lines()[0].msg, /CARILLON_ALLOWED_ORIGINS/)
  t.mock.timers.tick(60_000)
  assert.deepEqual(lines()[1].origins, { 'https://app.example': 99 })
  t.mock.timers.tick(600_000)
  assert.equal(lines().length, 2, 'a quiet minute has no line')
  refused.noteFrom(from('https://app.example'), [])
  assert.equal(lines().length, 3)
})

test('clients that send 10,000 made-up origins of any length get one short line a minute (L1)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { refused, lines, bytes } = logged()
  for (let minute = 0; minute < 3; minute++) {
    for (let n = 0; n < 10_000; n++) refused.noteFrom(from(`https://${n}.${'x'.repeat(5_000)}`), [])
    t.mock.timers.tick(60_000)
  }
  assert.equal(lines().length, 4)
  assert.equal(lines()[1].origins.other, 9_999 - 8)
  assert.ok(bytes() < 4 * 3_000, `${bytes()} bytes`)
})

test('does not log the own origin or an allowed one, and writes the remaining counts at the shutdown', () => {
  const { refused, lines } = logged()
  refused.noteFrom(from('https://bell.example'), [])
  refused.noteFrom(from('https://app.example'), ['https://app.example'])
  assert.deepEqual(lines(), [])
  for (let n = 0; n < 3; n++) refused.noteFrom(from('null'), [])
  refused.end()
  assert.deepEqual(
    lines().map(({ origins }) => origins),
    [{ null: 1 }, { null: 2 }],
  )
})
