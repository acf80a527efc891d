// `carillon user link` while the service runs: the link sets the password once. links.contract.ts has uses at the same time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CarillonProcess, carillon, Folder } from '../../support/processes/carillon-process.ts'

const newPassword = 'grey heron over the weir'
const headers = { 'content-type': 'application/json' }

async function post(url: string, path: string, body: object): Promise<number> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return response.status
}

const tokenOf = (url: string) => url.split('#')[1] ?? ''

test('a link of "carillon user link" sets the password once; using one voids the others (A19)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = (...args: string[]) =>
    carillon(folder, ['user', ...args], {
      env: { CARILLON_PUBLIC_URL: running.url },
      stdin: 'plum orchard gate 41',
    })
  const json = async (...args: string[]) => JSON.parse((await user(...args, '--json')).stdout)
  const { id } = await json('add', 'ann', '--external-id', 'customer-42', '--password-stdin')

  const first = await json('link', 'ann')
  assert.deepEqual(Object.keys(first), ['id', 'username', 'purpose', 'url', 'expiresAt'])
  assert.deepEqual([first.id, first.username, first.purpose], [id, 'ann', 'reset'])
  assert.match(first.url, new RegExp(`^${running.url}/reset#[\\w-]{43}$`))
  const left = Date.parse(first.expiresAt) - Date.now()
  assert.ok(left > 10 * 60_000 && left <= 15 * 60_000, `${left} ms`)
  const second = await json('link', '--external-id', 'customer-42')
  const use = (url: string) =>
    post(running.url, '/password/reset', { token: tokenOf(url), newPassword })
  assert.equal(await use(second.url), 204)
  for (const { url } of [first, second]) assert.equal(await use(url), 422)
  assert.equal(await post(running.url, '/login', { username: 'ann', password: newPassword }), 200)

  const invited = await user('link', '--id', id, '--purpose', 'invite')
  assert.deepEqual(
    [invited.status, /can sign in already/.test(invited.stderr)],
    [1, true],
    invited.stderr,
  )
  const unknown = await user('link', 'nobody')
  assert.deepEqual([unknown.status, unknown.stderr], [1, 'carillon: There is no user nobody\n'])
  await user('add', '--external-id', 'nameless')
  const nameless = await user('link', '--external-id', 'nameless')
  assert.equal(nameless.status, 1)
  assert.match(nameless.stderr, /has no username/)
  assert.equal((await user('disable', 'ann')).status, 0)
  assert.match((await user('link', 'ann')).stderr, /is disabled/)
})
