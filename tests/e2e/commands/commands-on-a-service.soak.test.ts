// A key is in force at once for a service that runs on the same database (Z4). `send` sends requests like any other producer.
// ended-elsewhere.soak.test.ts has the commands that end sign-ins.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { listening } from '../../support/network/free-port.ts'
import {
  CarillonProcess,
  carillon,
  carillonJson,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'

const folder = new Folder()
const running = await CarillonProcess.ready(folder)
const operator = new UserOfService(running.url, firstSignInOf(folder))
after(async () => {
  operator.close()
  await running[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const json = (...args: string[]) => carillonJson(folder, args)

test('a new key can send at once, and a revoked key cannot send (Z4)', async () => {
  const { id, key } = await json('key', 'add', 'shop')
  const send = () =>
    operator.post(
      '/api/notifications',
      { recipients: [{ username: 'operator' }], title: 'From the shop' },
      { authorization: `Bearer ${key}` },
    )
  assert.equal((await send()).status, 201)
  const [listed] = (await json('key', 'list')).filter((one: { id: string }) => one.id === id)
  assert.notEqual(listed.lastUsedAt, null)
  await json('key', 'revoke', id)
  assert.equal((await send()).status, 401)
})

const withKey = (key: string, env: Record<string, string> = {}) => ({
  env: { CARILLON_URL: running.url, CARILLON_PRODUCER_KEY: key, ...env },
})
const { key: theKey } = firstSignInOf(folder)
const hello = ['send', '--to', 'operator', '--title', 'Hello']
const newest = async () => (await operator.inbox(await operator.signIn()))[0]

test('carillon send delivers its options as a notification, and prints text or JSON; with --renotify it is new again', async () => {
  const order = ['send', '--to', 'operator', '--title', 'Order 7', '--link', '/orders/7']
  const args = [...order, '--category', 'orders', '--data', '{"order":7}', '--key', 'order-7']
  const { status, stdout, stderr } = await carillon(folder, args, withKey(theKey))
  assert.deepEqual([status, stdout, stderr], [0, 'Sent to operator\n', ''])
  const { url, category, data, key } = (await newest()) as unknown as Record<string, unknown>
  assert.deepEqual([url, category, data, key], ['/orders/7', 'orders', { order: 7 }, 'order-7'])
  const again = await carillonJson(folder, [...args, '--renotify'], withKey(theKey))
  assert.equal(again.results[0].status, 'updated')
  assert.equal(((await newest()) as unknown as { count: number }).count, 2)
})

test('carillon send reads its key from a file, and sends to the address of --url', async () => {
  writeFileSync(folder.file('key'), `${theKey}\n`, { mode: 0o600 })
  const env = { CARILLON_PRODUCER_KEY_FILE: folder.file('key') }
  const { status, stderr } = await carillon(folder, [...hello, '--url', running.url], { env })
  assert.equal(status, 0, stderr)
  assert.equal((await newest())?.title, 'Hello')
})

test('carillon send lists the recipients that it reached and the unknown ones, and exits with status 1', async () => {
  const args = [
    'send',
    '--to',
    'nobody',
    '--to',
    'operator',
    '--to',
    'no one',
    '--title',
    'Who is there?',
  ]
  const { status, stdout, stderr } = await carillon(folder, args, withKey(theKey))
  assert.deepEqual(
    [status, stdout, stderr],
    [1, 'Sent to operator\n', 'carillon: There is no user nobody, no one\n'],
  )
  const machine = await carillon(folder, [...args, '--json'], withKey(theKey))
  assert.equal(machine.status, 1)
  assert.deepEqual(
    JSON.parse(machine.stdout).results.map((one: { status: string }) => one.status),
    ['unknown_recipient', 'delivered', 'unknown_recipient'],
  )
  assert.equal(machine.stderr, stderr)
})

test('carillon send reaches users by external id, and sends nothing if it refuses unknown recipients', async () => {
  const { key } = await json('key', 'add', 'crm', '--scope', 'send,users')
  const args = ['send', '--external-id', 'crm/7', '--external-id', '8', '--title', 'Hello']
  assert.equal((await carillon(folder, args, withKey(theKey))).status, 1)
  const { status, stdout } = await carillon(folder, [...args, '--to', 'operator'], withKey(key))
  assert.deepEqual([status, stdout], [0, 'Sent to operator\nSent to crm/7\nSent to 8\n'])
  const [{ id }] = await json('user', 'list', '--search', 'operator')
  const byId = await carillon(
    folder,
    ['send', '--user-id', id, '--title', 'Hello'],
    withKey(theKey),
  )
  assert.deepEqual([byId.status, byId.stdout], [0, `Sent to ${id}\n`])
  const ofIssuer = [...args, '--issuer', 'https://id.example']
  const refused = await carillon(
    folder,
    [...ofIssuer, '--to', 'operator', '--refuse-unknown'],
    withKey(theKey),
  )
  assert.deepEqual([refused.status, refused.stdout], [1, ''])
  assert.match(
    refused.stderr,
    /Not every recipient is a user.*\n {2}crm\/7 names no user\n {2}8 names no user\n/,
  )
  const none = await carillon(folder, ['send', '--title', 'Hello'], withKey(theKey))
  assert.deepEqual([none.status, none.stdout], [2, ''])
  assert.match(none.stderr, /--to, --user-id or --external-id/)
})

test('carillon send exits with status 1 and the reason of the service, and sends nothing', async () => {
  const before = (await newest())?.id
  const scopeless = await json('key', 'add', 'admin', '--scope', 'users')
  const wrong = `${theKey.slice(0, -4)}AAAA`
  const refused: [string[], string, RegExp][] = [
    [hello, wrong, /refused the request: Not authenticated/],
    [hello, scopeless.key, /lacks the scope "send"/],
    [[...hello, '--data', '[1]'], theKey, /\n {2}data must be of the type object/],
  ]
  for (const [args, key, reason] of refused) {
    const { status, stdout, stderr } = await carillon(folder, args, withKey(key))
    assert.deepEqual([status, stdout], [1, ''], stderr)
    assert.match(stderr, /^carillon: The service refused the request: /)
    assert.match(stderr, reason)
    assert.ok(!stderr.includes(key))
  }
  assert.equal((await newest())?.id, before)
})

test('carillon send refuses data that is not JSON and an invalid key with status 2, and does not print the key', async () => {
  const data = await carillon(folder, [...hello, '--data', '{order:7}'], withKey(theKey))
  assert.deepEqual([data.status, data.stdout], [2, ''])
  assert.match(data.stderr, /--data takes a JSON object/)
  const key = await carillon(folder, hello, withKey('not-a-key-of-ours'))
  assert.deepEqual([key.status, key.stdout], [2, ''])
  assert.match(key.stderr, /CARILLON_PRODUCER_KEY has a value that is not displayed here/)
  assert.doesNotMatch(key.stderr, /not-a-key/)
})

test('carillon send names an address where no program responds, and one where another program responds', async () => {
  const other = createServer((_, response) => response.end('<html>It works!</html>'))
  const url = `http://127.0.0.1:${await listening(other)}`
  const stranger = await carillon(folder, hello, withKey(theKey, { CARILLON_URL: url }))
  assert.deepEqual([stranger.status, stranger.stdout], [1, ''])
  assert.match(stranger.stderr, /^carillon: The response with status 200 is not from Carillon\n$/)
  await new Promise((resolve) => other.close(resolve))
  const nobody = await carillon(folder, hello, withKey(theKey, { CARILLON_URL: url }))
  assert.deepEqual([nobody.status, nobody.stdout], [1, ''])
  assert.equal(nobody.stderr, `carillon: No service answers at ${url}. Is the service running?\n`)
})
