// Does the bench still run? One scenario for each engine, briefly: what they measure in so short a time says nothing.
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

test('the bench starts a PostgreSQL of its own, and two nodes on it', async () => {
  const { stdout } = await bench('postgres-rings', '--rounds', '1', '--seconds', '0.2')
  assert.match(stdout, /rings on .*commits\/s .*rings off: .*commits\/s .*\d\.\d\d \(/, stdout)
  assert.equal(stdout.match(/at B of a commit at A.* p95 [\d.]+ ms/g)?.length, 2, stdout)
})

test('the bench follows an event to its client on both engines, beside a floor', async () => {
  const { stdout } = await bench('stream-latency', '--rounds', '1', '--seconds', '0.5')
  assert.equal(stdout.match(/^(SQLite|PostgreSQL).* p95 -?[\d.]+ .*p95 [\d.]+ /gm)?.length, 6, stdout)
})

test('the bench hears every event of a flow', async () => {
  const { stdout } = await bench('stream-flow', '--seconds', '4')
  assert.match(stdout, /^resident memory.* [\d.]+ MB .*: [\d.]+ MB, .* [\d.]+ MB /m, stdout)
  assert.match(stdout, /^processor time for each event.* [\d.]+ us at [\d,]+ events/m, stdout)
})

test('an unknown scenario is wrong use, and the help names those that there are', async () => {
  const failure = await bench('lists').catch((error) => error)
  assert.equal(failure.code, 2)
  assert.match(failure.stderr, /durable-writes/)
})
