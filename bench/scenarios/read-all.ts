// Compares read-all with 100,000 unread notifications and with one, through HTTP and by the statements alone: it must cost the
// same.
import assert from 'node:assert/strict'
import type { Database } from '../../server/store/sqlite/database.ts'
import { markAllRead } from '../../server/store/sqlite/writes/inbox.ts'
import { Connection, type ProofLine, requestText } from '../load/requests.ts'
import { describeSync, syncCost } from '../report/machine.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMs, asRatio, type Row } from '../report/table.ts'
import { fillInboxes, prepareReaders, type Reader, withDatabase } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

export const inboxSize = 100_000
const timesARound = 60
const maxRatio = 2

export const readAll: Scenario = {
  name: 'read-all',
  question: 'read-all with 100,000 unread and with 1 unread',
  async run(bench) {
    const { dir, progress } = bench
    progress('making two inboxes of 100,000 notifications')
    const { readers } = await prepareReaders(dir, { users: 2, proofs: 1 })
    const [many, one] = readers as [Reader, Reader]
    await fillInboxes(dir, { userIds: [many.userId], count: inboxSize })
    await fillInboxes(dir, { userIds: [one.userId], count: inboxSize, readThrough: inboxSize - 1 })
    return {
      rows: [await throughHttp(bench, { many, one }), await byStatements(bench, { many, one })],
      notes: [
        `Both inboxes hold ${inboxSize.toLocaleString('en')} notifications; the rows are restored after each read-all.`,
        'Through HTTP: one request at a time, from the request to a 204 after the commit. The statements alone: the ' +
          "writer's own, in a transaction that is rolled back.",
      ],
    }
  },
}

type Two = { many: Reader; one: Reader }

async function throughHttp({ dir, rounds, progress, using }: Bench, { many, one }: Two): Promise<Row> {
  const service = using(await startService({ dir }))
  const connection = new Connection(service.port)
  const took = await withDatabase(dir, (database) => {
    const undo = undoing(database)
    const readAllOf = async ({ tokens: [proof] }: Reader): Promise<number> => {
      const startedAt = performance.now()
      const { status } = await connection.request(
        requestText('POST', '/api/notifications/read-all', { proof: proof as ProofLine }),
      )
      const ms = performance.now() - startedAt
      assert.equal(status, 204)
      undo()
      return ms
    }
    return oneByOne({ rounds, progress }, { many: () => readAllOf(many), one: () => readAllOf(one) })
  })
  connection.close()
  return readAllRow('read-all of 100,000 unread, through HTTP', took, `; sync ${describeSync(syncCost(dir))}`)
}

async function byStatements({ dir, rounds, progress }: Bench, { many, one }: Two): Promise<Row> {
  const took = await withDatabase(dir, (database) => {
    const sql = database.createTagStore(64)
    const readAllOf = ({ userId }: Reader): number => {
      database.exec('begin immediate')
      const startedAt = performance.now()
      const outcome = markAllRead({ sql, signal: () => {} }, { userId, throughId: null, at: Date.now() })
      const ms = performance.now() - startedAt
      assert.equal(outcome, 'done')
      database.exec('rollback')
      return ms
    }
    return oneByOne({ rounds, progress }, { many: async () => readAllOf(many), one: async () => readAllOf(one) })
  })
  return readAllRow('read-all of 100,000 unread, the statements alone', took, '')
}

/** Median milliseconds of each round; within a round the two alternate. */
export function oneByOne(
  { rounds, progress }: Pick<Bench, 'rounds' | 'progress'>,
  { many, one }: Record<'many' | 'one', () => Promise<number>>,
): Promise<{ both: [many: number, one: number][] }> {
  const both = async (): Promise<[number, number]> => {
    const took: [number, number][] = []
    for (let i = 0; i < timesARound; i++) took.push([await many(), await one()])
    return [median(took.map(([ms]) => ms)), median(took.map(([, ms]) => ms))]
  }
  return inTurns({ rounds, progress, contenders: { both } })
}

/** Compares many unread with one unread. */
export function readAllRow(what: string, { both }: { both: [many: number, one: number][] }, suffix: string): Row {
  const [many, one] = [both.map(([ms]) => ms), both.map(([, ms]) => ms)]
  const ratio = ratios(many, one)
  return {
    what,
    measured: asMs(median(many)) + suffix,
    floor: `1 unread: ${asMs(median(one))}`,
    ratio: asRatio(ratio),
    target: `<= ${maxRatio}`,
    met: ratio.median <= maxRatio,
  }
}

export const changedTables = ['inbox', 'inbox_category', 'read_mark']

/** No route undoes a read-all, so this process restores the few rows that it changed. */
function undoing(database: Database): () => void {
  for (const table of changedTables) database.exec(`create temp table kept_${table} as select * from main.${table}`)
  const putBack = changedTables.map(
    (table) => `delete from ${table}; insert into ${table} select * from kept_${table};`,
  )
  return () => database.exec(`begin immediate; ${putBack.join(' ')} commit`)
}
