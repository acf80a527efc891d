// How long the lists of others take while the service removes 1,000,000 notifications that are too old.
import { DatabaseSync } from 'node:sqlite'
import { Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { asMs } from '../report/table.ts'
import { fillInboxes, prepare, type Reader } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'

const inboxes = 1_000
const each = 1_000
const retentionDays = 30
const maxP99Ms = 20
/** One list every 40 ms on each connection. */
const listing = { connections: 8, everyMs: 40, status: 200 }
const page = (proof: ProofLine) => requestText('GET', '/api/notifications?limit=20', { proof })

export const retention: Scenario = {
  name: 'retention',
  question: `p99 of lists by others while ${inboxes * each} notifications are removed`,
  async run(bench) {
    const { seconds, progress } = bench
    progress(`making ${inboxes * each} notifications`)
    const filling = await startService({ ...bench, role: 'anywhere' })
    const prepared = await prepare(filling, { users: inboxes + 1, proofs: 1, signedIn: 1 })
    const [other, ...readers] = prepared.readers as [Reader, ...Reader[]]
    await fillInboxes(filling, { ...prepared, readers }, each)
    await filling.stop()
    makeOld(databaseIn(bench.dir))
    const loader = bench.using(new Loader('anywhere'))
    const measure = async (settings: Record<string, string>) => {
      const service = await startService({ ...bench, role: 'anywhere', settings })
      const load = { port: service.port, ...listing, requests: [page(other.cookies[0] as ProofLine)], seconds }
      const { p99Ms } = await loader.measure(service.process, load)
      await service.stop()
      return p99Ms
    }
    const alone = await measure({})
    const before = count(databaseIn(bench.dir))
    const beside = await measure({ CARILLON_RETENTION: `${retentionDays}d` })
    const removed = before - count(databaseIn(bench.dir))
    return [
      row({
        what: `p99 of lists by others, retention at work (${removed} removed meanwhile)`,
        figures: [beside],
        as: asMs,
        floor: { figures: [alone] },
        max: maxP99Ms,
        isAbsolute: true,
      }),
    ]
  },
}

/** Ids and times of 60 days before. */
function makeOld(file: string): void {
  const database = new DatabaseSync(file)
  const at = Date.now() - 2 * retentionDays * 24 * 3_600_000
  const start = at.toString(16).padStart(12, '0')
  database.exec(`update notification set created_at = '${new Date(at).toISOString()}',
    id = '${start.slice(0, 8)}-${start.slice(8)}' || substr(id, 14)`)
  database.close()
}

function count(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  const found = database.prepare('select count(*) as count from notification').get() as { count: number }
  database.close()
  return found.count
}
