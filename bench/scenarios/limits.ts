// Measures how near the service comes to what the machine allows. The limits are a responder in C
// that sends the same bytes, writes that only sync the same bytes, and an idle connection of
// node:http. The plot of the results draws these rows.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { startFloor } from '../floors/floor.ts'
import { compileResponder, startResponder, syncedWrites } from '../floors/limits.ts'
import { Listener, streamRequest } from '../load/listen.ts'
import { type Loaded, Loader, type Server } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { residentMegabytes } from '../processes/of-process.ts'
import { inTurns } from '../report/rounds.ts'
import { asRate, rateRow, row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import type { Row } from '../report/table.ts'
import { deliveryTo, fillInboxes, newestIds, prepare, requestsOf } from '../setup/inboxes.ts'
import { type Service, startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const users = 100
const each = 100
/** Bytes that a write adds to the log are counted over so many. */
const counted = 100
const streamsOfUser = 10
const restMs = 500

export const limits: Scenario = {
  name: 'limits',
  question: 'lists, deliveries and marks on SQLite beside what kernel and disk allow',
  async run(bench) {
    const program = compileResponder(bench)
    if (program === undefined) {
      bench.progress('skipped: this machine has no cc, or is not Linux')
      return []
    }
    const { seconds, rounds } = bench
    const service = await startService(bench)
    const prepared = await prepare(service, { users: bench.scaled(users), proofs: 1 })
    const { readers, producer } = prepared
    await fillInboxes(service, prepared, each)
    const loader = new Loader(bench)
    const lists = requestsOf(readers, 'tokens', firstPage)
    const deliveries = readers.map((reader) => deliveryTo([reader], producer))
    const marks: string[] = []
    for (const { cookies } of readers)
      for (const id of await newestIds(service.port, cookies[0] as string, each))
        marks.push(
          requestText('PATCH', `/api/notifications/${id}/read`, { proof: cookies[0] as string }),
        )
    const load = (
      server: Server,
      requests: readonly string[],
      plan: { status: number; connections: number },
    ) => loader.measure(server, { requests, seconds, warmUpSeconds: seconds / 4, ...plan })
    const listed = { status: 200, connections: 64 }
    const delivered = { status: 201, connections: 64 }
    const one = { count: counted, seconds, connections: 1 }
    const ofDelivery = await bytesToDisk(service.process.pid, () =>
      loader.measure(service, { ...one, requests: deliveries, status: 201 }),
    )
    const ofMark = await bytesToDisk(service.process.pid, () =>
      loader.measure(service, { ...one, requests: marks.splice(0, counted), status: 204 }),
    )
    const sample = [lists[0], deliveries[0]] as [string, string]
    const sending = await startResponder(bench, { program, port: service.port, text: sample[0] })
    const receiving = await startResponder(bench, { program, port: service.port, text: sample[1] })
    const node = await startFloor(bench, { port: service.port, texts: [sample[0]] })
    const perRound = Math.floor(marks.length / rounds)
    const taken = await inTurns<string, Loaded>(bench, {
      'C, list': () => load(sending, lists, listed),
      'node:http, list': () => load(node, lists, listed),
      list: () => load(service, lists, listed),
      'C, delivery': () => load(receiving, deliveries, delivered),
      'deliver 64': () => load(service, deliveries, delivered),
      'deliver 1': () => load(service, deliveries, { status: 201, connections: 1 }),
      'mark 1': async () => {
        const requests = marks.splice(0, perRound)
        const marked = await loader.measure(service, {
          ...one,
          requests,
          count: perRound,
          status: 204,
        })
        // Each is marked once, so a disturbed sample is not taken again.
        return { ...marked, otherProgramsShare: 0 }
      },
    })
    const synced = (bytes: number) =>
      Array.from({ length: rounds }, () => syncedWrites(bench, bytes, seconds / 2))
    const beside = { figure: ({ perSecond }: { perSecond: number }) => perSecond, as: asRate }
    const of = (name: string) => taken[name] as Loaded[]
    return [
      rateRow({ what: 'list, inbox unchanged', of: of('list'), floor: of('C, list') }),
      rateRow({
        what: 'bare node:http, the bytes of a list',
        of: of('node:http, list'),
        floor: of('C, list'),
      }),
      rateRow({ what: 'delivery, 64 at once', of: of('deliver 64'), floor: of('C, delivery') }),
      row({
        what: 'delivery, one at a time',
        of: of('deliver 1'),
        floor: synced(ofDelivery),
        ...beside,
      }),
      row({
        what: 'mark as read, one at a time',
        of: of('mark 1'),
        floor: synced(ofMark),
        ...beside,
      }),
      await connectionRow(bench, {
        service: await restarted(bench, service),
        node,
        cookies: readers.map(({ cookies }) => cookies[0] as string),
      }),
    ]
  },
}

/** How many bytes each of `counted` writes sends to the disk; a page of it at least. */
async function bytesToDisk(pid: number, write: () => Promise<unknown>): Promise<number> {
  const written = () =>
    Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
  const before = written()
  await write()
  return Math.max(4_096, Math.ceil((written() - before) / counted))
}

/** Without the garbage of the rows before: that would be freed while the streams are counted. */
async function restarted(bench: Bench, service: Service): Promise<Service> {
  await service.stop()
  return startService(bench)
}

type Connected = { service: Server; node: Server; cookies: readonly ProofLine[] }

/** Memory of an open stream, beside that of a connection of node:http that has had its response and waits. */
async function connectionRow(bench: Bench, { service, node, cookies }: Connected): Promise<Row> {
  const requests = Array.from({ length: streamsOfUser }, () => cookies.map(streamRequest)).flat()
  const listener = new Listener(bench)
  bench.progress(`${requests.length} streams and idle connections`)
  // Once: what was freed is used again.
  const open = await memoryOf(service, () => listener.open({ port: service.port, requests }))
  await listener.close()
  let sockets: Socket[] = []
  const idle = await memoryOf(node, async () => {
    sockets = await openIdle(node.port, requests.length)
  })
  for (const socket of sockets) socket.destroy()
  return row({
    what: 'memory of an open stream, beside an idle connection',
    of: [open],
    floor: [idle],
    figure: ({ before, after }) => ((after - before) * 1e6) / requests.length / 1024,
    as: (size) => `${size.toFixed(1)} KiB`,
  })
}

/** Resident megabytes. */
type Memory = { before: number; after: number }

async function memoryOf({ process: { pid } }: Server, open: () => Promise<void>): Promise<Memory> {
  await pause(restMs)
  const before = residentMegabytes(pid)
  await open()
  await pause(restMs)
  return { before, after: residentMegabytes(pid) }
}

/** Connections that have had a response, and are kept alive. */
function openIdle(port: number, count: number): Promise<Socket[]> {
  const text = requestText('GET', '/')
  const openOne = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      socket.once('data', () => resolve(socket)).once('error', reject)
    })
  return Promise.all(Array.from({ length: count }, openOne))
}
