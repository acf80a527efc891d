// What does each database hold after an interruption, and does it accept writes?
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryAt } from '../../../tests/support/postgres.ts'
import { isSoak } from '../../../tests/support/soak.ts'
import { CarillonError } from '../../basics/errors.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { displayDatabase } from '../database.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { backUp } from './backup.ts'
import {
  allowWrites,
  endMove,
  hasSchema,
  refuseWrites,
  sourceAt,
  stateOf,
} from './endpoint/endpoint.ts'
import { giveUpMove, refusingSentence } from './move.ts'
import { tableNames } from './rows.ts'
import { carillon } from './testing/command.ts'
import {
  checksumsAt,
  emptyPlace,
  emptyTables,
  engines,
  filledPlace,
  report as noReport,
  onEndpoint,
  rowsAt,
  sqliteFile,
} from './testing/filled.ts'
import { interrupted, untilInterrupted } from './testing/interrupted.ts'
import {
  acceptsWrites,
  assertContinued,
  isRefusedAsIncomplete,
  killedWhileFilling,
  move,
  refusal,
  run,
} from './testing/moves.ts'

/** Rules are written once, for both engines; what an engine does is tried on both. */
const engineOfRules = isSoak ? engines : (['sqlite'] as const)
const named = (url: string) => displayDatabase(readDatabaseUrl(url))
const giveUp = (url: string) => giveUpMove(readDatabaseUrl(url))
const beginMove = (from: string, target: string) =>
  onEndpoint(from, (endpoint) =>
    refuseWrites(endpoint, 'moving', { id: 'm', target, startedAt: 1, endedAt: null }),
  )
/** As if the move was killed just before its end is recorded. */
const withoutEnd = (from: string) =>
  run(from, `update carillon_moving set state = replace(state, '"endedAt":0', '"endedAt":null')`)

const kills = [
  { call: 'move', engine: 'postgres' },
  { call: 'restore', engine: 'sqlite' },
  ...(isSoak
    ? [
        { call: 'move', engine: 'sqlite' } as const,
        { call: 'restore', engine: 'postgres' } as const,
      ]
    : []),
] as const
for (const { call, engine } of kills)
  test(`a ${call} into ${engine} that is killed continues with the next call, and until then no program uses the new database`, async (t) => {
    const from = await filledPlace(t, { notifications: 8_000 })
    const expected = await checksumsAt(from)
    const total = await rowsAt(from)
    const file = join(await newFolder(t), 'backup')
    const at = '2026-01-01T00:00:00.000Z'
    await backUp({ from: readDatabaseUrl(from), file, at, report: noReport })
    const source = call === 'move' ? ['--from', from] : [file]
    const { args, to, rows } = await untilInterrupted(async () => {
      const place = await emptyTables(t, engine)
      const command = [call, ...source, '--to', place]
      const left = await killedWhileFilling(command, place)
      if (left !== undefined) return { args: command, to: place, rows: left }
      if (call === 'move') await giveUp(from)
      return undefined
    })
    assert.ok(rows > 0 && rows < total, `${rows} of ${total}`)
    assert.equal(await acceptsWrites(from), call === 'restore')
    await isRefusedAsIncomplete(to, ['carillon', call, ...source].join(' '))
    assertContinued(await carillon(args), { rows, total })
    assert.deepEqual(await checksumsAt(to), expected)
    assert.equal(await acceptsWrites(to), true)
    assert.equal(await acceptsWrites(from), call === 'restore')
  })

test('a database that a move filled in part is refused for another move, also of the same database after it is given up', async (t) => {
  for (const engine of engineOfRules) {
    const from = await filledPlace(t)
    const to = await emptyPlace(t, engine)
    const report = () => () => assert.fail('the line is cut')
    await assert.rejects(move(from, to, { report }), refusal(/^the line is cut\. /))
    const before = await checksumsAt(to)
    const incomplete = refusal(
      /^\S+ is incomplete, and was left as it is\. Finish it with carillon move --from sqlite:\S+, or delete it and begin with an empty one\.$/,
    )
    const other = await filledPlace(t)
    await assert.rejects(move(other, to), incomplete)
    await giveUp(from)
    const advice = /It was begun with other rows: delete it and begin with an empty one\.$/
    await assert.rejects(move(from, to), refusal(advice), 'the same command would not finish it')
    for (const source of [other, from]) assert.equal(await acceptsWrites(source), true)
    assert.deepEqual(await checksumsAt(to), before)
  }
})

test('a move that is ended by a signal says that the old database refuses writes, and what to do', async (t) => {
  const from = await filledPlace(t, { notifications: 8_000 })
  const { exitCode, signalCode, printed } = await untilInterrupted(async () => {
    const args = ['move', '--from', from, '--to', await emptyPlace(t, 'sqlite')]
    const ended = await onEndpoint(from, (source) =>
      interrupted({
        args,
        signal: 'SIGTERM',
        isDue: async () => (await stateOf(source, 'moving')) !== null,
      }),
    )
    if (ended === undefined) await giveUp(from)
    return ended
  })
  assert.deepEqual([exitCode, signalCode], [1, null])
  const [last] = printed.trimEnd().split('\n').slice(-1)
  assert.equal(last, `carillon: Ended by SIGTERM. ${refusingSentence(readDatabaseUrl(from))}`)
})

test('a move that was interrupted before its first row, or after its last one, is finished by the next call', async (t) => {
  for (const engine of engines) {
    const from = await filledPlace(t)
    const expected = await checksumsAt(from)
    const to = await emptyPlace(t, engine)
    await beginMove(from, named(to))
    assert.deepEqual(await move(from, to), expected, 'writes were refused, and no more')
    await withoutEnd(from)
    assert.deepEqual(await move(from, to), expected, 'the rows were committed, and no more')
    await assert.rejects(
      move(from, to),
      refusal(/ was moved to .* at .* and has refused writes since then\. /),
    )
    assert.deepEqual(await checksumsAt(to), expected)
  }
})

test('if a move fails after writes are refused, the error names the database and the reason, and gives the two commands to choose from', async (t) => {
  const breaks = {
    sqlite:
      "create trigger full before insert on producer begin select raise(abort, 'no room'); end",
    postgres: `create function no_room() returns trigger language plpgsql as
      $$ begin raise exception using errcode = '53100', message = 'no room'; end $$;
      create trigger no_room before insert on producer execute function no_room()`,
  }
  for (const engine of engines) {
    const from = await filledPlace(t)
    const to = await emptyPlace(t, engine)
    await acceptsWrites(to)
    await run(to, `delete from revocation; ${breaks[engine]}`)
    await assert.rejects(move(from, to), (error: Error) => {
      assert.ok(error instanceof CarillonError)
      assert.equal(
        error.message,
        `${named(to)}: no room. ${refusingSentence(readDatabaseUrl(from))}`,
      )
      return true
    })
    assert.equal(await acceptsWrites(from), false)
  }
})

test('a move that begins while another one of the database begins says that the database refuses writes', async (t) => {
  const from = await filledPlace(t)
  const onRefusing = () =>
    void run(from, `create table carillon_moving as select '{"endedAt":null}' as state`)
  const begun =
    / table carillon_moving already exists\. \S+ refuses writes until the move is done: run the same command /
  await assert.rejects(move(from, await emptyPlace(t, 'sqlite'), { onRefusing }), refusal(begun))
})

test('a move that began to one database is refused to another', async (t) => {
  const from = await filledPlace(t)
  await beginMove(from, 'postgres://a/b')
  const to = await emptyPlace(t, 'sqlite')
  const expected =
    / is being moved to postgres:\/\/a\/b, and refuses writes\. Finish that move, or give it up first: /
  await assert.rejects(move(from, to), refusal(expected))
  assert.equal(existsSync(sqliteFile(to)), false, 'the other one was not created')
})

test('two moves of the same database at once lose and double no row', async (t) => {
  for (const engine of isSoak ? engines : (['postgres'] as const)) {
    const from = await filledPlace(t)
    const expected = await checksumsAt(from)
    const to = await emptyPlace(t, engine)
    const ends = await Promise.allSettled([move(from, to), move(from, to)])
    const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    for (const reason of reasons) assert.ok(reason instanceof CarillonError, reason)
    if (reasons.length === 2) await move(from, to)
    assert.deepEqual(await checksumsAt(to), expected)
  }
})

test('a row that another program changes in the target is found before the move is done', async (t) => {
  const from = await filledPlace(t)
  const to = await emptyPlace(t, 'postgres')
  await move(from, to)
  await withoutEnd(from)
  await run(to, "update producer set name = 'x'")
  const found =
    /^\S+ does not hold what was written to it: the rows of producer differ\. Empty it before you try again, unless a service has used it since: then keep it\. \S+ refuses writes until /
  await assert.rejects(move(from, to), refusal(found))
})

test('a move that is given up while it runs does not succeed, and no program uses what it copied', async (t) => {
  for (const engine of engines)
    for (const change of ['', "update producer set name = 'changed since'"]) {
      const from = await filledPlace(t)
      const to = await emptyPlace(t, engine)
      let givingUp: Promise<unknown> | undefined
      const report = () => {
        givingUp ??= giveUp(from).then(() => run(from, change))
        return () => {}
      }
      const givenUp = /^Another process has given up this move\. Empty the new database\.$/
      await assert.rejects(move(from, to, { report }), refusal(givenUp))
      await givingUp
      assert.equal(await acceptsWrites(from), true)
      await assert.rejects(acceptsWrites(to), /The database has only a part of its rows/)
    }
})

test('the end of a move is recorded for that move only', async (t) => {
  const place = await filledPlace(t)
  await onEndpoint(place, async (endpoint) => {
    const isRefused = (id: string) =>
      assert.rejects(
        endMove(endpoint, { id, at: 2 }),
        refusal(/^Another process has given up this move/),
      )
    await isRefused('m')
    await beginMove(place, 'there')
    await isRefused('m1')
    assert.equal((await stateOf(endpoint, 'moving'))?.endedAt, null)
    await endMove(endpoint, { id: 'm', at: 2 })
    assert.equal((await stateOf(endpoint, 'moving'))?.endedAt, 2)
  })
})

test('during a move every table and the ledger refuse every change of every process; a statement that changes no row is allowed', async (t) => {
  for (const engine of engines) {
    const place = await emptyPlace(t, engine)
    await move(await filledPlace(t), place)
    await beginMove(place, 'there')
    const before = await checksumsAt(place)
    await onEndpoint(place, async (other) => {
      for (const { name, columns } of (await sourceAt(other)).tables) {
        const column = columns.at(-1)
        const changes = [
          `insert into "${name}" select * from "${name}"`,
          `update "${name}" set ${column} = ${column}`,
          `delete from "${name}"`,
          ...(engine === 'postgres' ? [`truncate "${name}" cascade`] : []),
        ]
        for (const change of changes)
          await assert.rejects(
            other.query(change),
            /carillon: this database is being moved/,
            change,
          )
        await other.query(`delete from "${name}" where 1 = 0`)
      }
    })
    await assert.rejects(
      run(place, "insert into migration values ('0002', '')"),
      /this database is being moved/,
    )
    assert.deepEqual(await checksumsAt(place), before)
    await onEndpoint(place, (endpoint) => allowWrites(endpoint, 'moving'))
    await run(place, tableNames.map((name) => `delete from "${name}"`).join('; '))
  }
})

test('a write in progress delays the beginning of a move, and is in it', async (t) => {
  const from = await emptyPlace(t, 'postgres')
  await acceptsWrites(from)
  await onEndpoint(from, async (other) => {
    await other.query('begin')
    await other.query("insert into guess_count values ('k', 1, 2, 3)")
    const beginning = beginMove(from, 'there')
    // The move has tried to lock the tables, and has let go of its locks.
    await untilWaiting(from)
    await other.query("insert into guess_count values ('l', 1, 2, 3)")
    await other.query('commit')
    await beginning
  })
  assert.equal(await acceptsWrites(from), false)
  assert.equal((await checksumsAt(from)).find(({ table }) => table === 'guess_count')?.rows, 2)
})

async function untilWaiting(url: string): Promise<void> {
  const waiting =
    "select from pg_stat_activity where query like 'do %' and wait_event in ('PgSleep', 'relation')"
  const found = async () =>
    (await queryAt(url, `${waiting} and datname = current_database()`)).rows.length > 0
  while (!(await found())) await sleep(5)
}

test('refuses a PostgreSQL database that does not keep text as UTF-8', async (t) => {
  const url = new URL(await emptyPlace(t, 'postgres'))
  const server = String(url)
  const name = `${url.pathname.slice(1)}_latin1`
  await queryAt(server, `create database ${name} encoding 'LATIN1' template template0`)
  url.pathname = name
  const from = await filledPlace(t)
  await assert.rejects(
    move(from, String(url)),
    refusal(/^postgres:\S+: This database stores text as LATIN1\. /),
  )
  assert.equal(await acceptsWrites(from), true)
  await queryAt(server, `drop database ${name} with (force)`)
})

test('refuses a database of another schema, and one without tables, as source', async (t) => {
  const from = await filledPlace(t)
  const to = await emptyPlace(t, 'sqlite')
  await run(from, "insert into migration values ('9999-later', '')")
  await assert.rejects(
    move(from, to),
    refusal(
      /^\S+ has the schema 9999-later, and this program has 0001-schema\. Bring an older one /,
    ),
  )
  await run(from, 'delete from migration')
  const bare = await emptyPlace(t, 'postgres')
  assert.equal(await onEndpoint(bare, hasSchema), false)
  for (const place of [from, bare])
    await assert.rejects(move(place, to), refusal(/^There is no Carillon database at \S+$/))
})

test('the command prints what is wrong in one sentence, with status 1 or 2, and prints no password', async (t) => {
  const from = await filledPlace(t)
  const same = await carillon(['move', '--from', from, '--to', from])
  assert.deepEqual(
    [same.status, same.stderr],
    [2, 'carillon: --from and --to name the same database\n'],
  )
  const password = encodeURIComponent('plum orchard gate 41')
  const unreachable = `postgres://ann:${password}@127.0.0.1:1/nowhere?password=${password}`
  const failed = await carillon(['move'], {
    CARILLON_DATABASE_URL: from,
    CARILLON_TARGET_URL: unreachable,
  })
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /^carillon: [^\n]+\n$/)
  assert.doesNotMatch(failed.stderr + failed.stdout, /plum/)
  assert.match(
    failed.stderr,
    /^carillon: postgres:\/\/127\.0\.0\.1:1\/nowhere: No server responds at the address of its URL\./,
  )
  assert.equal(await acceptsWrites(from), true)
  const gone = `${sqliteFile(from)}.not`
  const missing = await carillon(['move', '--from', `sqlite:${gone}`], {
    CARILLON_TARGET_URL: unreachable,
  })
  assert.match(missing.stderr, /^carillon: There is no database/)
  assert.equal(existsSync(gone), false)
})
