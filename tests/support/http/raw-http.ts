// Sends raw bytes and parses the responses strictly by RFC 9112, where a lenient client would
// repair a truncated, doubled or mixed one.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Seen } from './envelope.ts'

export type RawExchange = {
  bytes: Buffer
  /** Lifetime of the connection in milliseconds. */
  lifeMs: number
  /** Whether the service closed the connection within `timeoutMs`. */
  ended: boolean
}

export type RawOptions = {
  /** The service closes the connection by then; long, since the machine may be busy. */
  timeoutMs?: number
  /** Closes the sending side after the last byte. */
  halfClose?: boolean
  /** Milliseconds pass between two pieces. */
  pauseMs?: number
  /** Sends each piece only after some response to the previous one. */
  inTurn?: boolean
}

/**
 * Writes the pieces one by one, and waits until the service closes the connection. Never throws.
 */
export async function exchangeBytes(
  url: string,
  pieces: readonly (string | Buffer)[],
  { timeoutMs = 60_000, halfClose = false, pauseMs = 0, inTurn = false }: RawOptions = {},
): Promise<RawExchange> {
  const { socket, closed, closedAt } = open(url)
  const startedAt = performance.now()
  const chunks: Buffer[] = []
  let answered: Promise<unknown> | undefined
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const giveUp = setTimeout(() => socket.destroy(new Error('gave up')), timeoutMs)
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await (answered ?? sleep(pauseMs))
    if (!socket.writable) break
    if (inTurn)
      answered = Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed])
    socket.write(piece)
  }
  if (halfClose) socket.end()
  await closed
  clearTimeout(giveUp)
  const lifeMs = closedAt() - startedAt
  return { bytes: Buffer.concat(chunks), lifeMs, ended: lifeMs < timeoutMs }
}

function open(url: string): { socket: Socket; closed: Promise<void>; closedAt: () => number } {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.on('error', () => {}) // `close` follows; a reset after the response is normal if the service does not read the rest
  let at = Number.NaN
  socket.on('close', () => {
    at = performance.now()
    resolve()
  })
  return { socket, closed: promise, closedAt: () => at }
}

/** Throws if the bytes contain anything but final responses. */
export function readResponses(bytes: Buffer): Seen[] {
  const responses: Seen[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const { response, length } = readResponse(rest)
    if (response.status >= 200) responses.push(response)
    rest = rest.subarray(length)
  }
  return responses
}

function readResponse(bytes: Buffer): { response: Seen; length: number } {
  const headLength = bytes.indexOf('\r\n\r\n') + 4
  assert.ok(
    headLength > 3,
    `no whole header in ${JSON.stringify(bytes.toString('latin1', 0, 200))}`,
  )
  const [statusLine = '', ...fields] = bytes.toString('latin1', 0, headLength - 4).split('\r\n')
  const [, status] = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/.exec(statusLine) ?? []
  assert.ok(status !== undefined, `no status line: ${JSON.stringify(statusLine)}`)
  const headers = new Headers()
  for (const field of fields) {
    const [, name = '', value = ''] = /^([\w-]+): ([\x20-\x7e]*)$/.exec(field) ?? []
    assert.ok(name !== '', `no header field: ${JSON.stringify(field)}`)
    headers.append(name, value)
  }
  const hasBody = Number(status) >= 200 && status !== '204' && status !== '304'
  assert.equal(headers.get('transfer-encoding'), null)
  const bodyLength = hasBody ? Number(headers.get('content-length') ?? Number.NaN) : 0
  assert.ok(bytes.length >= headLength + bodyLength, 'the body is truncated')
  const text = bytes.toString('utf8', headLength, headLength + bodyLength)
  return { response: { status: Number(status), headers, text }, length: headLength + bodyLength }
}
