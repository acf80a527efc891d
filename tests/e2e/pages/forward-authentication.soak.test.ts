// Behind a real nginx, Caddy and Traefik with the files of docs/proxies/forward-authentication/, no
// identity field and no cookie of Carillon reaches the application, whatever a client sends. Runs
// those that are on this machine.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { identityFields, spellings } from '../../../tools/generators/identity-fields.ts'
import {
  type RealProxy,
  realProxies,
  startRealProxy,
  versionOf,
} from '../../support/proxies/real-proxies.ts'
import { startTestService, type TestUser } from '../../support/service.ts'

/** Responds with the fields that it receives, and accepts every WebSocket. */
const application = createServer(({ rawHeaders }, response) =>
  response.end(JSON.stringify(rawHeaders)),
)
application.on('upgrade', (_, socket) => {
  socket.end(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
})
application.listen(0, '127.0.0.1')
await once(application, 'listening')
const carillon = await startTestService({
  env: { CARILLON_PUBLIC_URL: 'https://home.example.org', CARILLON_TRUSTED_PROXIES: '127.0.0.1' },
})
after(() => Promise.all([carillon.stop(), application.close()]))

type Field = [name: string, value: string]

async function send(port: number, fields: readonly Field[]): Promise<IncomingMessage> {
  const headers = [['Host', 'home.example.org'] as Field, ...fields].flat()
  const sent = request({ port, host: '127.0.0.1', path: '/wiki/', agent: false, headers })
  sent.end()
  const [response] = await Promise.race([once(sent, 'response'), once(sent, 'upgrade')])
  return response
}

/** Returns what the application received, by the lower-case name of each field. */
async function received(
  port: number,
  fields: readonly Field[],
): Promise<{ name: string; value: string }[]> {
  const response = await send(port, fields)
  const text = (await response.toArray()).join('')
  assert.equal(response.statusCode, 200, `${JSON.stringify(fields)}: ${text}`)
  const raw = JSON.parse(text) as string[]
  return raw.flatMap((name, index) =>
    index % 2 === 0 ? [{ name: name.toLowerCase(), value: raw[index + 1] ?? '' }] : [],
  )
}

/**
 * Returns cookies around those of Carillon: planted ones of the same and of like names, in places
 * and numbers that a browser sends.
 */
function planted(own: string[]): string[] {
  const [session = '', device = ''] = own
  const fake = (name: string) => `${name}=planted`
  const names = ['carillon', '__Host-carillon', '__Secure-carillon'].flatMap((name) => [
    name,
    `${name}-device`,
    `${name}-with-AAAAAAAA`,
  ])
  const beside = names.flatMap((name) => [
    [session, device, fake(name)],
    [fake(name), session, device],
    [fake(name), fake(name), session, 'a=1', device, fake(name), 'b=2', fake(name), fake(name)],
  ])
  const many = Array.from({ length: 20 }, (_, n) => [fake(`carillon-${n}`), `a${n}=1`]).flat()
  return [
    ...beside.map((each) => each.join('; ')),
    ['x="', session, device, 'y="'].join('; '),
    [session, '', device, ''].join(';'),
    [session, device].join(';\t '),
    ['=nameless', session, 'carillon', device, 'notcarillon=1', 'carillonade=1'].join('; '),
    [...many, session, device].join('; '),
    [session, device, ...many].join('; '),
  ]
}

const isOurs = /(?:^|;)\s*(?:__Host-|__Secure-)?carillon(?:-[^;=]*)?\s*=/

type Behind = { proxy: RealProxy; port: number; user: TestUser; own: string[] }

/** The application knows who sends the request by the fields of Carillon alone. */
async function refuseOtherIdentity(
  { proxy, port, user, own }: Behind,
  fields: readonly Field[],
): Promise<void> {
  const got = await received(port, [['Cookie', own[0] ?? ''], ...fields])
  const identity = got.filter(({ name, value }) => value === 'root' || /^remote[-_.]/.test(name))
  assert.deepEqual(
    identity.map(({ name, value }) => `${name}: ${value}`).sort(),
    [
      `remote-name: ${user.username}`,
      `remote-user-id: ${user.id}`,
      `remote-user: ${user.username}`,
    ],
    `${proxy}: ${JSON.stringify(fields)}`,
  )
}

const claims = identityFields.flatMap(spellings).map((name): Field => [name, 'root'])
const named = [
  'Remote-User',
  'Remote-User-Id, Remote-Name',
  'close, remote-user',
  'keep-alive, Remote-User, Upgrade',
  ', ,Remote-User',
]

async function tryFields(behind: Behind): Promise<void> {
  for (const claim of claims) await refuseOtherIdentity(behind, [claim])
  await refuseOtherIdentity(behind, [...claims.slice(0, 40), ...claims.slice(0, 40)])
  for (const name of identityFields) {
    const cases = [name.toLowerCase(), name.toUpperCase()]
    await refuseOtherIdentity(
      behind,
      cases.map((spelling): Field => [spelling, 'root']),
    )
  }
  for (const value of named) {
    await refuseOtherIdentity(behind, [
      ['Connection', value],
      ['Remote-User', 'root'],
    ])
    await refuseOtherIdentity(behind, [
      ['Connection', 'keep-alive'],
      ['Connection', value],
    ])
  }
  const upgrade: Field[] = [
    ['Cookie', behind.own[0] ?? ''],
    ['Connection', 'Upgrade, Remote-User'],
    ['Upgrade', 'websocket'],
  ]
  assert.equal((await send(behind.port, upgrade)).statusCode, 101, behind.proxy)
  assert.equal((await send(behind.port, upgrade.slice(1))).statusCode, 401, behind.proxy)
}

async function tryCookies({ proxy, port, own }: Behind): Promise<void> {
  for (const cookie of planted(own)) {
    // Carillon refuses a request with two different sessions, so the application gets nothing of it.
    const isRefused = cookie.includes('__Host-carillon=planted')
    const response = await send(port, [['Cookie', cookie]])
    const text = (await response.toArray()).join('')
    assert.equal(response.statusCode, isRefused ? 401 : 200, `${proxy}: ${cookie}`)
    const values: string[] = isRefused ? [] : JSON.parse(text)
    for (const value of values) assert.doesNotMatch(value, isOurs, `${proxy}: ${cookie}`)
  }
  const pairs = ['a=1', ...own, 'b=carillon=2', 'carillon-with-x=1', 'carillonade=3']
  const kept = await received(port, [['Cookie', pairs.join('; ')]])
  const cookies = kept
    .filter(({ name }) => name === 'cookie')
    .map(({ value }) => value.replace(/;\s*$/, ''))
  assert.deepEqual(cookies, proxy === 'traefik' ? [] : ['a=1; b=carillon=2; carillonade=3'], proxy)
}

test('no field and no cookie of Carillon reaches the application, planted ones and `Connection` included (F5)', async (t) => {
  const versions = realProxies.map((proxy) => ({ proxy, version: versionOf(proxy) }))
  const installed = versions.flatMap(({ proxy, version }) => (version === undefined ? [] : [proxy]))
  for (const { proxy, version } of versions)
    t.diagnostic(`${proxy}: ${version ?? 'not on this machine, and not run'}`)
  assert.notEqual(installed.length, 0, 'install at least one: apt-get install nginx caddy')

  const user = await carillon.user('ann')
  const signIn = await carillon.post('/login', { ...user, id: undefined, variant: 'stateful' })
  const own = signIn.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '')
  const names = own.map((pair) => pair.split('=', 1)[0])
  assert.deepEqual(names, ['__Host-carillon', '__Host-carillon-device'])

  const { port: applicationPort } = application.address() as AddressInfo
  for (const proxy of installed) {
    const folder = mkdtempSync(join(tmpdir(), `carillon-${proxy}-`))
    const running = await startRealProxy(proxy, {
      folder,
      carillon: new URL(carillon.url).host,
      application: `127.0.0.1:${applicationPort}`,
    })
    try {
      const behind = { proxy, port: running.port, user, own }
      await tryFields(behind)
      await tryCookies(behind)
      t.diagnostic(
        `${proxy}: ${claims.length} spellings, ${planted(own).length} cookies, ${named.length * 2} connections`,
      )
    } finally {
      await running.stop()
      rmSync(folder, { recursive: true })
    }
  }
})
