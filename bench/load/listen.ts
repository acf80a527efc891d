// The clients of live streams: counts the events that arrive, and when. It uses raw sockets with one shared buffer and only
// searches the bytes for the start of an event, so that the server is the busy process. Runs in a separate process, which
// listener.ts starts.
import { connect, type Socket } from 'node:net'
import { sharedNow } from '../processes/clock.ts'
import { type ProbeRequest, probe } from '../processes/probe.ts'
import { serveRequests } from '../processes/respond.ts'

export type ListenRequest =
  /** Opens one stream per request text. Responds when all are open. */
  | { step: 'open'; port: number; requests: readonly string[]; keepsMoments?: boolean }
  | { step: 'expect'; events: number }
  /** Responds with the time at which the last expected event arrived. */
  | { step: 'last' }
  | { step: 'count' }
  /** Responds with the arrival times of each stream's events, in the order of the requests. */
  | { step: 'moments' }
  | { step: 'close' }

const openedAtOnce = 64
const timeoutMs = 120_000
const opened = /^HTTP\/1\.1 200[\s\S]*\nevent: hello\n[\s\S]*\n\n$/
/** JSON text contains no raw line break, so these bytes occur only at the start of an event. */
const beginning = Buffer.from('event: created\n')
const bytes = Buffer.allocUnsafeSlow(64 * 1024)

type Stream = { socket: Socket; head: string; isOpen: boolean; moments: number[] }

let streams: Stream[] = []
let keepsMoments = false
let count = 0
let isClosing = false
let wanted = Number.POSITIVE_INFINITY
let arrival = Promise.withResolvers<number>()
let failed = Promise.withResolvers<never>()

type Opening = Extract<ListenRequest, { step: 'open' }>

async function open({ port, requests, keepsMoments: keeps = false }: Opening): Promise<void> {
  keepsMoments = keeps
  isClosing = false
  failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  streams = []
  // In groups, since all connections at once would overflow the listen backlog.
  let next = 0
  const openOn = async () => {
    for (let turn = next++; turn < requests.length; turn = next++) await openOne(port, requests[turn] as string, turn)
  }
  await inTime('a response', Promise.all(Array.from({ length: openedAtOnce }, openOn)))
}

function openOne(port: number, request: string, turn: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const receive = (length: number): boolean => {
    if (stream.isOpen) note(stream, length)
    else {
      stream.head += bytes.toString('latin1', 0, length)
      stream.isOpen = opened.test(stream.head)
      if (!stream.isOpen) return true
      stream.head = ''
      resolve()
    }
    return true
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: bytes, callback: receive } })
  const stream: Stream = { socket, head: '', isOpen: false, moments: [] }
  streams[turn] = stream
  socket.on('error', () => {})
  socket.on('close', () => {
    if (!isClosing) failed.reject(new Error(`the server closed a stream\n${stream.head.slice(0, 2_000)}`))
  })
  socket.write(request)
  return promise
}

function note({ moments }: Stream, length: number): void {
  const piece = bytes.subarray(0, length)
  for (let at = piece.indexOf(beginning); at >= 0; at = piece.indexOf(beginning, at + beginning.length)) {
    count++
    if (keepsMoments) moments.push(sharedNow())
  }
  if (count >= wanted) arrival.resolve(sharedNow())
}

function expect(events: number): void {
  wanted = count + events
  arrival = Promise.withResolvers()
}

async function inTime<Result>(what: string, result: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const missing = () => reject(new Error(`${what} did not come; ${count} events came, ${wanted} were expected`))
  const timer = setTimeout(missing, timeoutMs)
  try {
    return await Promise.race([result, promise, failed.promise])
  } finally {
    clearTimeout(timer)
  }
}

function takeMoments(): number[][] {
  return streams.map((stream) => stream.moments.splice(0))
}

function close(): void {
  isClosing = true
  for (const { socket } of streams) socket.destroy()
  streams = []
}

serveRequests((question: ListenRequest | ProbeRequest) => {
  if ('about' in question) return probe(question)
  if (question.step === 'open') return open(question)
  if (question.step === 'expect') return expect(question.events)
  if (question.step === 'last') return inTime('the last event', arrival.promise)
  if (question.step === 'count') return count
  if (question.step === 'moments') return takeMoments()
  return close()
})
