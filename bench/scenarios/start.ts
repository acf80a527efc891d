// Time from the start of the process to its first response, and its memory: as `npm start` runs it, by the command in package.json.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { processorUsOf, residentMegabytes } from '../processes/of-process.ts'
import { inTurns, median } from '../report/rounds.ts'
import { row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMegabytes, asMs } from '../report/table.ts'
import {
  fillInboxes,
  loginsOf,
  prepare,
  type Reader,
  requestsOf,
  sendAll,
} from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const targets = { start: 2.5, due: 1.1, restMb: 85, loadedMb: 120 }
const rowsDue = 100_000
/** Nothing listens there. */
const mailing = { CARILLON_SMTP_URL: 'smtp://127.0.0.1:9' }
const load = { lists: 20_000, listsAtOnce: 64, signIns: 400, signInsAtOnce: 8 }
const rest = { afterStartMs: 1_000, afterLoadMs: 5_000 }

export const start: Scenario = {
  name: 'start',
  question: 'from the start of the process to its first response, and its memory',
  async run(bench) {
    const newFolder = () => mkdtempSync(join(bench.dir, 'start-'))
    const dir = newFolder()
    const service = await startService(bench, { dir, role: 'anywhere' })
    const prepared = await prepare(service, { users: 100, proofs: 1 })
    await fillInboxes(service, prepared, 1_000)
    await service.stop()
    await timeStart(bench, { dir })
    const due = newFolder()
    cpSync(dir, due, { recursive: true })
    addDueRows(due)
    type Name = 'floor' | 'existing' | 'mailing' | 'due' | 'new' | 'uncompiled'
    const timed = await inTurns<Name, Timed>(bench, {
      floor: timeNode,
      existing: () => timeStart(bench, { dir }),
      mailing: () => timeStart(bench, { dir, settings: mailing }),
      due: () => timeStart(bench, { dir: due, settings: mailing }),
      new: () => timeStart(bench, { dir: newFolder() }),
      uncompiled: () => timeStart(bench, { dir, settings: { NODE_COMPILE_CACHE: newFolder() } }),
    })
    const { used } = await inTurns(bench, { used: () => memoryOf(bench, dir, prepared.readers) })
    const processorMs = (samples: readonly Timed[]) =>
      median(samples.map((sample) => sample.processorMs ?? 0))
    const more = (samples: readonly Timed[]) =>
      samples === timed.floor ? undefined : `CPU ${asMs(processorMs(samples))}`
    const shown = { floor: timed.floor, figure: ({ ms }: Timed) => ms, as: asMs, more }
    const memory = { of: used, as: asMegabytes }
    const afterLoad = `resident memory after ${load.lists} lists and ${load.signIns} sign-ins`
    return [
      row({
        what: 'start to first response, existing database',
        of: timed.existing,
        ...shown,
        max: targets.start,
      }),
      row({
        what: `start to first response, ${rowsDue} mails due, beside none`,
        of: timed.due,
        ...shown,
        floor: timed.mailing,
        max: targets.due,
      }),
      row({ what: 'start to first response, new database', of: timed.new, ...shown }),
      row({
        what: 'the same as the first, without a compile cache',
        of: timed.uncompiled,
        ...shown,
      }),
      row({
        what: 'resident memory after the start',
        ...memory,
        figure: ({ rested }) => rested,
        max: targets.restMb,
      }),
      row({ what: afterLoad, ...memory, figure: ({ loaded }) => loaded, max: targets.loadedMb }),
    ]
  },
}

/** The service finds nothing to send, because their user does not exist. */
function addDueRows(dir: string): void {
  using database = new DatabaseSync(databaseIn(dir))
  database.exec(`
    with recursive number (n) as (select 1 union all select n + 1 from number where n < ${rowsDue})
    insert into outbox (id, kind, due_at, owner_id, channel, queue, target, ids, at)
    select 'row-' || n, 'unread', n, 'nobody', 'mail', '', '', '[]', ${Date.now()} from number`)
}

/** Milliseconds until the first response, or the end, and of processor time until then. */
type Timed = { ms: number; processorMs?: number }
type Place = { dir: string; settings?: Record<string, string> }

async function timeStart(bench: Bench, place: Place): Promise<Timed> {
  const { startedInMs, process, stop } = await startService(bench, {
    ...place,
    role: 'anywhere',
    asNpm: true,
  })
  const processorMs = processorUsOf(process.pid) / 1_000
  await stop()
  return { ms: startedInMs, processorMs }
}

/** Megabytes. */
async function memoryOf(bench: Bench, dir: string, readers: readonly Reader[]) {
  const { port, process, stop } = await startService(bench, { dir, role: 'anywhere', asNpm: true })
  await pause(rest.afterStartMs)
  const rested = residentMegabytes(process.pid)
  const lists = requestsOf(readers, 'cookies', firstPage)
  await sendAll(port, repeated(lists, load.lists), 200, load.listsAtOnce)
  await sendAll(port, repeated(loginsOf(readers), load.signIns), 200, load.signInsAtOnce)
  await pause(rest.afterLoadMs)
  const loaded = residentMegabytes(process.pid)
  await stop()
  return { rested, loaded }
}

/** Node itself, until it has ended. */
async function timeNode(): Promise<Timed> {
  const startedAt = performance.now()
  await once(spawn(process.execPath, ['-e', '0']), 'close')
  return { ms: performance.now() - startedAt }
}

function repeated(texts: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, i) => texts[i % texts.length] as string)
}
