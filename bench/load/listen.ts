// The clients of live streams: measures the time from a delivery until its events have arrived. It uses raw sockets with one shared buffer
// and only searches the bytes for the start of an event, so that the server is the busy process. `Listener` runs it in a process of its own.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { BenchProcess } from '../processes/processes.ts'
import { serveRequests } from '../processes/respond.ts'
import type { Bench } from '../report/scenario.ts'
import { Connection, type ProofLine, requestText } from './requests.ts'

type Opening = { port: number; requests: readonly string[] }
type Following = {
  port: number
  texts: readonly string[]
  events: number
  seconds: number
  everyMs?: number
}
type ListenRequest = { open: Opening } | { follow: Following } | { close: true }

export class Listener {
  readonly #process: BenchProcess

  constructor(bench: Bench) {
    this.#process = BenchProcess.of(bench, import.meta.filename, 'load')
  }

  /** Resolves when every stream is open and has received its first event. */
  async open(opening: Opening): Promise<void> {
    await this.#process.request({ open: opening } satisfies ListenRequest)
  }

  /**
   * Sends the deliveries one after another for `seconds`: the next one when all streams have the `events` of the one before, and `everyMs`
   * after it. Milliseconds from each request to its last event.
   */
  follow(following: Following): Promise<number[]> {
    return this.#process.request({ follow: following } satisfies ListenRequest)
  }

  async close(): Promise<void> {
    await this.#process.request({ close: true } satisfies ListenRequest)
  }
}

export function streamRequest(proof: ProofLine): string {
  return requestText('GET', '/api/notifications/stream', { proof })
}

const openedAtOnce = 64
const timeoutMs = 120_000
const opened = /^HTTP\/1\.1 200[\s\S]*\nevent: hello\n[\s\S]*\n\n$/
/** JSON text contains no raw line break, so these bytes occur only at the start of an event. */
const beginning = Buffer.from('event: created\n')
const bytes = Buffer.allocUnsafeSlow(64 * 1024)

const sockets: Socket[] = []
let missing = 0
let arrival = Promise.withResolvers<number>()

/** In groups, since all connections at once would overflow the listen backlog. */
async function open({ port, requests }: Opening): Promise<void> {
  const all = requests.values()
  const openOn = async () => {
    for (const request of all) await inTime(openOne(port, request))
  }
  await Promise.all(Array.from({ length: openedAtOnce }, openOn))
}

function openOne(port: number, request: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let head = ''
  let isOpen = false
  const receive = (length: number): boolean => {
    if (isOpen) note(length)
    else {
      head += bytes.toString('latin1', 0, length)
      isOpen = opened.test(head)
      if (isOpen) resolve()
    }
    return true
  }
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: bytes, callback: receive },
  })
  sockets.push(socket)
  socket.on('error', () => {})
  socket.on('close', () => {
    throw new Error(`the server closed a stream\n${head.slice(0, 2_000)}`)
  })
  socket.write(request)
  return promise
}

function note(length: number): void {
  const piece = bytes.subarray(0, length)
  for (
    let at = piece.indexOf(beginning);
    at >= 0;
    at = piece.indexOf(beginning, at + beginning.length)
  )
    missing--
  if (missing <= 0) arrival.resolve(performance.now())
}

async function follow({ port, texts, events, seconds, everyMs = 0 }: Following): Promise<number[]> {
  using connection = new Connection(port)
  const endsAt = performance.now() + seconds * 1_000
  const taken: number[] = []
  while (performance.now() < endsAt) {
    const next = pause(everyMs)
    missing = events
    arrival = Promise.withResolvers()
    const sentAt = performance.now()
    const { status, body } = await connection.request(texts[taken.length % texts.length] as string)
    assert.equal(status, 201, body)
    taken.push((await inTime(arrival.promise)) - sentAt)
    await next
  }
  return taken
}

/** If it is late, this process ends. */
async function inTime<Result>(result: Promise<Result>): Promise<Result> {
  const late = () => {
    throw new Error(`${missing} events are missing`)
  }
  const timer = setTimeout(late, timeoutMs)
  return await result.finally(() => clearTimeout(timer))
}

function close(): void {
  for (const socket of sockets.splice(0)) socket.removeAllListeners('close').destroy()
}

if (import.meta.main)
  serveRequests((question: ListenRequest) => {
    if ('open' in question) return open(question.open)
    return 'follow' in question ? follow(question.follow) : close()
  })
