// Time from the start of the process to its first response, and its memory: as `npm start` runs it, by the command in package.json.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requestsOf } from '../floors/compare.ts'
import { Connection, requestText } from '../load/requests.ts'
import { inTurns, median, ratios, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asRatio, type Row } from '../report/table.ts'
import { modulesOf } from '../setup/checkout.ts'
import { fillInboxes, prepareReaders } from '../setup/inboxes.ts'
import { startAsNpm } from '../setup/npm-start.ts'
import { firstPage } from './list.ts'

const maxStart = 2.5
const maxMegabytes = { rest: 85, loaded: 120 }
const load = { lists: 20_000, listsAtOnce: 64, signIns: 400, signInsAtOnce: 8 }
const rest = { afterStartMs: 1_000, afterLoadMs: 5_000 }
const password = 'plum orchard gate 41'

export const start: Scenario = {
  name: 'start',
  question: 'from the start of the process to its first response, and its memory',
  async run(bench) {
    const existing = folder(bench.dir, 'existing')
    const place = { checkout: bench.checkout, dir: existing }
    const { Passwords } = await modulesOf(bench.checkout)
    const passwordHash = await new Passwords({ threads: 4 }).hash(password)
    const { readers } = await prepareReaders(place, { users: 100, proofs: 10, passwordHash })
    await fillInboxes(place, { userIds: readers.map(({ userId }) => userId), count: 1_000 })
    const freshFolder = counted(bench.dir)
    const requests = {
      lists: requestsOf(readers, 'cookies', firstPage),
      signIns: readers.map(({ username }) =>
        requestText('POST', '/login', { body: JSON.stringify({ username, password }) }),
      ),
    }
    await timeStart(bench, existing)
    const timed = await inTurns(bench, {
      contenders: {
        floor: timeNode,
        existing: () => timeStart(bench, existing),
        new: () => timeStart(bench, freshFolder()),
        uncompiled: () => timeStart(bench, existing, { NODE_COMPILE_CACHE: freshFolder() }),
      },
    })
    const { used } = await inTurns(bench, { contenders: { used: () => memoryOf(bench, { dir: existing, requests }) } })
    return {
      rows: [
        startRow('start to first response, existing database', timed.existing, {
          floor: timed.floor,
          target: maxStart,
        }),
        startRow('start to first response, new database', timed.new, { floor: timed.floor }),
        startRow('the same as the first, without a compile cache', timed.uncompiled, { floor: timed.floor }),
        memoryRow(
          'resident memory after the start',
          used.map(({ rested }) => rested),
          maxMegabytes.rest,
        ),
        memoryRow(
          `resident memory after ${asCount(load.lists)} lists and ${load.signIns} sign-ins`,
          used.map(({ loaded }) => loaded),
          maxMegabytes.loaded,
        ),
      ],
      notes: [
        'By the command that `npm start` runs, without npm itself, on all cores. From the call that starts the process to a 200 of ' +
          '`/readyz`, which is requested every millisecond. The floor is `node -e` by the same Node, which prints a number, until it has ended.',
        'Without a compile cache: the first start after an install, and every start if the checkout is read-only.',
        'A new database includes migrations, signing key, first user and first notification. The existing one has 100 inboxes of 1,000 notifications.',
        `Memory: all processes of the service, as the system counts it, ${rest.afterStartMs / 1_000} s after the start and ` +
          `${rest.afterLoadMs / 1_000} s after the last request; ${load.listsAtOnce} connections list, ${load.signInsAtOnce} sign in with a password.`,
      ],
    }
  },
}

/** Milliseconds until the first response, or the end, and of processor time. */
type Timed = { ms: number; processorMs: number }

/** Node itself. It says its processor time. */
async function timeNode(): Promise<Timed> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [
    '-e',
    'const { user, system } = process.cpuUsage(); console.log(user + system)',
  ])
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  await once(child, 'close')
  return { ms: performance.now() - startedAt, processorMs: Number(said) / 1_000 }
}

async function timeStart({ checkout }: Bench, dir: string, env: Record<string, string> = {}): Promise<Timed> {
  const service = await startAsNpm({ checkout, dir, env })
  await service.stop()
  return { ms: service.startedInMs, processorMs: service.processorMs }
}

type Requests = Record<'lists' | 'signIns', string[]>
/** Megabytes. */
type Used = { rested: number; loaded: number }

async function memoryOf({ checkout }: Bench, { dir, requests }: { dir: string; requests: Requests }): Promise<Used> {
  const service = await startAsNpm({ checkout, dir })
  await pause(rest.afterStartMs)
  const rested = service.residentMegabytes()
  await send(service.port, { requests: requests.lists, count: load.lists, atOnce: load.listsAtOnce })
  await send(service.port, { requests: requests.signIns, count: load.signIns, atOnce: load.signInsAtOnce })
  await pause(rest.afterLoadMs)
  const loaded = service.residentMegabytes()
  await service.stop()
  return { rested, loaded }
}

type Sending = { requests: readonly string[]; count: number; atOnce: number }

async function send(port: number, { requests, count, atOnce }: Sending): Promise<void> {
  let next = 0
  const sendOn = async () => {
    const connection = new Connection(port)
    for (let turn = next++; turn < count; turn = next++) {
      const { status, body } = await connection.request(requests[turn % requests.length] as string)
      if (status !== 200) throw new Error(`${status} ${body}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: atOnce }, sendOn))
}

function startRow(what: string, of: Timed[], { floor, target }: { floor: Timed[]; target?: number }): Row {
  const figures = of.map(({ ms }) => ms)
  const { median: middle, min, max } = spread(figures)
  const ofNode = floor.map(({ ms }) => ms)
  const ratio = ratios(figures, ofNode)
  const processor = (timed: Timed[]) => timed.map(({ processorMs }) => processorMs)
  return {
    what,
    measured: `${middle.toFixed(0)} ms (${min.toFixed(0)}-${max.toFixed(0)}), CPU ${median(processor(of)).toFixed(0)} ms`,
    floor: `${median(ofNode).toFixed(0)} ms, CPU ${median(processor(floor)).toFixed(0)} ms`,
    ratio: `${asRatio(ratio)}; CPU ${ratios(processor(of), processor(floor)).median.toFixed(2)}x`,
    target: target === undefined ? '' : `<= ${target}`,
    met: target === undefined ? undefined : ratio.median <= target,
    figures,
  }
}

function memoryRow(what: string, figures: number[], maximum: number): Row {
  const megabytes = median(figures)
  return {
    what,
    measured: `${megabytes.toFixed(0)} MB`,
    floor: '',
    ratio: '',
    target: `<= ${maximum} MB`,
    met: megabytes <= maximum,
    figures,
  }
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
