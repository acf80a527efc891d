// No secret that a real service used is readable in its database, write-ahead log, backup or log,
// nor in what the commands print (A16, S9). tests/api/sign-in/secrets-at-rest.test.ts does the same
// with secrets in wrong places.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  CarillonProcess,
  carillon,
  carillonJson,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'

const sealing = 'nine amber owls on a wire, only for this test'

test('no secret of a run is in the database, its log, a backup, or a line of the log (A16, S9)', async () => {
  using folder = new Folder()
  const env = { CARILLON_SECRET: sealing, CARILLON_LOG: 'trace' }
  await using running = await CarillonProcess.ready(folder, { env })
  const secrets: Record<string, string> = { 'the sealing secret': sealing }
  const operator = firstSignInOf(folder)
  const command = (...args: string[]) => carillonJson(folder, args, { env })
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${running.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return {
      status: response.status,
      cookies: response.headers.getSetCookie(),
      json: text === '' ? {} : JSON.parse(text),
    }
  }
  const cookieValue = (cookie = '') => cookie.split(';')[0]?.split('=').slice(1).join('=') ?? ''

  secrets['the first password'] = operator.password
  secrets['the first key'] = operator.key.split('_').slice(2).join('_')
  const { username, password } = await command('user', 'add', 'ann')
  secrets['the password'] = password
  const { id: keyId, key } = await command('key', 'add', 'shop', '--scope', 'send,users')
  secrets['a producer key'] = key.split('_').slice(2).join('_')
  const rotated = await command('key', 'rotate', keyId)
  secrets['a rotated producer key'] = rotated.key.split('_').slice(2).join('_')

  const token = await send('/login', { username, password, variant: 'stateless' })
  assert.equal(token.status, 200)
  secrets['a token'] = token.json.token.split('.')[2]
  secrets['a device token'] = token.json.deviceToken
  const session = await send('/login', { username, password, variant: 'stateful' })
  for (const [n, cookie] of session.cookies.entries())
    secrets[`cookie ${n}`] = cookieValue(cookie).split('.').at(-1) ?? ''
  secrets['a wrong password'] = 'violet kettle drum 78'
  assert.equal(
    (await send('/login', { username, password: secrets['a wrong password'] })).status,
    401,
  )

  secrets['a password as a username'] = 'this is a typo of my passphrase'
  const typed = { username: secrets['a password as a username'], password }
  assert.equal((await send('/login', typed)).status, 401)

  const proof = { authorization: `Bearer ${token.json.token}` }
  const added = (await send('/api/me/factors/totp', {}, proof)).json.data
  secrets['the secret of an authenticator'] = added.secret
  const code = new Authenticator(added.secret).code(Date.now())
  const confirmed = await send('/api/me/factors/totp/confirm', { id: added.id, code }, proof)
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.json))
  for (const [n, one] of confirmed.json.data.recoveryCodes.entries())
    secrets[`recovery code ${n}`] = one
  const challenged = await send('/login', { username, password })
  assert.equal(challenged.json.error.code, 'SECOND_FACTOR_REQUIRED')
  secrets['a challenge'] = challenged.json.error.challenge.split('.').at(-1)

  const { url } = await command('user', 'link', 'ann')
  const link = new URL(url).hash.slice(1)
  secrets['a link'] = link
  secrets['a new password'] = 'grey heron over the weir 12'
  const reset = await send('/password/reset', {
    token: link,
    newPassword: secrets['a new password'],
  })
  assert.equal(reset.status, 204, JSON.stringify(reset.json))
  const backup = await carillon(folder, ['backup', 'carillon.backup'], { env })
  assert.equal(backup.status, 0, backup.stderr)
  const printed: unknown[] = []
  for (const list of [['audit'], ['user', 'list'], ['key', 'list']])
    printed.push(await command(...list))

  const places: Record<string, Buffer> = {
    'the log': Buffer.from(running.stdout + running.stderr),
    printed: Buffer.from(JSON.stringify(printed)),
  }
  for (const name of readdirSync(folder.path, { recursive: true, encoding: 'utf8' })) {
    // The one file that displays the first sign-in once.
    if (name.endsWith('first-sign-in.txt')) continue
    try {
      places[name] = readFileSync(join(folder.path, name))
    } catch {}
  }
  assert.ok(Object.keys(places).some((name) => name.endsWith('-wal')))
  assert.ok(places['carillon.backup'])
  assert.ok(Object.keys(secrets).length >= 20)
  assert.ok(
    Object.values(places).some((bytes) => bytes.includes('ann')),
    'the search finds what is there',
  )
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 8, name)
    for (const [place, bytes] of Object.entries(places))
      assert.ok(!bytes.includes(secret), `${name} is in ${place}`)
  }
})
