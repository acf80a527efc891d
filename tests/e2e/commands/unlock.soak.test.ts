// `carillon user unlock` while the service runs: the next sign-in of a delayed account is not refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CarillonProcess, carillon, Folder } from '../../support/processes/carillon-process.ts'

const password = 'plum orchard gate 41'

test('a delayed account signs in at once after "carillon user unlock", by name, by id or by external id (A9)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = (...args: string[]) => carillon(folder, ['user', ...args], { stdin: password })
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
