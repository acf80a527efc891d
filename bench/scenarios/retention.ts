// How long the lists of others take while the service removes 1,000,000 notifications that are too old.
import { DatabaseSync } from 'node:sqlite'
import { Loader } from '../load/load.ts'
import { p99Row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { fillInboxes, prepare, type Reader, requestsOf } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'
import { firstPage, listsOfOthers } from './list.ts'

const inboxes = 1_000
const each = 1_000
const retentionDays = 30
const maxP99Ms = 20

export const retention: Scenario = {
  name: 'retention',
  question: `p99 of lists by others while ${inboxes * each} notifications are removed`,
  async run(bench) {
    const { seconds, progress } = bench
    progress(`making ${inboxes * each} notifications`)
    const filling = await startService(bench, { role: 'anywhere' })
    const prepared = await prepare(filling, { users: inboxes + 1, proofs: 1, signedIn: 1 })
    const [other, ...readers] = prepared.readers as [Reader, ...Reader[]]
    await fillInboxes(filling, { ...prepared, readers }, each)
    await filling.stop()
    const file = databaseIn(bench.dir)
    makeOld(file)
    const loader = new Loader(bench, 'anywhere')
    const requests = requestsOf([other], 'cookies', firstPage)
    const measure = async (settings: Record<string, string>) => {
      const service = await startService(bench, { role: 'anywhere', settings })
      // The first request on each connection of a service that has just started takes 40 ms, whatever it removes.
      const load = { ...listsOfOthers, requests, seconds, warmUpSeconds: seconds / 4 }
      const loaded = await loader.measure(service, load)
      await service.stop()
      return loaded
    }
    const alone = await measure({})
    const before = count(file)
    const beside = await measure({ CARILLON_RETENTION: `${retentionDays}d` })
    const what = `p99 of lists by others, retention at work (${before - count(file)} removed meanwhile)`
    return [p99Row({ what, of: [beside], floor: [alone], max: maxP99Ms })]
  },
}

/** Ids and times of 60 days before. */
function makeOld(file: string): void {
  using database = new DatabaseSync(file)
  const at = Date.now() - 2 * retentionDays * 24 * 3_600_000
  const start = at.toString(16).padStart(12, '0')
  database.exec(`update notification set created_at = '${new Date(at).toISOString()}',
    id = '${start.slice(0, 8)}-${start.slice(8)}' || substr(id, 14)`)
}

function count(file: string): number {
  using database = new DatabaseSync(file, { readOnly: true })
  return Number(database.prepare('select count(*) as count from notification').get()?.count)
}
