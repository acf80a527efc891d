// Starts and controls the process that holds the open streams (listen.ts), and sends deliveries until their events have arrived.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { BenchProcess } from '../processes/processes.ts'
import { type ListenRequest, sharedNow } from './listen.ts'
import { Connection, type ProofLine, requestText } from './requests.ts'

export class Listener {
  readonly process = BenchProcess.of('../load/listen.ts', 'load')

  /** Resolves when every stream is open and has received its first event. */
  open(port: number, requests: readonly string[]): Promise<void> {
    return this.#request({ step: 'open', port, requests })
  }

  close(): Promise<void> {
    return this.#request({ step: 'close' })
  }

  stop(): Promise<void> {
    return this.process.stop('SIGKILL')
  }

  /**
   * Sends the deliveries one after another for `seconds`: the next one when all streams have the `events` of the one before, and `everyMs`
   * after it. Milliseconds from each request to its last event.
   */
  async follow({ port, texts, events, seconds, everyMs = 0 }: Following): Promise<number[]> {
    const connection = new Connection(port)
    const endsAt = sharedNow() + seconds * 1_000
    const taken: number[] = []
    while (sharedNow() < endsAt) {
      const next = pause(everyMs)
      await this.#request({ step: 'expect', events })
      const sentAt = sharedNow()
      const { status, body } = await connection.request(texts[taken.length % texts.length] as string)
      assert.equal(status, 201, body)
      taken.push((await this.#request<number>({ step: 'last' })) - sentAt)
      await next
    }
    connection.close()
    return taken
  }

  #request<Response>(question: ListenRequest): Promise<Response> {
    return this.process.request<Response>(question)
  }
}

type Following = { port: number; texts: readonly string[]; events: number; seconds: number; everyMs?: number }

export function streamRequest(proof: ProofLine): string {
  return requestText('GET', '/api/notifications/stream', { proof })
}
