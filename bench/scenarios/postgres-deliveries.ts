// Notifications per second in PostgreSQL with 1,000 recipients per call, and the cost of read-all with 100,000 and with one
// unread notification.
import assert from 'node:assert/strict'
import { asLoad, rate } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { Connection, type ProofLine, requestText } from '../load/requests.ts'
import { inTurns, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, type Row } from '../report/table.ts'
import { type Prepared, prepareReadersAt, type Reader } from '../setup/inboxes.ts'
import { type Database, fillInboxesAt, settingsNote, startDatabase, startServiceOn } from '../setup/postgres.ts'
import type { Service } from '../setup/service.ts'
import { changedTables, inboxSize, oneByOne, readAllRow } from './read-all.ts'

const recipientsOfOne = 1_000
const sets = 4
const minPerSecond = 20_000

export const postgresDeliveries: Scenario = {
  name: 'postgres-deliveries',
  question: 'deliveries to 1,000 recipients in one call, and read-all with 100,000 unread, in PostgreSQL',
  async run(bench) {
    const database = await startDatabase(bench, 'anywhere')
    bench.progress(`making ${sets * recipientsOfOne} users and two inboxes of 100,000 notifications`)
    const { readers, producer } = await prepareReadersAt(database.url, { users: sets * recipientsOfOne, proofs: 1 })
    const [many, one] = readers as [Reader, Reader]
    await fillInboxesAt(database.url, { userIds: [many.userId], count: inboxSize })
    await fillInboxesAt(database.url, { userIds: [one.userId], count: inboxSize, readThrough: inboxSize - 1 })
    const service = bench.using(await startServiceOn(database, { dir: bench.dir, role: 'anywhere' }))
    const on = { service, database }
    return {
      rows: [await readAll(bench, { ...on, many, one }), ...(await deliver(bench, { ...on, readers, producer }))],
      notes: [
        `PostgreSQL ${database.version}. ${settingsNote}`,
        `Through HTTP, each response after its commit; service and PostgreSQL on all cores. Sync: ${database.sync}.`,
        `Deliveries: to ${sets} sets of ${recipientsOfOne} users one after another, with a category; "at once" are ${sets} calls, ` +
          'each to a different set. "core" counts the service; the share of PostgreSQL is listed after it.',
        'Read-all: one request at a time; its rows are restored after each.',
      ],
    }
  },
}

type On = { service: Service; database: Database }

async function deliver(bench: Bench, { service, database, readers, producer }: On & Prepared): Promise<Row[]> {
  const { rounds, seconds, progress } = bench
  const loader = bench.using(new Loader('anywhere', database.processorUs))
  const requests = Array.from({ length: sets }, (_, i) => {
    const recipients = readers
      .slice(i * recipientsOfOne, (i + 1) * recipientsOfOne)
      .map(({ username }) => ({ username }))
    const content = { recipients, title: 'Number 1', body: 'It is on its way.', category: 'orders' }
    return requestText('POST', '/api/notifications', { proof: producer, body: JSON.stringify(content) })
  })
  const load = (connections: number) => () =>
    loader.measure(service.process, {
      port: service.port,
      connections,
      requests,
      status: 201,
      seconds,
      warmUpSeconds: seconds / 2,
    })
  const taken = await inTurns({ rounds, progress, contenders: { 'one call': load(1), 'calls at once': load(sets) } })
  const what = 'notifications in PostgreSQL, 1,000 recipients per call'
  return [
    deliveriesRow(`${what}, one call at a time`, taken['one call'], minPerSecond),
    deliveriesRow(`${what}, ${sets} calls at once`, taken['calls at once']),
  ]
}

function deliveriesRow(what: string, samples: readonly Loaded[], min?: number): Row {
  const { median, min: lowest, max } = spread(samples.map((sample) => rate(sample) * recipientsOfOne))
  const database = spread(samples.map(({ databaseShare }) => databaseShare)).median.toFixed(2)
  return {
    what,
    measured: `${asCount(median)}/s (${asCount(lowest)}-${asCount(max)}); calls: ${asLoad(samples)}, PostgreSQL ${database}`,
    floor: '',
    ratio: '',
    target: min === undefined ? '' : `>= ${asCount(min)}/s`,
    met: min === undefined ? undefined : median >= min,
  }
}

async function readAll(
  bench: Bench,
  { service, database, many, one }: On & { many: Reader; one: Reader },
): Promise<Row> {
  const { query } = database
  for (const table of changedTables) await query(`create table kept_${table} as select * from ${table}`)
  const putBack = changedTables
    .map((table) => `delete from ${table}; insert into ${table} select * from kept_${table};`)
    .join(' ')
  const connection = new Connection(service.port)
  const readAllOf = async ({ tokens: [proof] }: Reader): Promise<number> => {
    const startedAt = performance.now()
    const { status } = await connection.request(
      requestText('POST', '/api/notifications/read-all', { proof: proof as ProofLine }),
    )
    const ms = performance.now() - startedAt
    assert.equal(status, 204)
    await query(`begin; ${putBack} commit`)
    return ms
  }
  const took = await oneByOne(bench, { many: () => readAllOf(many), one: () => readAllOf(one) })
  connection.close()
  for (const table of changedTables) await query(`drop table kept_${table}`)
  return readAllRow('read-all of 100,000 unread in PostgreSQL', took, `; sync ${database.sync}`)
}
