// Time from the start of the process to its first response, and its memory: as `npm start` runs it, by the command in package.json.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inTurns, median } from '../report/rounds.ts'
import { row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMegabytes, asMs } from '../report/table.ts'
import { fillInboxes, loginsOf, prepare, requestsOf, sendAll } from '../setup/inboxes.ts'
import { startAsNpm } from '../setup/npm-start.ts'
import { startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const targets = { start: 2.5, restMb: 85, loadedMb: 120 }
const load = { lists: 20_000, listsAtOnce: 64, signIns: 400, signInsAtOnce: 8 }
const rest = { afterStartMs: 1_000, afterLoadMs: 5_000 }

export const start: Scenario = {
  name: 'start',
  question: 'from the start of the process to its first response, and its memory',
  async run(bench) {
    const newFolder = () => mkdtempSync(join(bench.dir, 'start-'))
    const existing = newFolder()
    const service = await startService({ ...bench, dir: existing, role: 'anywhere' })
    const prepared = await prepare(service, { users: 100, proofs: 1 })
    await fillInboxes(service, prepared, 1_000)
    await service.stop()
    const { readers } = prepared
    const requests = { lists: requestsOf(readers, 'cookies', firstPage), signIns: loginsOf(readers) }
    await timeStart(bench, existing)
    const timed = await inTurns<string, Timed>(bench, {
      floor: timeNode,
      existing: () => timeStart(bench, existing),
      new: () => timeStart(bench, newFolder()),
      uncompiled: () => timeStart(bench, existing, { NODE_COMPILE_CACHE: newFolder() }),
    })
    const { used } = await inTurns(bench, { used: () => memoryOf(bench, { dir: existing, requests }) })
    const floor = { figures: (timed.floor ?? []).map(({ ms }) => ms) }
    const of = (what: string, samples: Timed[]) => ({ what, ...timesOf(samples), as: asMs, floor })
    const memory = (what: string, figures: number[], max: number) =>
      row({ what: `resident memory after ${what}`, figures, as: asMegabytes, max })
    return [
      row({ ...of('start to first response, existing database', timed.existing ?? []), max: targets.start }),
      row(of('start to first response, new database', timed.new ?? [])),
      row(of('the same as the first, without a compile cache', timed.uncompiled ?? [])),
      memory(
        'the start',
        used.map(({ rested }) => rested),
        targets.restMb,
      ),
      memory(
        `${load.lists} lists and ${load.signIns} sign-ins`,
        used.map(({ loaded }) => loaded),
        targets.loadedMb,
      ),
    ]
  },
}

/** Milliseconds until the first response, or the end, and of processor time. */
type Timed = { ms: number; processorMs?: number }

function timesOf(timed: readonly Timed[]): { figures: number[]; more: string } {
  const processorMs = median(timed.map((one) => one.processorMs ?? 0))
  return { figures: timed.map(({ ms }) => ms), more: `CPU ${asMs(processorMs)}` }
}

/** Node itself, until it has ended. */
async function timeNode(): Promise<Timed> {
  const startedAt = performance.now()
  await once(spawn(process.execPath, ['-e', '0']), 'close')
  return { ms: performance.now() - startedAt }
}

async function timeStart({ checkout }: Bench, dir: string, env: Record<string, string> = {}): Promise<Timed> {
  const service = await startAsNpm({ checkout, dir, env })
  await service.stop()
  return { ms: service.startedInMs, processorMs: service.processorMs }
}

type Requests = Record<'lists' | 'signIns', string[]>

/** Megabytes. */
async function memoryOf({ checkout }: Bench, { dir, requests }: { dir: string; requests: Requests }) {
  const service = await startAsNpm({ checkout, dir })
  await pause(rest.afterStartMs)
  const rested = service.residentMegabytes()
  await sendAll(service.port, repeated(requests.lists, load.lists), 200, load.listsAtOnce)
  await sendAll(service.port, repeated(requests.signIns, load.signIns), 200, load.signInsAtOnce)
  await pause(rest.afterLoadMs)
  const loaded = service.residentMegabytes()
  await service.stop()
  return { rested, loaded }
}

function repeated(texts: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, i) => texts[i % texts.length] as string)
}
