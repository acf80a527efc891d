import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { isOnThisMachine, postgresServer, readDatabaseUrl } from './database-url.ts'

const hosts = [
  'db.example',
  'ann@db.example:5433',
  'ann:pw@db.example',
  'a,b',
  '[::1]:5432',
  '[2001:db8::1]',
  '127.0.0.1',
  '%2Frun%2Fpostgresql',
  'db%2Eexample',
  'ann%20b@db.example',
  'ann:p w@db.example',
  'ann:1%2@db.example',
  'ann@',
  '',
]
const queries = [
  '',
  ...[
    'disable',
    'allow',
    'prefer',
    'require',
    'verify-ca',
    'verify-full',
    'no-verify',
    '',
    'REQUIRE',
  ].map((mode) => `?sslmode=${mode}`),
  '?uselibpqcompat=true&sslmode=require',
  '?ssl=true',
  '?ssl=1',
  '?ssl=0',
  '?ssl=',
  '?ssl=no-verify',
  '?ssl=0&sslmode=verify-full',
  '?sslmode=verify-full&sslmode=disable',
  '?sslmode=disable&sslmode=verify-full',
  '?sslmod%65=disable',
  '?sslnegotiation=direct',
  '?host=other.example',
  '?host=/run/postgresql&sslmode=disable',
  '?host=a.example&host=127.0.0.1',
  '?host=&sslmode=disable',
]

test('names the host that pg connects to, and TLS only if pg requires it (L4)', () => {
  // pg warns that a later version will treat these modes as libpq does.
  process.removeAllListeners('warning').on('warning', () => {})
  const saved = { host: process.env.PGHOST, mode: process.env.PGSSLMODE }
  const urls = hosts.flatMap((host) =>
    queries.map((query) => `postgres://${host}/carillon${query}`),
  )
  const modes = ['', 'disable', 'allow', 'prefer', 'require', 'verify-full', 'no-verify']
  try {
    for (const host of ['', 'from-env.example'])
      for (const mode of modes) {
        process.env.PGHOST = host
        process.env.PGSSLMODE = mode
        urls.forEach(compareWithPg)
      }
  } finally {
    restore('PGHOST', saved.host)
    restore('PGSSLMODE', saved.mode)
  }
})

function compareWithPg(url: string): void {
  type Parameters = { host: string; ssl: boolean | string | { rejectUnauthorized?: boolean } }
  const { host, ssl } = (new pg.Client(url) as unknown as { connectionParameters: Parameters })
    .connectionParameters
  const server = postgresServer(readDatabaseUrl(url), process.env)
  const description = `${url} with PGHOST=${process.env.PGHOST} PGSSLMODE=${process.env.PGSSLMODE}`
  assert.equal(server?.host, host, description)
  const isVerified = ssl === true || (typeof ssl === 'object' && ssl.rejectUnauthorized !== false)
  if (server.tls !== 'none') assert.ok(ssl, description)
  if (server.tls === 'verified') assert.ok(isVerified, description)
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

test('a mode that may fall back to plain text does not count as TLS (L4)', () => {
  const tlsOf = (query: string, env = {}) =>
    postgresServer(readDatabaseUrl(`postgres://db.example/c${query}`), env)?.tls
  for (const query of [
    '',
    '?sslmode=disable',
    '?sslmode=allow',
    '?sslmode=prefer',
    '?ssl=0',
    '?sslmode=unknown',
  ])
    assert.equal(tlsOf(query), 'none', query)
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    assert.equal(tlsOf(`?sslmode=${mode}`), 'verified')
    assert.equal(tlsOf('', { PGSSLMODE: mode }), 'verified')
  }
  assert.equal(tlsOf('?sslmode=no-verify'), 'unverified')
  assert.equal(tlsOf('?uselibpqcompat=true&sslmode=require'), 'unverified')
})

test('only loopback addresses and Unix sockets count as this machine, not names that look similar (L4)', () => {
  const here = [
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '/run/postgresql',
    '127.0.0.1,/run,::1',
  ]
  const elsewhere = [
    'db.example',
    'localhost.example',
    '0.0.0.0',
    '10.0.0.1',
    '127.0.0.1,db.example',
    'localhost#.a.example',
    'x@localhost',
    'run/socket',
  ]
  for (const host of here) assert.ok(isOnThisMachine({ host, tls: 'none' }), host)
  for (const host of elsewhere) assert.ok(!isOnThisMachine({ host, tls: 'none' }), host)
})
