// How is the process asked that holds the open streams? And what is sent that they hear of: one delivery, or some at once.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { sharedNow } from '../processes/clock.ts'
import { Asked } from '../processes/processes.ts'
import type { ListenQuestion } from './listen.ts'
import { Connection, type ProofLine, request } from './requests.ts'

type Opening = { port: number; requests: readonly string[]; keepsMoments?: boolean }

export class Listener {
  readonly #process = new Asked({ args: [fileURLToPath(new URL('./listen.ts', import.meta.url))], role: 'load' })

  /** Resolves when all streams are open and were greeted. */
  open(opening: Opening): Promise<void> {
    return this.#ask({ step: 'open', ...opening })
  }

  expect(events: number): Promise<void> {
    return this.#ask({ step: 'expect', events })
  }

  /** When the last of the expected events came, by `sharedNow`. */
  last(): Promise<number> {
    return this.#ask({ step: 'last' })
  }

  count(): Promise<number> {
    return this.#ask({ step: 'count' })
  }

  moments(): Promise<number[][]> {
    return this.#ask({ step: 'moments' })
  }

  close(): Promise<void> {
    return this.#ask({ step: 'close' })
  }

  /** For those who ask what processor time it used. */
  get process(): Asked {
    return this.#process
  }

  stop(): Promise<void> {
    return this.#process.stop('SIGKILL')
  }

  #ask<Answer>(question: ListenQuestion): Promise<Answer> {
    return this.#process.ask<Answer>(question)
  }
}

export type Sent = { sentAt: number; answeredAt: number }

/** By `sharedNow`: when it was sent, and when its 201 was here. */
export async function send(connection: Connection, text: string): Promise<Sent> {
  const sentAt = sharedNow()
  const { status, body } = await connection.ask(text)
  const answeredAt = sharedNow()
  assert.equal(status, 201, body)
  return { sentAt, answeredAt }
}

/** Milliseconds from the first that was sent, and from the last 201, to the last event at the last client. */
export type Broadcast = { fromSent: number; fromAnswer: number }

/** Sends all `texts` at once, for `seconds` again and again: the next when all clients have the last one. */
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
      fromAnswer: lastAt - Math.max(...sent.map(({ answeredAt }) => answeredAt)),
    })
  }
  for (const { connection } of connections) connection.close()
  return taken
}

export function streamRequest(proof: ProofLine): string {
  return request('GET', '/api/notifications/stream', { proof })
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
  return request('POST', '/api/notifications', { proof: producer, body })
}
