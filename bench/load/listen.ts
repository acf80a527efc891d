// The clients of live streams: counts the events that arrive, and says when the last one did. It uses raw sockets with one shared buffer
// and only searches the bytes for the start of an event, so that the server is the busy process. Runs in a separate process, which
// listener.ts starts.
import { connect, type Socket } from 'node:net'
import { serveRequests } from '../processes/respond.ts'

/** 'last' responds with the time at which the last expected event arrived, in milliseconds of `sharedNow`. */
export type ListenRequest =
  | { step: 'open'; port: number; requests: readonly string[] }
  | { step: 'expect'; events: number }
  | { step: 'last' | 'close' }

const openedAtOnce = 64
const timeoutMs = 120_000
const opened = /^HTTP\/1\.1 200[\s\S]*\nevent: hello\n[\s\S]*\n\n$/
/** JSON text contains no raw line break, so these bytes occur only at the start of an event. */
const beginning = Buffer.from('event: created\n')
const bytes = Buffer.allocUnsafeSlow(64 * 1024)

let sockets: Socket[] = []
let missing = 0
let arrival = Promise.withResolvers<number>()
let isClosing = false

/** `performance.now()` starts at zero in each process; of this clock, only differences have a meaning. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** In groups, since all connections at once would overflow the listen backlog. */
async function open(port: number, requests: readonly string[]): Promise<void> {
  isClosing = false
  let next = 0
  const openOn = async () => {
    for (let turn = next++; turn < requests.length; turn = next++) await openOne(port, requests[turn] as string)
  }
  await inTime(Promise.all(Array.from({ length: openedAtOnce }, openOn)))
}

function openOne(port: number, request: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
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
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: bytes, callback: receive } })
  sockets.push(socket)
  socket.on('error', () => {})
  socket.on('close', () => {
    const error = new Error(`the server closed a stream\n${head.slice(0, 2_000)}`)
    reject(error)
    if (!isClosing) arrival.reject(error)
  })
  socket.write(request)
  return promise
}

function note(length: number): void {
  const piece = bytes.subarray(0, length)
  for (let at = piece.indexOf(beginning); at >= 0; at = piece.indexOf(beginning, at + beginning.length)) missing--
  if (missing <= 0) arrival.resolve(sharedNow())
}

function expect(events: number): void {
  missing = events
  arrival = Promise.withResolvers()
  arrival.promise.catch(() => {})
}

async function inTime<Result>(result: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${missing} events are missing`)), timeoutMs)
  return Promise.race([result, late.promise]).finally(() => clearTimeout(timer))
}

function close(): void {
  isClosing = true
  for (const socket of sockets) socket.destroy()
  sockets = []
}

if (import.meta.main)
  serveRequests((question: ListenRequest) => {
    if (question.step === 'open') return open(question.port, question.requests)
    if (question.step === 'expect') return expect(question.events)
    return question.step === 'last' ? inTime(arrival.promise) : close()
  })
