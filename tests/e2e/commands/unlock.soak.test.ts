// `carillon user unlock` while the service runs: the next sign-in of a delayed account is not refused, on both engines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../support/postgres.ts'
import {
  CarillonProcess,
  carillon,
  type Environment,
  Folder,
} from '../../support/processes/carillon-process.ts'

const password = 'plum orchard gate 41'
const secret = 'twelve grey herons in the reeds, only for tests'

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`a delayed account signs in at once after "carillon user unlock", by name, by id or by external id (${engine}, A9)`, async (t) => {
    using folder = new Folder()
    const database = engine === 'SQLite' ? undefined : await newDatabase()
    if (database !== undefined) t.after(database.drop)
    const env: Environment = database
      ? { CARILLON_DATABASE_URL: database.url, CARILLON_SECRET: secret }
      : {}
    await using running = await CarillonProcess.ready(folder, { env })
    const user = (...args: string[]) =>
      carillon(folder, ['user', ...args], { env, stdin: password })
    const json = async (...args: string[]) => JSON.parse((await user(...args, '--json')).stdout)
    const { id } = await json('add', 'ann', '--external-id', 'customer-42', '--password-stdin')
    const login = async (guess: string) => {
      const body = JSON.stringify({ username: 'ann', password: guess })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${running.url}/login`, { method: 'POST', body, headers })).status
    }
    const named = { id, username: 'ann', externalId: 'customer-42' }
    for (const key of [['ann'], ['--id', id], ['--external-id', 'customer-42']]) {
      for (let n = 0; n < 6; n++) await login('plum orchard gate 42')
      assert.equal(await login(password), 429)
      assert.deepEqual(await json('unlock', ...key), { ...named, hadFailures: true })
      assert.equal(await login(password), 200)
    }
    assert.deepEqual(await json('unlock', 'ann'), { ...named, hadFailures: false })
    assert.equal(
      (await user('unlock', 'ann')).stdout,
      'ann had no wrong guesses; nothing was changed\n',
    )
    const unknown = await user('unlock', 'nobody')
    assert.deepEqual([unknown.status, unknown.stderr], [1, 'carillon: There is no user nobody\n'])
    const unnamed = await user('unlock')
    assert.deepEqual([unnamed.status, /Name the user once/.test(unnamed.stderr)], [2, true])
  })

test('the help of "carillon user unlock" shows how to name the user', async () => {
  using folder = new Folder()
  const { status, stdout } = await carillon(folder, ['user', 'unlock', '--help'])
  assert.equal(status, 0)
  assert.match(stdout, /npx carillon user unlock ann\n/)
  assert.match(stdout, /--external-id <id>[\s\S]*--id <id>/)
})
