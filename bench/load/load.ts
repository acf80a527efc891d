// The load generator: counts responses per second and their latency. It uses raw sockets and prepared request bytes, and reads
// only the status and length of a response, so that the server is the busy process. Runs in a separate process, which
// loader.ts starts.
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { serveRequests } from '../processes/respond.ts'

export type Plan = {
  port: number
  connections: number
  /** The whole text of each request. The next free connection sends the next one. */
  requests: readonly string[]
  /** The expected status. Any other one fails the run. */
  status: number
  /** Sends every request at most once. Otherwise the list is repeated. */
  isOnce?: boolean
  /**
   * Does not sleep while it waits for responses. Use it if the server has a core of its own: otherwise each response to a
   * sleeping process costs an interrupt, which is a cost of this harness and not of the server.
   */
  staysAwake?: boolean
  /** Milliseconds between two requests of one connection; no pause if it is left out. */
  everyMs?: number
}
export type LoadRequest = { step: 'begin'; plan: Plan; warmUpSeconds: number } | { step: 'measure'; seconds: number }
export type Measured = { count: number; perSecond: number; p50Ms: number; p99Ms: number; processorShare: number }

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = '0\r\n\r\n'
const unknownLength = Number.POSITIVE_INFINITY
/** Position of the status in `HTTP/1.1 200`. */
const statusAt = 9

class Run {
  readonly #plan: Plan
  readonly #requests: Buffer[]
  readonly #sockets: Socket[] = []
  /** Per connection, the function that sends its next request. */
  readonly #sends: (() => void)[] = []
  readonly #latencies = new Latencies()
  #next = 0
  #isSending = false
  #isOver = false
  #underWay = 0
  #whenDone = Promise.withResolvers<void>()

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
    this.#latencies.clear()
    const [startedAt, processor] = [performance.now(), process.cpuUsage()]
    await this.#sendFor(seconds)
    const elapsedMs = performance.now() - startedAt
    const { user, system } = process.cpuUsage(processor)
    this.#isOver = true
    for (const socket of this.#sockets) socket.destroy()
    const count = this.#latencies.count
    return {
      count,
      perSecond: (count / elapsedMs) * 1000,
      p50Ms: this.#latencies.percentile(0.5),
      p99Ms: this.#latencies.percentile(0.99),
      processorShare: (user + system) / 1000 / elapsedMs,
    }
  }

  /** Ends when the time is over, or when every request was sent if each is sent once. Throws the first failure. */
  async #sendFor(seconds: number): Promise<void> {
    const time = Promise.withResolvers<void>()
    const timer = setTimeout(time.resolve, seconds * 1000)
    let isAwake = this.#plan.staysAwake === true
    const stayAwake = () => isAwake && setImmediate(stayAwake)
    stayAwake()
    if (!this.#isSending) for (const send of this.#sends) send()
    this.#isSending = true
    await Promise.race([time.promise, this.#whenDone.promise])
    isAwake = false
    clearTimeout(timer)
  }

  #take(): Buffer | undefined {
    if (this.#next === this.#requests.length) {
      if (this.#plan.isOnce) return undefined
      this.#next = 0
    }
    return this.#requests[this.#next++]
  }

  #open(): Promise<void> {
    const { port, status, everyMs } = this.#plan
    const [hundreds = 0, tens = 0, ones = 0] = Buffer.from(String(status))
    const bytes = Buffer.allocUnsafeSlow(64 * 1024)
    let sentAt = 0
    let missing = 0
    let end = ''

    const send = (): void => {
      const request = this.#isOver ? undefined : this.#take()
      if (request === undefined) {
        if (this.#underWay === 0) this.#whenDone.resolve()
        return
      }
      this.#underWay++
      sentAt = performance.now()
      socket.write(request)
    }
    const receive = (length: number): boolean => {
      if (missing === unknownLength)
        end = (end + bytes.toString('latin1', Math.max(0, length - lastChunk.length), length)).slice(-lastChunk.length)
      else if (missing > 0) missing -= length
      else {
        if (bytes[statusAt] !== hundreds || bytes[statusAt + 1] !== tens || bytes[statusAt + 2] !== ones)
          this.#fail(
            `${status} was expected, but the response was\n${bytes.toString('latin1', 0, Math.min(length, 2_000))}`,
          )
        missing = answerLength(bytes, length) - length
        end = bytes.toString('latin1', length - lastChunk.length, length)
      }
      if (missing === unknownLength && end === lastChunk) missing = 0
      if (missing > 0 || this.#isOver) return true
      const now = performance.now()
      this.#latencies.add(now - sentAt)
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
    socket.on('close', () => {
      if (!this.#isOver) this.#fail('the server closed a connection')
    })
    return new Promise((resolve, reject) => socket.once('connect', resolve).on('error', reject))
  }

  #fail(why: string): void {
    this.#isOver = true
    this.#whenDone.reject(new Error(why))
  }
}

/**
 * The length of the response that starts here, or `unknownLength` if it comes in chunks (RFC 9112, section 7.1). The servers write the
 * head in one piece.
 */
function answerLength(bytes: Buffer, received: number): number {
  const end = bytes.indexOf(headEnd)
  if (end < 0 || end > received) throw new Error('the head of a response arrived in pieces')
  const head = bytes.toString('latin1', 0, end)
  if (/transfer-encoding: chunked/i.test(head)) return unknownLength
  const bodyLength = /content-length: (\d+)/i.exec(head)?.[1] ?? 0
  return end + headEnd.length + Number(bodyLength)
}

/** Latencies in milliseconds. */
class Latencies {
  #values = new Float64Array(1 << 16)
  count = 0

  add(ms: number): void {
    if (this.count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.count++] = ms
  }

  clear(): void {
    this.count = 0
  }

  percentile(share: number): number {
    return (
      this.#values.slice(0, this.count).sort()[Math.min(this.count - 1, Math.floor(this.count * share))] ?? Number.NaN
    )
  }
}

let run: Run | undefined

serveRequests(async (question: LoadRequest) => {
  if (question.step === 'begin') {
    run = new Run(question.plan)
    return run.begin(question.warmUpSeconds)
  }
  if (run === undefined) throw new Error('no load was started')
  return run.measure(question.seconds)
})
