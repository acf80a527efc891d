// A move that is interrupted at any moment, refused, repeated or given up: what each database holds then, and whether it accepts
// writes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryAt } from '../../../tests/support/postgres.ts'
import { displayDatabase, readDatabaseUrl } from '../../config/database-url.ts'
import { CarillonError } from '../../errors.ts'
import { openStore, usualPartitions } from '../open.ts'
import { connect } from '../sqlite/database.ts'
import type { Digest } from './digest.ts'
import type { Endpoint, Engine, Place } from './endpoint/endpoint.ts'
import { openEndpoint } from './endpoint/open.ts'
import { tablesIn } from './endpoint/sqlite-rows.ts'
import { tables } from './endpoint/tables.ts'
import { giveUpMove, moveDatabase, refusingSentence } from './move.ts'
import { carillon, start } from './testing/command.ts'
import { assertHalfFilled, digestsAt, emptyPlace, filledPlace, sqliteFile } from './testing/filled.ts'

const manyNotifications = 20_000
const engines = ['sqlite', 'postgres'] as const
/** Behind every row, in the order of the tables and of their keys. */
const lastPlace: Place = { table: 'audit', rows: 99, key: ['\u{10ffff}', ''] }

let moves = 0
const move = (from: string, to: string): Promise<Digest[]> =>
  moveDatabase({
    from: readDatabaseUrl(from),
    to: readDatabaseUrl(to),
    partitions: usualPartitions,
    id: `m${++moves}`,
    now: () => 0,
    report: () => {},
  })

/** What a place holds, worked on through its endpoint. */
async function at<Result>(url: string, work: (endpoint: Endpoint) => Promise<Result>): Promise<Result> {
  const endpoint = await openEndpoint(readDatabaseUrl(url))
  try {
    return await work(endpoint)
  } finally {
    await endpoint.close()
  }
}

/** As an ended move would leave it, when it had copied every row. */
async function markAsFilled(url: string, id: string): Promise<void> {
  await at(url, async (endpoint) => {
    await endpoint.beginFilling(id)
    const table = { name: 'audit', key: 2, columns: { user_id: 'text', id: 'text' } } as const
    await endpoint.add({ table, rows: [] }, { id, before: null, after: lastPlace })
  })
}

function refusal(message: RegExp) {
  return (error: unknown) => error instanceof CarillonError && message.test(error.message)
}

async function takesWrites(url: string): Promise<boolean> {
  const { store } = await openStore(readDatabaseUrl(url))
  try {
    await store.revokeTokens({ userId: 'nobody', signInId: 's', at: 1, expiresAt: 2 })
    return true
  } catch (error) {
    assert.ok(refusal(/^This database is being moved, and can only be read\. /)(error), String(error))
    return false
  } finally {
    await store.close()
  }
}

/** Runs the command and kills it as soon as so many notifications are in the target; false where it was done before. */
async function killAt(rows: number, { args, to }: { args: string[]; to: string }): Promise<boolean> {
  const child = start(args)
  const ended = once(child, 'exit')
  await at(to, async (target) => {
    while (child.exitCode === null) {
      const filling = await target.filling()
      if (filling !== null && notificationsIn(filling.place) >= rows) return
      await sleep(1)
    }
  })
  child.kill('SIGKILL')
  await ended
  return child.signalCode === 'SIGKILL'
}

const indexOf = (table: string) => tables.findIndex(({ name }) => name === table)

function notificationsIn(place: Place | null): number {
  if (place === null) return 0
  const isAfter = indexOf(place.table) > indexOf('notification')
  return isAfter ? manyNotifications : place.table === 'notification' ? place.rows : 0
}

type Ways = { from: string; to: string }
const argsOf = ({ from, to }: Ways) => ['move', '--from', from, '--to', to, '--json']

/** Begins a move again and again, and kills it at each place; answers how often, since it may be done before. */
async function killsOf({ places, ...ways }: Ways & { places: readonly number[] }): Promise<number> {
  const { from, to } = ways
  await at(to, (endpoint) => endpoint.migrate())
  let [kills, reached] = [0, 0]
  for (const rows of places) {
    if (!(await killAt(rows, { args: argsOf(ways), to }))) break
    kills++
    const filling = await at(to, (endpoint) => endpoint.filling())
    const now = notificationsIn(filling?.place ?? null)
    assert.ok(now >= reached, `it went on from ${reached}, not from the beginning`)
    reached = now
    assert.equal(await takesWrites(from), false)
  }
  return kills
}

test('a move continues after kill -9 at any point, from SQLite to PostgreSQL and back', async (t) => {
  let from = await filledPlace(t, { notifications: manyNotifications })
  const expected = await digestsAt(from)
  for (const [engine, places] of [
    ['postgres', [0, 1, 9_000, manyNotifications]],
    ['sqlite', [1, 9_000]],
  ] as const) {
    let to = await emptyPlace(t, engine)
    for (let tries = 1; (await killsOf({ from, to, places })) < 2; tries++) {
      assert.ok(tries < 5, 'each was done before it could be killed')
      await giveUpMove(readDatabaseUrl(from))
      to = await emptyPlace(t, engine)
    }
    await carillon(argsOf({ from, to }))
    assert.deepEqual(await digestsAt(to), expected)
    assert.equal(await at(to, (endpoint) => endpoint.filling()), null)
    assert.equal(await takesWrites(from), false)
    from = to
  }
})

test('a move that was interrupted between two of its last steps is finished by the next call', async (t) => {
  for (const engine of engines) {
    const from = await filledPlace(t)
    const expected = await digestsAt(from)
    const to = await emptyPlace(t, engine)
    await at(from, (endpoint) =>
      endpoint.refuseWrites({ id: 'm', target: displayDatabase(readDatabaseUrl(to)), startedAt: 1, endedAt: null }),
    )
    assert.deepEqual(await move(from, to), expected, 'writes were refused, and no more')
    await markAsFilled(to, 'm')
    await move(from, to)
    assert.equal(await at(to, (endpoint) => endpoint.filling()), null, 'its end was noted, but not at the new place')
    await assert.rejects(move(from, to), refusal(/ was moved to .* at .* and has refused writes since then\. /))
    assert.deepEqual(await digestsAt(to), expected)
  }
})

test('a service refuses a half-filled database', async (t) => {
  for (const engine of engines) {
    const to = await emptyPlace(t, engine)
    await at(to, async (endpoint) => {
      await endpoint.migrate()
      await endpoint.beginFilling('m')
    })
    await assertHalfFilled(to)
  }
})

test('refuses a target that is not empty or is half filled by another move, and changes neither database', async (t) => {
  for (const engine of engines) {
    const from = await filledPlace(t)
    const to = await emptyPlace(t, engine)
    await move(await filledPlace(t), to)
    const before = await digestsAt(to)
    await assert.rejects(
      move(from, to),
      refusal(/^\S+ is not empty, and was left as it is\. Name an empty database\.$/),
    )
    await markAsFilled(to, 'another')
    await assert.rejects(move(from, to), refusal(/^\S+ is half filled by another move or restore\. /))
    assert.deepEqual(await digestsAt(to), before)
    assert.equal(await takesWrites(from), true)
  }
})

test('if a move fails after writes are refused, the error names the database and the reason, and gives the two commands to choose from', async (t) => {
  const breaks = {
    sqlite: "create trigger full before insert on producer begin select raise(abort, 'no room'); end",
    postgres: `create function no_room() returns trigger language plpgsql as
      $$ begin raise exception using errcode = '53100', message = 'no room'; end $$;
      create trigger no_room before insert on producer execute function no_room()`,
  }
  for (const engine of engines) {
    const from = await filledPlace(t)
    const to = await emptyPlace(t, engine)
    await at(to, (endpoint) => endpoint.migrate())
    await (engine === 'sqlite' ? runInSqlite(sqliteFile(to)) : (sql: string) => queryAt(to, sql))(breaks[engine])
    await assert.rejects(move(from, to), (error: Error) => {
      assert.ok(error instanceof CarillonError)
      assert.ok(error.message.startsWith(`${displayDatabase(readDatabaseUrl(to))}: `), error.message)
      assert.match(error.message, /no room\)?\. /)
      const ways = 'refuses writes until the move is done: run the same command again, or take it back with: '
      const end = `. ${displayDatabase(readDatabaseUrl(from))} ${ways}carillon move --give-up --from ${from}`
      assert.ok(error.message.endsWith(end), error.message)
      return true
    })
    assert.equal(await takesWrites(from), false)
  }
})

/** Ends it as soon as the old database refuses writes; once more where it was done before the signal came. */
async function endedMove(t: TestContext, { from, signal }: { from: string; signal: NodeJS.Signals }) {
  for (let tries = 0; tries < 5; tries++) {
    const child = start(['move', '--from', from, '--to', await emptyPlace(t, 'sqlite')])
    const closed = once(child, 'close')
    const printed = text(child.stderr as NodeJS.ReadableStream)
    const isDone = await at(from, async (endpoint) => {
      while (child.exitCode === null && (await endpoint.move()) === null) await sleep(1)
      child.kill(signal)
      await closed
      return (await endpoint.move())?.endedAt !== null
    })
    const { exitCode, signalCode } = child
    if (!isDone) return { exitCode, signalCode, printed: await printed }
    await giveUpMove(readDatabaseUrl(from))
  }
  return assert.fail('each was done before the signal came')
}

test('a move that is ended by a signal says that the old database refuses writes, and what to do', async (t) => {
  const from = await filledPlace(t, { notifications: manyNotifications })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { exitCode, signalCode, printed } = await endedMove(t, { from, signal })
    assert.deepEqual([exitCode, signalCode], [1, null])
    const [last] = printed.trimEnd().split('\n').slice(-1)
    assert.equal(last, `carillon: Ended by ${signal}. ${refusingSentence(readDatabaseUrl(from))}`)
    await giveUpMove(readDatabaseUrl(from))
  }
})

test('a move that began to one database is refused to another', async (t) => {
  for (const engine of engines) {
    const from = await filledPlace(t)
    await at(from, (endpoint) =>
      endpoint.refuseWrites({ id: 'm', target: 'postgres://a/b', startedAt: 1, endedAt: null }),
    )
    const to = await emptyPlace(t, engine)
    const expected =
      / is being moved to postgres:\/\/a\/b, and refuses writes\. Finish that move, or give it up first: /
    await assert.rejects(move(from, to), refusal(expected))
    assert.deepEqual(await at(to, (endpoint) => endpoint.migrations()), [], 'the other one was not touched')
  }
})

test('two moves of the same database at once lose and double no row', async (t) => {
  for (const engine of engines) {
    const from = await filledPlace(t, { notifications: 3_000 })
    const expected = await digestsAt(from)
    const to = await emptyPlace(t, engine)
    await at(to, (endpoint) => endpoint.migrate())
    const ends = await Promise.allSettled([move(from, to), move(from, to)])
    const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    for (const reason of reasons) assert.ok(reason instanceof CarillonError, reason)
    if (reasons.length === 2) await move(from, to)
    assert.deepEqual(await digestsAt(to), expected)
    assert.equal(await at(to, (endpoint) => endpoint.filling()), null)
  }
})

test('rows are written only at the current place, and only by the move that began', async (t) => {
  const [table = assert.fail()] = tables.filter(({ name }) => name === 'token_cutoff')
  for (const engine of engines)
    await at(await emptyPlace(t, engine), async (endpoint) => {
      await endpoint.migrate()
      await endpoint.beginFilling('m')
      const batch = { table, rows: [['ann', 's1', 2, 0, null]] }
      const after: Place = { table: table.name, rows: 1, key: ['ann', 's1'] }
      assert.equal(await endpoint.add(batch, { id: 'm', before: after, after }), false)
      assert.equal(await endpoint.add(batch, { id: 'another', before: null, after }), false)
      assert.equal((await endpoint.counts()).token_cutoff, 0)
      assert.equal(await endpoint.add(batch, { id: 'm', before: null, after }), true)
      assert.equal(await endpoint.add(batch, { id: 'm', before: null, after }), false)
      assert.deepEqual([(await endpoint.counts()).token_cutoff, (await endpoint.filling())?.place], [1, after])
    })
})

test('a changed, added or missing row in the target is found before the move is done', async (t) => {
  const from = await filledPlace(t)
  const changes = [
    "update producer set name = 'x'",
    'delete from read_mark',
    "insert into token_cutoff values ('a', 'b', 1, 2)",
  ]
  for (const change of changes) {
    const to = await emptyPlace(t, 'postgres')
    await move(from, to)
    await markAsFilled(to, `m${moves}`)
    await queryAt(to, change)
    await assert.rejects(
      move(from, to),
      refusal(
        /does not hold what was written to it: .*(producer|read_mark|token_cutoff).* Empty it before you use it or try again\. \S+ refuses writes until /,
      ),
    )
    assert.notEqual(await at(to, (endpoint) => endpoint.filling()), null)
    await giveUpMove(readDatabaseUrl(from))
  }
})

test('a move that is given up while it runs does not succeed', async (t) => {
  const from = await filledPlace(t)
  const to = await emptyPlace(t, 'postgres')
  let givingUp: Promise<unknown> | undefined
  const report = () => {
    givingUp ??= giveUpMove(readDatabaseUrl(from))
  }
  const moving = moveDatabase({
    from: readDatabaseUrl(from),
    to: readDatabaseUrl(to),
    partitions: usualPartitions,
    id: 'm',
    now: () => 0,
    report,
  })
  await assert.rejects(moving, refusal(/^Another process has given up this move/))
  await givingUp
  await assertHalfFilled(to)
  assert.equal(await takesWrites(from), true)
})

test('the end of a move is recorded for that move only', async (t) => {
  for (const engine of engines)
    await at(await emptyPlace(t, engine), async (endpoint) => {
      await endpoint.migrate()
      assert.equal(await endpoint.endMove({ id: 'm1', at: 2 }), false)
      await endpoint.refuseWrites({ id: 'm2', target: 'there', startedAt: 1, endedAt: null })
      assert.equal(await endpoint.endMove({ id: 'm1', at: 2 }), false)
      assert.equal((await endpoint.move())?.endedAt, null)
      assert.equal(await endpoint.endMove({ id: 'm2', at: 2 }), true)
      assert.equal((await endpoint.move())?.endedAt, 2)
    })
})

test('after a move is given up, the old database accepts writes again and can be moved again', async (t) => {
  for (const engine of engines) {
    const from = await emptyPlace(t, engine)
    await move(await filledPlace(t), from)
    await assert.rejects(giveUpMove(readDatabaseUrl(from)), refusal(/ is not being moved, and accepts writes$/))
    await move(from, await emptyPlace(t, 'sqlite'))
    assert.equal(await takesWrites(from), false)
    await giveUpMove(readDatabaseUrl(from))
    assert.equal(await takesWrites(from), true)
    await move(from, await emptyPlace(t, 'sqlite'))
  }
})

test('during a move every table refuses every change of every process, and the ledger refuses a migration', async (t) => {
  for (const engine of engines) {
    const place = await emptyPlace(t, engine)
    await move(await filledPlace(t), place)
    const run = engine === 'postgres' ? (sql: string) => queryAt(place, sql) : runInSqlite(sqliteFile(place))
    await at(place, (endpoint) => endpoint.refuseWrites({ id: 'm', target: 'there', startedAt: 1, endedAt: null }))
    const before = await digestsAt(place)
    for (const { name, columns } of tablesOf(engine)) {
      const column = Object.keys(columns).at(-1)
      const changes = [
        `insert into "${name}" select * from "${name}"`,
        `update "${name}" set ${column} = ${column}`,
        `delete from "${name}"`,
      ]
      for (const change of changes) await assert.rejects(run(change), /carillon: this database is being moved/, change)
    }
    await assert.rejects(run("insert into kysely_migration values ('0002', '')"), /this database is being moved/)
    assert.deepEqual(await digestsAt(place), before)
  }
})

test('during a move a statement that changes no row is allowed, and PostgreSQL tables cannot be truncated', async (t) => {
  const places = [await filledPlace(t), await emptyPlace(t, 'postgres')] as const
  await move(...places)
  for (const place of places) {
    if (place.startsWith('postgres:'))
      await at(place, (endpoint) => endpoint.refuseWrites({ id: 'm', target: 'there', startedAt: 1, endedAt: null }))
    const run = place.startsWith('postgres:') ? (sql: string) => queryAt(place, sql) : runInSqlite(sqliteFile(place))
    const engine = place.startsWith('postgres:') ? 'postgres' : 'sqlite'
    for (const { name } of tablesOf(engine)) await run(`delete from "${name}" where 1 = 0`)
  }
  for (const { name } of tables)
    await assert.rejects(queryAt(places[1], `truncate "${name}" cascade`), /is being moved/, name)
  await giveUpMove(readDatabaseUrl(places[1]))
  assert.equal(await takesWrites(places[1]), true)
  await queryAt(places[1], 'truncate notification')
})

function tablesOf(engine: Engine) {
  return engine === 'postgres' ? tables : tables.filter(({ name }) => tablesIn.includes(name))
}

function runInSqlite(path: string): (sql: string) => Promise<void> {
  return async (sql) => {
    const database = connect(path)
    try {
      database.exec(sql)
    } finally {
      database.close()
    }
  }
}

test('refuses a PostgreSQL database that does not keep text as UTF-8', async (t) => {
  const url = new URL(await emptyPlace(t, 'postgres'))
  const server = String(url)
  const name = `${url.pathname.slice(1)}_latin1`
  await queryAt(server, `create database ${name} encoding 'LATIN1' template template0`)
  url.pathname = name
  const from = await filledPlace(t)
  await assert.rejects(move(from, String(url)), refusal(/^postgres:\S+: This database stores text as LATIN1\. /))
  assert.equal(await takesWrites(from), true)
  await queryAt(server, `drop database ${name} with (force)`)
})

test('the command prints what is wrong in one sentence, with status 1 or 2, and prints no password', async (t) => {
  const from = await filledPlace(t)
  const same = await carillon(['move', '--from', from, '--to', from])
  assert.deepEqual([same.status, same.stderr], [2, 'carillon: --from and --to name the same database\n'])
  const password = encodeURIComponent('plum orchard gate 41')
  const unreachable = `postgres://ann:${password}@127.0.0.1:1/nowhere?password=${password}`
  const failed = await carillon(['move'], { CARILLON_DATABASE_URL: from, CARILLON_TARGET_URL: unreachable })
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /^carillon: [^\n]+\n$/)
  assert.doesNotMatch(failed.stderr + failed.stdout, /plum/)
  assert.match(
    failed.stderr,
    /^carillon: postgres:\/\/127\.0\.0\.1:1\/nowhere: No server responds at the address of its URL\./,
  )
  assert.equal(await takesWrites(from), true)
  const gone = `${sqliteFile(from)}.not`
  const refused = await carillon(['move', '--from', from, '--to', unreachable])
  assert.deepEqual([refused.status, /list of processes/.test(refused.stderr)], [2, true])
  const missing = await carillon(['move', '--from', `sqlite:${gone}`], { CARILLON_TARGET_URL: unreachable })
  assert.match(missing.stderr, /^carillon: There is no database/)
  assert.equal(existsSync(gone), false)
})
