// Compares an undo, and marking one notification as unread, in an inbox with 100,000 notifications and in one with ten: through HTTP,
// on SQLite and in PostgreSQL. Both must cost the same, because they change as many rows.
import assert from 'node:assert/strict'
import { Connection, type ProofLine, requestText } from '../../load/requests.ts'
import { describeSync, syncCost } from '../../report/machine.ts'
import { inTurns, median, ratios } from '../../report/rounds.ts'
import type { Bench, Scenario } from '../../report/scenario.ts'
import { asMs, asRatio, type Row } from '../../report/table.ts'
import { fillInboxes, prepareReaders, prepareReadersAt, type Reader } from '../../setup/inboxes.ts'
import { fillInboxesAt, startDatabase, startServiceOn } from '../../setup/postgres.ts'
import { startService } from '../../setup/service.ts'

const largeSize = 100_000
const smallSize = 10
const timesARound = 40
const maxRatio = 2

export const undo: Scenario = {
  name: 'undo',
  question: 'undo of a read-all, and marking one as unread, with 100,000 notifications and with ten',
  async run(bench) {
    const rows = [...(await onSqlite(bench)), ...(await inPostgres(bench))]
    return {
      rows,
      notes: [
        `All ${largeSize.toLocaleString('en')} notifications, and all ${smallSize}, are unread before each read-all, so the undo makes ` +
          'all of them unread again. One request at a time, from the request to a 204 after the commit.',
      ],
    }
  },
}

async function onSqlite(bench: Bench): Promise<Row[]> {
  const { dir, progress, using } = bench
  progress('making inboxes of 100,000 and of ten notifications')
  const { readers } = await prepareReaders(dir, { users: 2, proofs: 1 })
  const [large, small] = readers as [Reader, Reader]
  await fillInboxes(dir, { userIds: [large.userId], count: largeSize })
  await fillInboxes(dir, { userIds: [small.userId], count: smallSize })
  const { port } = using(await startService({ dir }))
  return compared(bench, { port, large, small, suffix: '', sync: describeSync(syncCost(dir)) })
}

async function inPostgres(bench: Bench): Promise<Row[]> {
  const database = await startDatabase(bench, 'anywhere')
  const { readers } = await prepareReadersAt(database.url, { users: 2, proofs: 1 })
  const [large, small] = readers as [Reader, Reader]
  await fillInboxesAt(database.url, { userIds: [large.userId], count: largeSize })
  await fillInboxesAt(database.url, { userIds: [small.userId], count: smallSize })
  const { port } = bench.using(await startServiceOn(database, { dir: bench.dir, role: 'anywhere' }))
  return compared(bench, { port, large, small, suffix: ' in PostgreSQL', sync: database.sync })
}

type Compared = { port: number; large: Reader; small: Reader; suffix: string; sync: string }
type Took = { undo: number; unread: number }

async function compared({ rounds, progress }: Bench, { port, large, small, suffix, sync }: Compared): Promise<Row[]> {
  const connection = new Connection(port)
  const marks = [await Marks.of(connection, large), await Marks.of(connection, small)] as const
  const both = async (): Promise<{ large: Took; small: Took }> => {
    const took: { large: Took; small: Took }[] = []
    for (let i = 0; i < timesARound; i++) took.push({ large: await marks[0].cycle(), small: await marks[1].cycle() })
    const middle = (size: 'large' | 'small', what: keyof Took) => median(took.map((one) => one[size][what]))
    const of = (size: 'large' | 'small') => ({ undo: middle(size, 'undo'), unread: middle(size, 'unread') })
    return { large: of('large'), small: of('small') }
  }
  const taken = (await inTurns({ rounds, progress, contenders: { both } })).both
  connection.close()
  const row = (what: string, kind: keyof Took): Row => {
    const [ofLarge, ofSmall] = [taken.map((one) => one.large[kind]), taken.map((one) => one.small[kind])]
    const ratio = ratios(ofLarge, ofSmall)
    return {
      what: `${what}${suffix}`,
      measured: `${asMs(median(ofLarge))}; sync ${sync}`,
      floor: `of ${smallSize}: ${asMs(median(ofSmall))}`,
      ratio: asRatio(ratio),
      target: `<= ${maxRatio}`,
      met: ratio.median <= maxRatio,
    }
  }
  return [row('undo of a read-all of 100,000', 'undo'), row('mark one of 100,000 as unread', 'unread')]
}

/** Marks in one user's inbox, which is as before after each cycle. */
class Marks {
  readonly #connection: Connection
  readonly #proof: ProofLine
  readonly #one: string

  private constructor(connection: Connection, proof: ProofLine, one: string) {
    this.#connection = connection
    this.#proof = proof
    this.#one = one
  }

  static async of(connection: Connection, { tokens: [proof] }: Reader): Promise<Marks> {
    const { body } = await connection.request(
      requestText('GET', '/api/notifications?limit=1', { proof: proof as ProofLine }),
    )
    return new Marks(connection, proof as ProofLine, JSON.parse(body).data.items[0].id)
  }

  async cycle(): Promise<Took> {
    await this.#took('POST', '/api/notifications/read-all')
    const unread = await this.#took('PATCH', `/api/notifications/${this.#one}/unread`)
    return { unread, undo: await this.#took('POST', '/api/notifications/undo') }
  }

  async #took(method: string, path: string): Promise<number> {
    const startedAt = performance.now()
    const { status } = await this.#connection.request(requestText(method, path, { proof: this.#proof }))
    const ms = performance.now() - startedAt
    assert.equal(status, 204)
    return ms
  }
}
