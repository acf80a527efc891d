// Starts the floor of the live streams with bytes that Carillon sent to one stream: header fields, first event, one delivery.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { request } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Server } from './compare.ts'
import type { StreamSample } from './stream-floor.ts'

/** Node adds these fields. */
const ofNode = new Set(['date', 'connection'])

export async function startStreamFloor(sample: StreamSample): Promise<Server & { stop(): Promise<void> }> {
  const process = new BenchProcess({
    args: [fileURLToPath(new URL('./stream-floor.ts', import.meta.url))],
    role: 'anywhere',
  })
  const { port } = await process.request<{ port: number }>(sample)
  return { port, process, stop: () => process.stop('SIGKILL') }
}

/** What the service sends to one stream: at the start, and after one delivery to its user. */
export async function sampleStream(
  port: number,
  { stream, delivery }: { stream: string; delivery: string },
): Promise<StreamSample> {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  let received = ''
  const until = (shape: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => shape.test(received) && resolve(received)
      socket.on('data', look).on('close', () => reject(new Error(`the stream ended\n${received}`)))
    })
  socket.on('data', (piece) => {
    received += piece
  })
  socket.write(stream)
  const opening = await until(/\nevent: hello\n[\s\S]*\n\n$/)
  const { status, body } = await request(port, delivery)
  assert.equal(status, 201, body)
  const whole = await until(/\nevent: created\n[\s\S]*\n\n$/)
  socket.destroy()
  const end = opening.indexOf('\r\n\r\n')
  const fields = opening.slice(0, end).split('\r\n').slice(1)
  return {
    fields: fields
      .map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1).trim()])
      .filter(([name = '']) => !ofNode.has(name.toLowerCase()))
      .flat(),
    greeting: opening.slice(end + 4),
    event: whole.slice(opening.length),
  }
}
