// Runs a scenario briefly, to see that the bench works. Such figures mean nothing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { soakTest } from '../tests/support/soak.ts'

const run = fileURLToPath(new URL('./run.ts', import.meta.url))

const bench = (...args: string[]) => promisify(execFile)(process.execPath, [run, ...args])

soakTest(
  'the bench measures two checkouts in changing order, and the result has both and their ratio',
  async () => {
    const here = fileURLToPath(new URL('..', import.meta.url))
    const { stdout, stderr } = await bench(
      'durable-writes',
      '--small',
      '--rounds',
      '2',
      '--seconds',
      '0.1',
      '--before',
      here,
    )
    const turns = stderr.split('\n').filter((line) => line.includes('deliver 64'))
    assert.deepEqual(
      turns.map((line) => line.trim().split(':')[0]),
      ['now', 'before', 'before', 'now'],
    )
    const rows = stdout.split('\n').filter((line) => /^\S.* \S+ \(\S+-\S+\)$/.test(line))
    assert.equal(rows.length, 6, stdout)
  },
)

test('an unknown scenario ends with status 2 and a list of all scenarios', async () => {
  const failure = await bench('lists').catch((error) => error)
  assert.equal(failure.code, 2)
  assert.match(failure.stderr, /^lists is not a scenario\n[\s\S]*durable-writes/)
})

test('a second checkout that is none ends with status 2 and the reason', async () => {
  const failure = await bench('list', '--before', tmpdir()).catch((error) => error)
  assert.equal(failure.code, 2)
  assert.match(
    failure.stderr,
    /^.* is not a checkout of Carillon: it has no server\/bin\/launch\.js\n/,
  )
})
