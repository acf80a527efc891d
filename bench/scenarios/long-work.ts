// How long the lists of others take while the service removes 1,000,000 notifications that are too old, and while a user exports
// 100,000 from a file that is not in memory.
import { execFileSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Loaded, Loader } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { p99Row } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import {
  deliveryTo,
  fillInboxes,
  prepare,
  type Reader,
  requestsOf,
  sendAll,
} from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'
import { firstPage, listsOfOthers } from './list.ts'

const inboxes = 1_000
const each = 1_000
const exported = 100_000
const retentionDays = 30
const maxP99Ms = 20

export const longWork: Scenario = {
  name: 'long-work',
  question: `p99 of lists by others while ${inboxes * each} notifications are removed, and while ${exported} are exported`,
  async run(bench) {
    const { seconds, progress } = bench
    progress(`making ${inboxes * each} notifications`)
    const filling = await startService(bench, { role: 'anywhere' })
    const prepared = await prepare(filling, { users: inboxes + 2, proofs: 1, signedIn: 2 })
    const [other, owner, ...readers] = prepared.readers as [Reader, Reader, ...Reader[]]
    await fillInboxes(filling, { ...prepared, readers }, each)
    const loader = new Loader(bench, 'anywhere')
    await loader.measure(filling, {
      connections: 64,
      status: 201,
      count: exported,
      seconds: 3_600,
      requests: [deliveryTo([owner], prepared.producer)],
    })
    await filling.stop()
    const file = databaseIn(bench.dir)
    const requests = requestsOf([other], 'cookies', firstPage)
    const proof = owner.cookies[0] as ProofLine
    const warmUpSeconds = seconds / 4
    const measure = async (
      settings: Record<string, string>,
      meanwhile: (port: number) => Promise<unknown> = async () => {},
    ) => {
      const service = await startService(bench, { role: 'anywhere', settings })
      // The first request on each connection of a service that has just started takes 40 ms, whatever it removes.
      const load = { ...listsOfOthers, requests, seconds, warmUpSeconds }
      const [loaded] = await Promise.all([loader.measure(service, load), meanwhile(service.port)])
      await service.stop()
      return loaded
    }
    const alone = await measure({})
    leaveMemory(file)
    const besideExport = await measure({}, async (port) => {
      await sleep(warmUpSeconds * 1_000)
      await sendAll(port, [requestText('GET', '/api/me/export', { proof })], 200)
    })
    makeOld(file)
    const before = count(file)
    const besideRetention = await measure({ CARILLON_RETENTION: `${retentionDays}d` })
    const removed = before - count(file)
    const rowOf = (work: string, of: Loaded) =>
      p99Row({ what: `p99 of lists by others, ${work}`, of: [of], floor: [alone], max: maxP99Ms })
    return [
      rowOf(`first export of ${exported} from a file that is not in memory`, besideExport),
      rowOf(`retention at work (${removed} removed meanwhile)`, besideRetention),
    ]
  },
}

/** Nothing of the file is in memory afterwards, as if the machine had just started. Only Linux can do this. */
function leaveMemory(file: string): void {
  if (process.platform === 'linux')
    execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
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
