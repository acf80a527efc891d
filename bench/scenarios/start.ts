// Time from the start of the process to its first response, and the memory of an idle process.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestsOf } from '../floors/compare.ts'
import { Connection, requestText } from '../load/requests.ts'
import { inTurns, type Spread, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import type { Row } from '../report/table.ts'
import { fillInboxes, prepareReaders } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const maxMs = 400
const maxMegabytes = 120
const smallLoad = 2_000

export const start: Scenario = {
  name: 'start',
  question: 'from the start of the process to its first response, and the memory of an idle process',
  async run(bench) {
    const { dir } = bench
    const existing = folder(dir, 'existing')
    const { readers } = await prepareReaders({ ...bench, dir: existing }, { users: 100, proofs: 10 })
    await fillInboxes({ ...bench, dir: existing }, { userIds: readers.map(({ userId }) => userId), count: 1_000 })
    const freshFolder = counted(dir)
    await timeStart(bench, existing)
    const timed = await inTurns(bench, {
      contenders: {
        existing: () => timeStart(bench, existing),
        new: () => timeStart(bench, freshFolder()),
        uncompiled: () => timeStart(bench, freshFolder(), { NODE_COMPILE_CACHE: freshFolder() }),
      },
    })
    return {
      rows: [
        startRow('start to first response, existing database', spread(timed.existing)),
        startRow('start to first response, new database', spread(timed.new)),
        { ...startRow('the same, without a compile cache', spread(timed.uncompiled)), target: '', met: undefined },
        ...(await memoryRows(bench, { existing, requests: requestsOf(readers, 'cookies', listed) })),
      ],
      notes: [
        'On all cores, from the call that starts the process to a 200 of `/readyz`, which is requested every millisecond.',
        'Without a compile cache: the first start after an install, and every start if the checkout is read-only.',
        'A new database includes migrations, signing key, first user and first notification. The existing one has 100 inboxes of 1,000 notifications.',
        `A small load: ${smallLoad.toLocaleString('en')} first pages, then one second without requests.`,
      ],
    }
  },
}

async function timeStart({ checkout }: Bench, dir: string, env: Record<string, string> = {}): Promise<number> {
  const service = await startService({ checkout, dir, env, role: 'anywhere', isBare: true })
  await service.stop()
  return service.startedInMs
}

async function memoryRows(
  bench: Bench,
  { existing, requests }: { existing: string; requests: string[] },
): Promise<Row[]> {
  const service = bench.using(
    await startService({ checkout: bench.checkout, dir: existing, role: 'anywhere', isBare: true }),
  )
  await pause(1_000)
  const before = residentMegabytes(service.process.pid)
  const connection = new Connection(service.port)
  for (let i = 0; i < smallLoad; i++) await connection.request(requests[i % requests.length] as string)
  connection.close()
  await pause(1_000)
  const after = residentMegabytes(service.process.pid)
  return [
    memoryRow('resident memory, idle after the start', before),
    memoryRow('resident memory, idle after a small load', after),
  ]
}

/** Resident memory as the system counts it. `ps` exists on every system but Windows. */
function residentMegabytes(pid: number): number {
  const { stdout = '' } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return (Number(stdout) * 1024) / 1e6
}

function startRow(what: string, { median, min, max }: Spread): Row {
  const measured = `${median.toFixed(0)} ms (${min.toFixed(0)}-${max.toFixed(0)})`
  return { what, measured, floor: '', ratio: '', target: `< ${maxMs} ms`, met: median < maxMs }
}

function memoryRow(what: string, megabytes: number): Row {
  const measured = `${megabytes.toFixed(0)} MB`
  return { what, measured, floor: '', ratio: '', target: `< ${maxMegabytes} MB`, met: megabytes < maxMegabytes }
}

function listed(proof: string): string {
  return requestText('GET', '/api/notifications', { proof })
}

function folder(dir: string, name: string): string {
  const path = join(dir, name)
  mkdirSync(path)
  return path
}

function counted(dir: string): () => string {
  let count = 0
  return () => folder(dir, String(++count))
}
