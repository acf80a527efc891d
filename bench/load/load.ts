// The load generator: counts responses per second and their latency. It uses raw sockets and prepared request bytes, and reads
// only the status and length of a response, so that the server is the busy process. `Loader` runs it in a process of its own, and reads
// the processor time of the server during the same time: if the server's core was not fully used, the figure measures the load generator.
import { connect, type Socket } from 'node:net'
import { cpus } from 'node:os'
import { BenchProcess } from '../processes/processes.ts'
import { serveRequests, type Usage } from '../processes/respond.ts'
import type { Role } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'

export type Server = { port: number; process: Pick<BenchProcess, 'request' | 'pid' | 'stop'> }
type Plan = {
  port: number
  connections: number
  /** The whole text of each request. The next free connection sends the next one; the list is repeated. */
  requests: readonly string[]
  /** The expected status. Any other one fails the run. */
  status: number
  /** Ends after so many requests. */
  count?: number
  /**
   * Does not sleep while it waits for responses. Use it if the server has a core of its own: otherwise each response to a
   * sleeping process costs an interrupt, which is a cost of this harness and not of the server.
   */
  staysAwake?: boolean
  /** Milliseconds between two requests of one connection; no pause if it is left out. */
  everyMs?: number
}
type LoadRequest = { begin: Plan; warmUpSeconds: number } | { seconds: number }
type Measured = { perSecond: number; p99Ms: number; processorShare: number }
/** Shares of one core: the server with all its threads, its database, and programs that are not part of the bench. */
export type Loaded = Measured & {
  serverShare: number
  databaseShare: number
  otherProgramsShare: number
}
export type Load = Omit<Plan, 'port'> & { seconds: number; warmUpSeconds?: number }

export class Loader {
  readonly #process: BenchProcess
  readonly #databaseUs: () => number

  /** `databaseUs`: reads the processor time that the database server has used so far, if there is one. */
  constructor(bench: Bench, role: Role = 'load', databaseUs: () => number = () => 0) {
    this.#databaseUs = databaseUs
    this.#process = BenchProcess.of(bench, import.meta.filename, role)
  }

  async measure(
    { port, process: server }: Server,
    { seconds, warmUpSeconds = 0, ...plan }: Load,
  ): Promise<Loaded> {
    const used = async () => {
      const usage = await server.request<Usage>('usage')
      return { ...usage, idle: idleUs(), database: this.#databaseUs() }
    }
    await this.#process.request({ begin: { ...plan, port }, warmUpSeconds } satisfies LoadRequest)
    const before = await used()
    const measured = await this.#process.request<Measured>({ seconds } satisfies LoadRequest)
    const after = await used()
    const elapsedUs = (after.at - before.at) * 1000
    const serverShare = (after.processorUs - before.processorUs) / elapsedUs
    const databaseShare = (after.database - before.database) / elapsedUs
    const busyShare = cpus().length - (after.idle - before.idle) / elapsedUs
    const otherProgramsShare = busyShare - serverShare - databaseShare - measured.processorShare
    return { ...measured, serverShare, databaseShare, otherProgramsShare }
  }
}

/** Idle microseconds of all cores together. Time that the hypervisor gave to other machines counts as busy. */
function idleUs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle * 1000, 0)
}

const headEnd = Buffer.from('\r\n\r\n')
/** Position of the status in `HTTP/1.1 200`. */
const statusAt = 9

class Run {
  readonly #plan: Plan
  readonly #requests: Buffer[]
  readonly #sockets: Socket[] = []
  /** Per connection, the function that sends its next request. */
  readonly #sends: (() => void)[] = []
  readonly #whenDone = Promise.withResolvers<void>()
  #latencies: number[] = []
  #sent = 0
  #underWay = 0
  #isOver = false

  constructor(plan: Plan) {
    this.#plan = plan
    this.#requests = plan.requests.map((text) => Buffer.from(text, 'latin1'))
    this.#whenDone.promise.catch(() => {})
  }

  async begin(warmUpSeconds: number): Promise<void> {
    await Promise.all(Array.from({ length: this.#plan.connections }, () => this.#open()))
    if (warmUpSeconds > 0) await this.#sendFor(warmUpSeconds)
  }

  async measure(seconds: number): Promise<Measured> {
    this.#latencies = []
    const startedAt = performance.now()
    const processor = process.cpuUsage()
    await this.#sendFor(seconds)
    // A busy machine may pause for as long as the load lasts.
    while (this.#latencies.length === 0 && this.#underWay > 0) await this.#sendFor(0.01)
    const elapsedMs = performance.now() - startedAt
    const { user, system } = process.cpuUsage(processor)
    this.#isOver = true
    for (const socket of this.#sockets) socket.destroy()
    const sorted = Float64Array.from(this.#latencies).sort()
    return {
      perSecond: (sorted.length / elapsedMs) * 1000,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      processorShare: (user + system) / 1000 / elapsedMs,
    }
  }

  /** Ends when the time is over, or when `count` requests have their responses. Throws the first failure. */
  async #sendFor(seconds: number): Promise<void> {
    const time = Promise.withResolvers<void>()
    const timer = setTimeout(time.resolve, seconds * 1000)
    let isAwake = this.#plan.staysAwake === true
    const stayAwake = () => isAwake && setImmediate(stayAwake)
    stayAwake()
    if (this.#sent === 0) for (const send of this.#sends) send()
    await Promise.race([time.promise, this.#whenDone.promise])
    isAwake = false
    clearTimeout(timer)
  }

  #open(): Promise<void> {
    const { port, status, everyMs, count = Number.POSITIVE_INFINITY } = this.#plan
    const wanted = Buffer.from(String(status))
    const bytes = Buffer.allocUnsafeSlow(64 * 1024)
    let sentAt = 0
    let missing = 0

    const send = (): void => {
      if (this.#isOver || this.#sent >= count) {
        if (this.#underWay === 0) this.#whenDone.resolve()
        return
      }
      const request = this.#requests[this.#sent++ % this.#requests.length] as Buffer
      this.#underWay++
      sentAt = performance.now()
      socket.write(request)
    }
    const receive = (length: number): boolean => {
      if (missing > 0) missing -= length
      else {
        if (bytes.compare(wanted, 0, 3, statusAt, statusAt + 3) !== 0)
          this.#fail(
            `${status} was expected, not ${bytes.toString('latin1', 0, Math.min(length, 2_000))}`,
          )
        missing = responseLength(bytes, length) - length
      }
      if (missing > 0 || this.#isOver) return true
      const now = performance.now()
      this.#latencies.push(now - sentAt)
      this.#underWay--
      if (everyMs === undefined) send()
      else setTimeout(send, Math.max(0, sentAt + everyMs - now))
      return true
    }
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: bytes, callback: receive },
    })
    this.#sockets.push(socket)
    this.#sends.push(send)
    socket.on('close', () => this.#isOver || this.#fail('the server closed a connection'))
    return new Promise((resolve, reject) => socket.once('connect', resolve).on('error', reject))
  }

  #fail(why: string): void {
    this.#isOver = true
    this.#whenDone.reject(new Error(why))
  }
}

/** The length of the response that starts here. The servers write the head in one piece. */
function responseLength(bytes: Buffer, received: number): number {
  const end = bytes.indexOf(headEnd)
  if (end < 0 || end > received) throw new Error('the head of a response arrived in pieces')
  const bodyLength = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0
  return end + headEnd.length + Number(bodyLength)
}

if (import.meta.main) {
  let run: Run | undefined
  serveRequests((question: LoadRequest) => {
    if ('seconds' in question) return run?.measure(question.seconds)
    run = new Run(question.begin)
    return run.begin(question.warmUpSeconds)
  })
}
