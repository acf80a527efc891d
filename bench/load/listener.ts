// Starts and controls the process that holds the open streams (listen.ts), and sends deliveries: one, or several at once.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { sharedNow } from '../processes/clock.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { ListenRequest } from './listen.ts'
import { Connection, type ProofLine, requestText } from './requests.ts'

type Opening = { port: number; requests: readonly string[]; keepsMoments?: boolean }

export class Listener {
  readonly #process = new BenchProcess({ args: [fileURLToPath(new URL('./listen.ts', import.meta.url))], role: 'load' })

  /** Resolves when every stream is open and has received its first event. */
  open(opening: Opening): Promise<void> {
    return this.#request({ step: 'open', ...opening })
  }

  expect(events: number): Promise<void> {
    return this.#request({ step: 'expect', events })
  }

  /** When the last expected event arrived, in milliseconds of `sharedNow`. */
  last(): Promise<number> {
    return this.#request({ step: 'last' })
  }

  count(): Promise<number> {
    return this.#request({ step: 'count' })
  }

  moments(): Promise<number[][]> {
    return this.#request({ step: 'moments' })
  }

  close(): Promise<void> {
    return this.#request({ step: 'close' })
  }

  /** So that its processor time counts as the bench's own. */
  get process(): BenchProcess {
    return this.#process
  }

  stop(): Promise<void> {
    return this.#process.stop('SIGKILL')
  }

  #request<HttpResponse>(question: ListenRequest): Promise<HttpResponse> {
    return this.#process.request<HttpResponse>(question)
  }
}

export type Sent = { sentAt: number; respondedAt: number }

/** Milliseconds of `sharedNow`: when the request was sent, and when its 201 arrived. */
export async function send(connection: Connection, text: string): Promise<Sent> {
  const sentAt = sharedNow()
  const { status, body } = await connection.request(text)
  const respondedAt = sharedNow()
  assert.equal(status, 201, body)
  return { sentAt, respondedAt }
}

/** Milliseconds to the last event at the last client, from the first request and from the last 201. */
export type Broadcast = { fromSent: number; fromResponse: number }

/** Sends all `texts` at once, and repeats for `seconds`: the next round starts when all clients have every event. */
export async function broadcastFor(
  seconds: number,
  { port, texts, events, listener }: { port: number; texts: readonly string[]; events: number; listener: Listener },
): Promise<Broadcast[]> {
  const connections = texts.map((text) => ({ text, connection: new Connection(port) }))
  const endsAt = sharedNow() + seconds * 1_000
  const taken: Broadcast[] = []
  while (sharedNow() < endsAt) {
    await listener.expect(events)
    const sent = await Promise.all(connections.map(({ connection, text }) => send(connection, text)))
    const lastAt = await listener.last()
    taken.push({
      fromSent: lastAt - Math.min(...sent.map(({ sentAt }) => sentAt)),
      fromResponse: lastAt - Math.max(...sent.map(({ respondedAt }) => respondedAt)),
    })
  }
  for (const { connection } of connections) connection.close()
  return taken
}

export function streamRequest(proof: ProofLine): string {
  return requestText('GET', '/api/notifications/stream', { proof })
}

export function deliveryRequest(producer: ProofLine, usernames: readonly string[]): string {
  const body = JSON.stringify({
    recipients: usernames.map((username) => ({ username })),
    title: 'Your order 100234 is on its way',
    body: 'It left our warehouse this morning and should reach you within two working days.',
    url: '/orders/100234',
    category: 'orders',
    data: { order: 100_234, parcels: 1 },
  })
  return requestText('POST', '/api/notifications', { proof: producer, body })
}
