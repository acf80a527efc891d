// `carillon user factors` while the service runs: an operator lists the second factors of a user, and removes them all, on both engines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../support/postgres.ts'
import { CarillonProcess, carillon, type Environment, Folder } from '../../support/processes/carillon-process.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'

const password = 'plum orchard gate 41'
const secret = 'twelve grey herons in the reeds, only for tests'

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`"carillon user factors reset" removes the factors of a user and ends every sign-in (${engine}, A18)`, async (t) => {
    using folder = new Folder()
    const database = engine === 'SQLite' ? undefined : await newDatabase()
    if (database !== undefined) t.after(database.drop)
    const env: Environment = database ? { CARILLON_DATABASE_URL: database.url, CARILLON_SECRET: secret } : {}
    await using running = await CarillonProcess.ready(folder, { env })
    const user = (...args: string[]) => carillon(folder, ['user', ...args], { env, stdin: password })
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
    assert.equal((await post('/api/me/factors/totp/confirm', { id: data.id, code }, cookie)).status, 200)
    assert.equal((await login()).status, 401)
    const listed = await json('factors', 'list', 'ann')
    assert.deepEqual([listed.items[0].id, listed.items[0].label, listed.recoveryCodesLeft], [data.id, 'Phone', 10])
    const text = (await user('factors', 'list', '--id', id)).stdout
    assert.match(text, /Phone +yes/)
    assert.match(text, /recovery codes left: 10/)
    for (const output of [text, JSON.stringify(listed)]) assert.ok(!output.includes(data.secret))
    assert.deepEqual(await json('factors', 'reset', 'ann', '--yes'), { id, username: 'ann', removed: 1 })
    const me = await fetch(`${running.url}/api/me`, { headers: { cookie } })
    assert.equal(me.status, 401)
    assert.equal((await login()).status, 200)
    const log = await carillon(folder, ['audit', '--user', 'ann', '--json'], { env })
    assert.match(log.stdout, /factors-reset/)
    const unknown = await user('factors', 'reset', 'nobody', '--yes')
    assert.deepEqual([unknown.status, unknown.stderr], [1, 'carillon: There is no user nobody\n'])
  })
