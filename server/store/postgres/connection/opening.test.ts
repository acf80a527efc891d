import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import pg from 'pg'
import { freePort } from '../../../../tests/support/network/free-port.ts'
import { TcpProxy } from '../../../../tests/support/network/tcp-proxy.ts'
import {
  guarded,
  newDatabase,
  PostgresServer,
  queryAt,
} from '../../../../tests/support/postgres.ts'
import { isUnavailable } from '../../../contract/world.ts'
import { openPostgresStore } from '../store.ts'
import { openingFailure } from './opening.ts'

const secret = 'hunter2hunter2'
const database = await newDatabase()
const bare = await newDatabase({ isBare: true })
const free = await freePort()
after(() => Promise.all([database.drop(), bare.drop()]))

function urlWith(change: (url: URL) => void, from = database.url): string {
  const url = new URL(from)
  change(url)
  return url.href
}

async function refuses(url: string, sentence: RegExp): Promise<void> {
  await assert.rejects(openPostgresStore(url, { partitions: 3 }), (error) => {
    assert.ok(isUnavailable(error), String(error))
    assert.match(error.message, sentence)
    assert.match(error.message, /^[^\n]+[.?;]$/)
    assert.doesNotMatch(error.message, new RegExp(`${secret}|${guarded.password}`))
    return true
  })
}

function asRole(role: string, password = ''): (url: URL) => void {
  return (url) => Object.assign(url, { username: role, password })
}

const me = `postgres://me:${secret}`
const refusals: [what: string, url: string, sentence: RegExp][] = [
  [
    'a wrong password',
    urlWith(asRole(guarded.role, secret)),
    /^PostgreSQL refuses the password\. Correct CARILLON_DATABASE_URL/,
  ],
  [
    'a missing password',
    urlWith(asRole(guarded.role)),
    /^PostgreSQL requires a password\. Add it to CARILLON_DATABASE_URL/,
  ],
  [
    'a role that does not exist',
    urlWith(asRole('no-such-role', secret)),
    /^PostgreSQL refuses this user\. Correct CARILLON_DATABASE_URL/,
  ],
  [
    'a database that does not exist',
    urlWith((url) => Object.assign(url, { pathname: '/mislaid', password: secret })),
    /^This database does not exist\. Make it with createdb/,
  ],
  ['an unknown host', `${me}@nowhere.invalid/carillon`, /^The host of CARILLON_DATABASE_URL/],
  [
    'a port without a server',
    `${me}@localhost:${free}/carillon`,
    /^No server responds at the address of CARILLON_DATABASE_URL\./,
  ],
  [
    'an invalid URL',
    `${me}@127.0.0.1:99999/carillon`,
    /^CARILLON_DATABASE_URL is not a URL\. Write /,
  ],
]
for (const [what, url, sentence] of refusals)
  test(`${what} is named in the error`, () => refuses(url, sentence))

test('a role without rights is named in the error, whether the schema exists or not', async () => {
  const rights = /^This role has too few rights\..* grant create on schema public to/
  for (const { url } of [bare, database])
    await refuses(urlWith(asRole(guarded.role, guarded.password), url), rights)
})

test('a database for which pg_hba.conf has no line may be missing: the error does not blame the user', () => {
  const refused = new pg.DatabaseError(
    'no pg_hba.conf entry for host "10.0.0.1", user "me", database "mislaid"',
    0,
    'error',
  )
  const failure = openingFailure(
    Object.assign(refused, { code: '28000', routine: 'ClientAuthentication' }),
  )
  assert.match(
    failure.message,
    /^pg_hba\.conf allows this user no connection to this database\. Does the database exist\?/,
  )
})

test('a start waits for a server that is down, reports why, and continues when the server responds', async (t) => {
  const other = await PostgresServer.start()
  t.after(() => other.remove())
  const url = await other.newDatabase()
  await other.stop()
  const reasons: string[] = []
  const opening = openPostgresStore(url, {
    partitions: 3,
    startTimeout: {
      timeoutMs: 60_000,
      onWait: (reason) => {
        reasons.push(reason)
        if (reasons.length === 1) void other.begin()
      },
    },
  })
  const { store } = await opening
  await store.close()
  assert.match(reasons[0] ?? '', /^No server responds at the address/)
})

test('a start gives up at its time limit; it waits only for a server that cannot be reached', async () => {
  const reasons: string[] = []
  const startTimeout = { timeoutMs: 1_200, onWait: (reason: string) => void reasons.push(reason) }
  const away = urlWith((url) => Object.assign(url, { port: String(free) }))
  await assert.rejects(
    openPostgresStore(away, { partitions: 3, startTimeout }),
    /^CarillonError: No server responds/,
  )
  assert.equal(reasons.length, 1, 'the same reason is reported once')
  const wrong = urlWith(asRole(guarded.role, secret))
  const never = { timeoutMs: 60_000, onWait: assert.fail }
  await assert.rejects(
    openPostgresStore(wrong, { partitions: 3, startTimeout: never }),
    /refuses the password/,
  )
})

test('a server that is not PostgreSQL, or never responds, is named in the error after a few seconds', async (t) => {
  const startedAt = performance.now()
  const refused = ['HTTP/1.1 400 Bad Request\r\n\r\n', ''].map(async (greeting) => {
    const other = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .write(greeting),
    )
    t.after(() => other.close())
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    await refuses(
      `postgres://me:${secret}@127.0.0.1:${port}/carillon`,
      /^No PostgreSQL responds at the address/,
    )
  })
  await Promise.all(refused)
  assert.ok(performance.now() - startedAt < 60_000)
})

test('a server that is too old is named in the error', async () => {
  await using proxy = await TcpProxy.to(Number(new URL(database.url).port))
  const { rows } = await queryAt(database.url, 'show server_version_num')
  const version = rows[0].server_version_num as string
  proxy.intercept = ({ direction, bytes }) => {
    const place = direction === 'to client' ? bytes.indexOf(version) : -1
    if (place < 0) return undefined
    const older = Buffer.from(bytes)
    older.write('140012', place)
    return { pass: older }
  }
  await refuses(
    proxy.urlFor(database.url),
    /^This PostgreSQL is too old: Carillon needs version 15 or later\. Upgrade PostgreSQL\.$/,
  )
})

test('a server without a free connection is named in the error', async (t) => {
  await queryAt(database.url, 'create role crowd login connection limit 0')
  t.after(() => queryAt(database.url, 'drop role crowd'))
  await refuses(urlWith(asRole('crowd')), /^This PostgreSQL has no connection left\./)
})
