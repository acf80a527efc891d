// Writes on SQLite through HTTP, each answered after its commit: deliveries and marks, one at a time and many at once, a delivery to
// 1,000 recipients, and the delay of the event loop meanwhile.
import { asLoad, cpuUs, rate, type Server, startFloor } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { Connection, type ProofLine, requestText } from '../load/requests.ts'
import type { Delay } from '../processes/probe.ts'
import { describeSync, syncCost } from '../report/machine.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asMs, asRatio, type Row } from '../report/table.ts'
import { fillInboxes, type Prepared, prepareReaders, type Reader } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const users = 1_000
/** Users with unread notifications that are marked, one after the other. */
const markers = 200
const marksEach = 500
const idsInPage = 100
const maxCpu = 6
const maxOfMany = 60
const maxDelayMs = 5

export const durableWrites: Scenario = {
  name: 'durable-writes',
  question: 'deliveries and marks on SQLite, one and many at once, each answered after its commit',
  async run(bench) {
    const { checkout, dir } = bench
    const prepared = await prepareReaders(bench, { users, proofs: 1 })
    const owners = prepared.readers.slice(0, markers)
    await fillInboxes(bench, { userIds: owners.map(({ userId }) => userId), count: marksEach })
    const service = bench.using(await startService({ checkout, dir, role: 'anywhere' }))
    const loader = bench.using(new Loader())
    const toOne = prepared.readers.map(({ username }) => delivery(prepared, [username]))
    const toAll = [
      delivery(
        prepared,
        prepared.readers.map(({ username }) => username),
      ),
    ]
    const floor = await startFloor(bench, { service, texts: toOne.slice(0, 1), status: 201 })
    const marks = new Marks(await marksOf(service.port, owners), bench.rounds)
    const on = (server: Server, load: Omit<Writes, 'server'>) => measure(bench, { loader, server, ...load })
    const all = await inTurns(bench, {
      contenders: {
        floor: () => on(floor, { requests: toOne, atOnce: 64, status: 201 }),
        'deliver 64': () => on(service, { requests: toOne, atOnce: 64, status: 201 }),
        'deliver 1': () => on(service, { requests: toOne, atOnce: 1, status: 201 }),
        'deliver 256': () => on(service, { requests: toOne, atOnce: 256, status: 201, watchesDelay: true }),
        'to 1,000': () => on(service, { requests: toAll, atOnce: 1, status: 201 }),
        // Each notification is marked once: few are marked one at a time.
        'mark 1': () => on(service, { requests: marks.next(0.2), atOnce: 1, status: 204, isOnce: true }),
        'mark 32': () => on(service, { requests: marks.next(0.8), atOnce: 32, status: 204, isOnce: true }),
      },
    })
    return { rows: rowsOf(all), notes: notesOf(bench) }
  },
}

type Writes = { requests: readonly string[]; atOnce: number; status: number; isOnce?: boolean; watchesDelay?: boolean }

function measure(
  { seconds }: Bench,
  { loader, server, atOnce, ...load }: Writes & { loader: Loader; server: Server },
): Promise<Loaded> {
  return loader.measure(server.process, {
    port: server.port,
    connections: atOnce,
    seconds,
    warmUpSeconds: seconds / 4,
    ...load,
  })
}

function delivery({ producer }: Prepared, usernames: readonly string[]): string {
  const recipients = usernames.map((username) => ({ username }))
  const content = { recipients, title: 'Number 1', body: 'It is on its way.', category: 'orders' }
  return requestText('POST', '/api/notifications', { proof: producer, body: JSON.stringify(content) })
}

/** The requests that mark every notification of these users as read; neighbours in the list belong to different users. */
async function marksOf(port: number, owners: readonly Reader[]): Promise<string[]> {
  const connection = new Connection(port)
  const marks: string[] = []
  for (let page = 1; page <= marksEach / idsInPage; page++) {
    const pages: string[][] = []
    for (const { tokens } of owners) {
      const proof = tokens[0] as ProofLine
      const path = `/api/notifications?page=${page}&limit=${idsInPage}`
      const { body } = await connection.request(requestText('GET', path, { proof }))
      const { items } = JSON.parse(body).data as { items: { id: string }[] }
      pages.push(items.map(({ id }) => requestText('PATCH', `/api/notifications/${id}/read`, { proof })))
    }
    for (let i = 0; i < idsInPage; i++) marks.push(...pages.map((requests) => requests[i] as string))
  }
  connection.close()
  return marks
}

/** Hands out the marks, each once. */
class Marks {
  readonly #marks: string[]
  readonly #ofRound: number

  constructor(marks: string[], rounds: number) {
    this.#marks = marks
    this.#ofRound = Math.floor(marks.length / rounds)
  }

  /** `share`: of the marks of a round. */
  next(share: number): string[] {
    return this.#marks.splice(0, Math.floor(this.#ofRound * share))
  }
}

type Name = 'floor' | 'deliver 64' | 'deliver 1' | 'deliver 256' | 'to 1,000' | 'mark 1' | 'mark 32'
type Taken = Record<Name, Loaded[]>

function rowsOf(taken: Taken): Row[] {
  return [
    cpuRow(taken),
    plainRow('deliveries, one at a time', taken['deliver 1']),
    manyRow(taken),
    delayRow(taken['deliver 256']),
    plainRow('marks as read, one at a time', taken['mark 1']),
    plainRow('marks as read, 32 at once', taken['mark 32']),
  ]
}

function plainRow(what: string, of: readonly Loaded[]): Row {
  const [measured, figures] = [asLoad(of), of.map(rate)]
  return { what, measured, floor: '', ratio: '', target: '', met: undefined, figures }
}

/** By processor time, since the service has more threads than the floor. */
function cpuRow({ 'deliver 64': of, floor }: Taken): Row {
  const ratio = ratios(of.map(cpuUs), floor.map(cpuUs))
  return {
    what: 'CPU of a delivery, 64 at once',
    measured: `${median(of.map(cpuUs)).toFixed(0)} us (${asLoad(of)})`,
    floor: `a fixed answer: ${asLoad(floor)}`,
    ratio: asRatio(ratio),
    target: `<= ${maxCpu}`,
    met: ratio.median <= maxCpu,
    figures: of.map(cpuUs),
  }
}

function manyRow({ 'to 1,000': many, 'deliver 1': one }: Taken): Row {
  const ms = (of: readonly Loaded[]) => of.map((sample) => 1_000 / rate(sample))
  const ratio = ratios(ms(many), ms(one))
  return {
    what: 'one call with 1,000 recipients',
    measured: `${asMs(median(ms(many)))} (${asLoad(many)})`,
    floor: `with one: ${asMs(median(ms(one)))}`,
    ratio: asRatio(ratio),
    target: `<= ${maxOfMany}`,
    met: ratio.median <= maxOfMany,
    figures: ms(many),
  }
}

function delayRow(samples: readonly Loaded[]): Row {
  const delays = samples.map(({ delay }) => delay as Delay)
  const p99 = delays.map((delay) => delay.p99)
  const highest = Math.max(...delays.map(({ max }) => max))
  return {
    what: 'event loop delay, 256 deliveries at once, p99',
    measured: `${asMs(median(p99))} (p50 ${asMs(median(delays.map(({ p50 }) => p50)))}, maximum ${asMs(highest)}) at ${asLoad(samples)}`,
    floor: '',
    ratio: '',
    target: `<= ${maxDelayMs} ms`,
    met: median(p99) <= maxDelayMs,
    figures: p99,
  }
}

function notesOf({ dir }: Bench): string[] {
  return [
    `One recipient: one of ${asCount(users)} users after another, with a category. Sync: ${describeSync(syncCost(dir))}.`,
    'The floor is bare `node:http` that reads the same request and sends a fixed answer. The ratio is that of processor time, all ' +
      'threads: the service runs on all cores, since its writer is a separate thread.',
    'Event loop delay: of the service under this load, measured by a timer of 1 ms; an idle process shows a little more than 1.',
    `Marks: each marks another of ${asCount(markers * marksEach)} unread notifications.`,
  ]
}
