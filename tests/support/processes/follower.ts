// Follows an inbox across broken connections: resumes from its last complete event, only by the
// means of a standard EventSource, and keeps every event.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { arrivals, EventReader, type StreamEvent } from '../event-source/event-source.ts'
import type { Proof } from '../service.ts'
import { onlyBroken } from './broken-connection.ts'

export class Follower implements AsyncDisposable {
  readonly events: StreamEvent[] = []
  connections = 0
  readonly openedAt: number[] = []
  position: string
  readonly #where: { url: string; proof: Proof; pauseMs: number | undefined }
  readonly #following: Promise<void>
  #reader: EventReader | undefined
  #isOver = false

  /** Waits `pauseMs` between two connections, or the time of the last `retry` field. */
  constructor(
    url: string,
    proof: Proof,
    { pauseMs, since = '0' }: { pauseMs?: number; since?: string } = {},
  ) {
    this.#where = { url, proof, pauseMs }
    this.position = since
    this.#following = this.#follow()
    // `stop` awaits it; a failure before that must not end this process.
    this.#following.catch(() => {})
  }

  get ids(): string[] {
    return arrivals(this.events)
  }

  count(type: string): number {
    return this.events.filter((event) => event.type === type).length
  }

  async until(isSo: () => boolean, withinMs = 60_000): Promise<void> {
    const giveUpAt = performance.now() + withinMs
    while (!isSo()) {
      assert.ok(
        performance.now() < giveUpAt,
        `not within ${withinMs} ms; ${this.events.length} events, ${isSo}`,
      )
      await Promise.race([
        sleep(10),
        this.#isOver ? this.#following : this.#following.then(() => assert.fail()),
      ])
    }
  }

  /** Throws if any response or event was wrong. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.#reader?.close()
    await this.#following
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #follow(): Promise<void> {
    let retryMs = 1_000
    while (!this.#isOver) {
      retryMs = (await this.#once().catch(onlyBroken)) ?? retryMs
      if (!this.#isOver) await sleep(this.#where.pauseMs ?? retryMs)
    }
  }

  /** Returns the last `retry` field of the connection. */
  async #once(): Promise<number | undefined> {
    const { url, proof } = this.#where
    const reader = await EventReader.open(url, {
      headers: { ...proof, 'last-event-id': this.position },
    })
    this.#reader = reader
    if (this.#isOver) reader.close()
    if (reader.status !== 200) {
      await reader.ended(30_000)
      assert.ok([429, 502, 503].includes(reader.status), reader.text)
      return undefined
    }
    this.connections++
    this.openedAt.push(performance.now())
    for (;;) {
      await reader.until(() => !reader.isUpToDate, 120_000)
      while (!reader.isUpToDate) this.#take(await reader.next())
      if (reader.isOver) return reader.retries.at(-1)
    }
  }

  #take(event: StreamEvent): void {
    this.events.push(event)
    this.position = event.id ?? this.position
  }
}
