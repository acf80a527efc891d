// Runs some scenarios briefly, to see that the bench works. Their figures mean nothing in so short a time.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = fileURLToPath(new URL('./run.ts', import.meta.url))

const bench = (...args: string[]) => promisify(execFile)(process.execPath, [run, ...args])

test('the bench compares a list with its floor', async () => {
  const { stdout } = await bench('list', '--rounds', '1', '--seconds', '0.2')
  const rows = stdout.split('\n').filter((line) => /^list, .*\d\/s.*\d\/s.*\d\.\d\d \(/.test(line))
  assert.equal(rows.length, 4, stdout)
})

test('the bench starts PostgreSQL and two nodes on it, and measures their change signals', async () => {
  const { stdout } = await bench('postgres-change-signals', '--rounds', '1', '--seconds', '0.2')
  assert.match(stdout, /change signals on .*commits\/s .*change signals off: .*commits\/s .*\d\.\d\d \(/, stdout)
  assert.equal(stdout.match(/from a commit at A to its change signal at B.* p95 [\d.]+ ms/g)?.length, 2, stdout)
})

test('the bench measures the latency of an event on both engines and on a floor', async () => {
  const { stdout } = await bench('stream-latency', '--rounds', '1', '--seconds', '0.5')
  assert.equal(stdout.match(/^(SQLite|PostgreSQL).* p95 -?[\d.]+ .*p95 [\d.]+ /gm)?.length, 6, stdout)
})

test('the bench receives every event of a steady flow', async () => {
  const { stdout } = await bench('stream-flow', '--seconds', '4')
  assert.match(stdout, /^resident memory.* [\d.]+ MB .*: [\d.]+ MB, .* [\d.]+ MB /m, stdout)
  assert.match(stdout, /^processor time per event.* [\d.]+ us at [\d,]+ events/m, stdout)
})

test('an unknown scenario ends with status 2 and a list of all scenarios', async () => {
  const failure = await bench('lists').catch((error) => error)
  assert.equal(failure.code, 2)
  assert.match(failure.stderr, /durable-writes/)
})
