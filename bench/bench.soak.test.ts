// Runs scenarios briefly, to see that the bench works. Such figures mean nothing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = fileURLToPath(new URL('./run.ts', import.meta.url))

const bench = (...args: string[]) => promisify(execFile)(process.execPath, [run, ...args])

test('the bench compares a list with its floor, and says the processor time of a request', async () => {
  const { stdout } = await bench('list', '--small', '--rounds', '1', '--seconds', '0.2')
  const rows = stdout
    .split('\n')
    .filter((line) => /^list, .*\d\/s.* us each .*\d\/s.* us each .*\d\.\d\d \(.*CPU/.test(line))
  assert.equal(rows.length, 4, stdout)
})

test('the bench measures the latency of an event on both engines and on a floor', async () => {
  const { stdout } = await bench('stream-latency', '--small', '--rounds', '1', '--seconds', '0.3')
  assert.equal(
    stdout.match(/^(SQLite|PostgreSQL).* p95 .* [\d.]+ ms .* [\d.]+ ms /gm)?.length,
    2,
    stdout,
  )
})
