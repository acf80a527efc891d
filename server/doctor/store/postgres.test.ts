// The checks change nothing.
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { guarded, newDatabase, queryAt } from '../../../tests/support/postgres.ts'
import { version } from '../../basics/version.ts'
import { nodeLivesMs, putNode } from '../../metrics/nodes.store.ts'
import { openStore } from '../../open-store.ts'
import type { Move } from '../../store/transfer-state.ts'
import type { Finding } from '../finding.ts'
import { examinePostgres } from './postgres.ts'

async function database(t: TestContext, options: { isBare?: boolean } = {}): Promise<string> {
  const { url, drop } = await newDatabase(options)
  t.after(drop)
  return url
}

/** The test server runs without fsync, which is always a finding. */
async function wrong(url: string, now = Date.now): Promise<Finding[]> {
  const { findings } = await examinePostgres(url, now)
  return findings.filter(({ state, found }) => state !== 'ok' && !found.startsWith('fsync'))
}

/** The role is no superuser. */
function asGuarded(url: string, password = guarded.password): string {
  const other = new URL(url)
  other.username = guarded.role
  other.password = password
  return other.href
}

function isOnly(
  findings: Finding[],
  [check, state, change]: [string, Finding['state'], RegExp],
): void {
  assert.deepEqual(
    findings.map((one) => [one.check, one.state]),
    [[check, state]],
    JSON.stringify(findings),
  )
  assert.match(findings[0]?.change ?? '', change)
}

test('finds nothing wrong with a sound database, and reads its signing keys', async (t) => {
  const url = await database(t)
  await queryAt(
    url,
    `grant all on schema public to ${guarded.role}; grant all on all tables in schema public to ${guarded.role}`,
  )
  await queryAt(url, "insert into signing_key values ('k', '{}', 's', 1, 2)")
  assert.deepEqual(await wrong(asGuarded(url)), [])
  const { findings, signingKeys } = await examinePostgres(asGuarded(url), Date.now)
  assert.deepEqual(signingKeys, [
    {
      kid: 'k',
      publicJwk: '{}',
      sealedPrivateJwk: 's',
      createdAt: 1,
      startsAt: 2,
      retiredAt: null,
    },
  ])
  for (const check of ['PostgreSQL', 'clock', 'rights', 'schema'])
    assert.ok(
      findings.some((one) => one.check === check && one.state === 'ok'),
      check,
    )
})

test('names the settings in which two nodes that run differ, but not their ports', async (t) => {
  const url = await database(t)
  const { store } = await openStore({ engine: 'postgres', url })
  t.after(() => store.close())
  const put = (name: string, settings: Record<string, unknown>, seenAt = Date.now()) =>
    store.write(putNode, {
      id: name,
      name,
      seenAt,
      facts: JSON.stringify({ settings, streams: [] }),
    })
  const same = { CARILLON_STREAMS: 20_000, CARILLON_PORT: 7464 }
  await put('a', same)
  await put('b', { ...same, CARILLON_PORT: 7465 })
  const found = async () => {
    const { findings } = await examinePostgres(url, Date.now)
    return findings.filter(({ check }) => check === 'settings of the nodes')
  }
  assert.deepEqual(
    (await found()).map(({ state }) => state),
    ['ok'],
  )
  await put('b', { ...same, CARILLON_STREAMS: 10 })
  const [differing] = await found()
  assert.equal(differing?.found, 'they differ: CARILLON_STREAMS (a: 20000, b: 10)')
  await put('b', { ...same, CARILLON_STREAMS: 10 }, Date.now() - nodeLivesMs - 1_000)
  assert.deepEqual(await found(), [], 'a node that was killed')
})

test('finds a superuser, and a role that may make no tables', async (t) => {
  const url = await database(t)
  isOnly(await wrong(url), ['rights', 'warning', /create role carillon/])
  await queryAt(url, `grant select on all tables in schema public to ${guarded.role}`)
  isOnly(await wrong(asGuarded(url)), [
    'rights',
    'fault',
    new RegExp(`^grant create on schema public to ${guarded.role};$`),
  ])
})

test('finds functions that an older version made, and leaves them', async (t) => {
  const url = await database(t)
  await queryAt(url, 'comment on table migration is null')
  const [, older] = await wrong(url)
  isOnly([older as Finding], ['schema', 'warning', /^npx carillon migrate$/])
  const { rows } = await queryAt(
    url,
    "select obj_description('migration'::regclass, 'pg_class') as label",
  )
  assert.equal(rows[0].label, null)
})

test('finds a missing schema, and creates none', async (t) => {
  const bare = await database(t, { isBare: true })
  const [, missing] = await wrong(bare)
  isOnly([missing as Finding], ['schema', 'warning', /^npx carillon migrate$/])
  const { rows } = await queryAt(bare, "select 1 from pg_tables where schemaname = 'public'")
  assert.deepEqual(rows, [])
})

test('finds an unfinished move', async (t) => {
  const url = await database(t)
  const state = { id: 'm', target: 'B', startedAt: 0, endedAt: null } satisfies Move
  const create = 'create table carillon_moving (state text primary key)'
  await queryAt(url, `${create}; insert into carillon_moving values ('${JSON.stringify(state)}')`)
  const [, moving] = await wrong(url)
  isOnly([moving as Finding], ['move', 'fault', /^run the same move again; or give it up/])
})

test('finds clocks that differ, and a database that takes no writes', async (t) => {
  const url = await database(t)
  const behind = await wrong(url, () => Date.now() - 600_000)
  isOnly(behind.slice(0, 1), ['clock', 'fault', /timedatectl/])
  assert.match(behind[0]?.found ?? '', /(599|60\d) s ahead of this machine's$/)
  const name = new URL(url).pathname.slice(1)
  await queryAt(url, `alter database ${name} set default_transaction_read_only = on`)
  isOnly((await wrong(url)).slice(0, 1), [
    'database',
    'fault',
    /reset default_transaction_read_only/,
  ])
})

test('finds a wrong password, an unknown database and a missing server, and prints no password', async (t) => {
  const url = await database(t)
  const password = 'not-this-one'
  const unknown = new URL(url)
  unknown.pathname = '/nowhere'
  const refusals: [string, RegExp][] = [
    [asGuarded(url, password), /Correct CARILLON_DATABASE_URL/],
    [unknown.href, /createdb/],
    [`postgres://ann:${password}@127.0.0.1:1/carillon`, /Is PostgreSQL running there\?/],
  ]
  for (const [place, change] of refusals) {
    const found = await wrong(place)
    isOnly(found, ['database', 'fault', change])
    assert.ok(!JSON.stringify(found).includes(password))
  }
})

test('reports an encoding other than UTF-8 together with the other faults', async (t) => {
  const url = new URL(await database(t, { isBare: true }))
  const server = String(url)
  const name = `${url.pathname.slice(1)}_latin1`
  await queryAt(server, `create database ${name} encoding 'LATIN1' template template0`)
  url.pathname = name
  const findings = await wrong(String(url))
  assert.match(
    findings.find(({ found }) => found === 'its encoding is LATIN1')?.change ?? '',
    /^createdb --encoding=UTF8/,
  )
  assert.ok(findings.some(({ check }) => check === 'schema'))
  await queryAt(server, `drop database ${name} with (force)`)
})

test('names the processes with their versions and machines', async (t) => {
  const url = await database(t)
  const { store } = await openStore({ engine: 'postgres', url })
  t.after(() => store.close())
  const processes = async () => {
    const { findings } = await examinePostgres(url, Date.now)
    const { state, found } = findings.find(({ check }) => check === 'processes') ?? assert.fail()
    return [state, found]
  }
  const own = `${version} ${hostname()}`
  assert.deepEqual(await processes(), ['ok', own])
  const other = new pg.Client({
    connectionString: url,
    application_name: 'carillon change signals 0.0.9 elsewhere',
  })
  await other.connect()
  assert.deepEqual(await processes(), ['ok', `0.0.9 elsewhere, ${own}`])
  await other.end()
})
