// `carillon user factors` while the service runs: an operator lists the second factors of a user, and removes them all.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { newDatabase, queryAt } from '../../support/postgres.ts'
import {
  CarillonProcess,
  carillon,
  type Environment,
  Folder,
} from '../../support/processes/carillon-process.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'

const codeOf = (added: { secret: string }) => new Authenticator(added.secret).code(Date.now())
const password = 'plum orchard gate 41'
const secret = 'twelve grey herons in the reeds, only for tests'

test('"carillon user factors reset" removes the factors of a user and ends every sign-in (A18)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = (...args: string[]) => carillon(folder, ['user', ...args], { stdin: password })
  const json = async (...args: string[]) => JSON.parse((await user(...args, '--json')).stdout)
  const { id } = await json('add', 'ann', '--password-stdin')
  const post = (path: string, body: object, proof = '') =>
    fetch(running.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...(proof && { cookie: proof }) },
    })
  const login = () => post('/login', { username: 'ann', password })
  const cookie = (await login()).headers.getSetCookie()[0]?.split(';')[0] ?? ''
  assert.equal((await user('factors', 'list', 'ann')).stdout, 'ann has no second factor\n')
  const { data } = await (await post('/api/me/factors/totp', { label: 'Phone' }, cookie)).json()
  const code = new Authenticator(data.secret).code(Date.now())
  assert.equal(
    (await post('/api/me/factors/totp/confirm', { id: data.id, code }, cookie)).status,
    200,
  )
  assert.equal((await login()).status, 401)
  const listed = await json('factors', 'list', 'ann')
  assert.deepEqual(
    [listed.items[0].id, listed.items[0].label, listed.recoveryCodesLeft],
    [data.id, 'Phone', 10],
  )
  const text = (await user('factors', 'list', '--id', id)).stdout
  assert.match(text, /Phone +yes/)
  assert.match(text, /recovery codes left: 10/)
  for (const output of [text, JSON.stringify(listed)]) assert.ok(!output.includes(data.secret))
  assert.deepEqual(await json('factors', 'reset', 'ann', '--yes'), {
    id,
    username: 'ann',
    removed: 1,
  })
  const me = await fetch(`${running.url}/api/me`, { headers: { cookie } })
  assert.equal(me.status, 401)
  assert.equal((await login()).status, 200)
  const log = await carillon(folder, ['audit', '--user', 'ann', '--json'])
  assert.match(log.stdout, /factors-reset/)
  const unknown = await user('factors', 'reset', 'nobody', '--yes')
  assert.deepEqual([unknown.status, unknown.stderr], [1, 'carillon: There is no user nobody\n'])
})

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`a lost secret: doctor counts its factors, users get a sentence for users, and an operator removes these factors alone (${engine}, K1)`, async (t) => {
    using folder = new Folder()
    const database = engine === 'SQLite' ? undefined : await newDatabase()
    if (database !== undefined) t.after(database.drop)
    const env: Environment = database
      ? { CARILLON_DATABASE_URL: database.url, CARILLON_SECRET: secret }
      : {}
    const fresh: Environment = database
      ? { ...env, CARILLON_SECRET: 'another secret, after the loss of the first' }
      : {}
    let url = ''
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const json = { 'content-type': 'application/json', ...headers }
      const response = await fetch(url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: json,
      })
      const text = await response.text()
      const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      return { status: response.status, cookie, body: text === '' ? {} : JSON.parse(text) }
    }
    const run = (given: Environment, ...args: string[]) =>
      carillon(folder, args, { env: given, stdin: password })
    const login = (username: string) => post('/login', { username, password, variant: 'stateful' })
    const apps: Record<string, { id: string; secret: string }> = {}
    const addApp = async (username: string) => {
      const { cookie } = await login(username)
      const { data } = (await post('/api/me/factors/totp', {}, { cookie })).body
      const confirmed = await post(
        '/api/me/factors/totp/confirm',
        { id: data.id, code: codeOf(data) },
        { cookie },
      )
      assert.equal(confirmed.status, 200)
      apps[username] = data
    }
    {
      await using running = await CarillonProcess.ready(folder, { env })
      url = running.url
      for (const name of ['ann', 'ben'])
        assert.equal((await run(env, 'user', 'add', name, '--password-stdin')).status, 0)
      await addApp('ann')
      await running.end('SIGTERM')
    }
    // docs/operations/keys-and-secrets.md says so in "A secret that is lost".
    const statement = 'delete from signing_key'
    if (database !== undefined) await queryAt(database.url, statement)
    else {
      const file = new DatabaseSync(folder.file('carillon.db'))
      file.exec(statement)
      file.close()
      rmSync(folder.file('carillon.secret'))
    }
    const wrong = await run(fresh, 'user', 'factors', 'reset', '--unreadable', '--yes')
    assert.equal(wrong.status, 1)
    await using running = await CarillonProcess.ready(folder, { env: fresh })
    url = running.url
    await addApp('ben')
    const { challenge } = (await login('ann')).body.error
    const refused = await post('/login/second-factor', {
      challenge,
      code: codeOf(apps.ann ?? { secret: '' }),
    })
    assert.equal(refused.status, 403)
    assert.match(
      refused.body.error.message,
      /^This service can no longer check the codes of your authenticator app\. /,
    )
    assert.doesNotMatch(refused.body.error.message, /CARILLON_|npx|carillon user/)
    const findings = async () =>
      JSON.parse((await run(fresh, 'doctor', url, '--json')).stdout).findings
    const unopened = (await findings()).find(({ found }: { found: string }) =>
      found.includes('does not open, whose codes are refused: 1'),
    )
    assert.equal(unopened?.state, 'fault')
    const mixed = await run(fresh, 'user', 'factors', 'reset', 'ann', '--unreadable', '--yes')
    assert.equal(mixed.status, 2)
    if (database !== undefined) {
      const other = { ...fresh, CARILLON_SECRET: 'a wrong secret, which was set by mistake' }
      const mistaken = await run(other, 'user', 'factors', 'reset', '--unreadable', '--yes')
      assert.deepEqual(
        [mistaken.status, /does not open the signing keys/.test(mistaken.stderr)],
        [1, true],
      )
    }
    const reset = await run(fresh, 'user', 'factors', 'reset', '--unreadable', '--yes', '--json')
    assert.equal(reset.status, 0, reset.stderr)
    const { removed, users } = JSON.parse(reset.stdout)
    assert.deepEqual(
      [removed, users.map(({ username }: { username: string }) => username)],
      [1, ['ann']],
    )
    assert.equal((await login('ann')).status, 200)
    assert.equal((await login('ben')).status, 401)
    assert.ok(
      (await findings()).every(({ found }: { found: string }) => !found.includes('does not open')),
    )
    assert.match(
      (await run(fresh, 'user', 'factors', 'reset', '--unreadable')).stdout,
      /opens every second factor/,
    )
  })
