// Producers send continuously, and this records the responses. An acknowledged delivery exists
// exactly once; an unacknowledged one can be sent again with the same key, and then exists exactly
// once.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpResponse, Proof } from '../service.ts'
import { onlyBroken } from './broken-connection.ts'
import { idIn, type UserOfService } from './user-of-service.ts'

const pauseAfterFailureMs = 50

export class Ledger {
  /** Keys are the idempotency keys, which are also the titles. */
  readonly delivered = new Map<string, string>()
  readonly #unsure = new Set<string>()
  /** The service reported these as not done. */
  readonly #undone = new Set<string>()
  readonly statuses = new Map<number, number>()
  #begun = 0

  /** Delivers through all `users` at once, until the returned function is called. */
  begin(users: readonly UserOfService[], { writersEach = 4 } = {}): () => Promise<void> {
    let isOver = false
    const write = async (user: UserOfService) => {
      while (!isOver) if (!(await this.#deliverOnce(user))) await sleep(pauseAfterFailureMs)
    }
    const writing = Promise.all(
      users.flatMap((user) => Array.from({ length: writersEach }, () => write(user))),
    )
    // The stop function awaits it; a failure before that must not end this process.
    writing.catch(() => {})
    return async () => {
      isOver = true
      await writing
    }
  }

  async #deliverOnce(user: UserOfService): Promise<boolean> {
    const key = `delivery-${++this.#begun}`
    this.#unsure.add(key)
    const response = await user.deliver(key, key).catch(onlyBroken)
    if (response === undefined) return false
    this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1)
    if (response.status === 201) {
      this.delivered.set(key, idIn(response))
      this.#unsure.delete(key)
      return true
    }
    isUnavailable(response)
    if (!response.text.includes('outcome is unknown')) this.#undone.add(key)
    return false
  }

  /**
   * Sends each uncertain delivery twice more, and checks that every delivery exists exactly once.
   */
  async settle(user: UserOfService, proof: Proof): Promise<{ retried: number }> {
    const there = new Map((await user.inbox(proof)).map(({ id, title }) => [title, id]))
    for (const [key, id] of this.delivered)
      assert.equal(there.get(key), id, `${key} was acknowledged and is lost`)
    for (const key of this.#undone)
      assert.ok(!there.has(key), `${key} was reported as not done but exists`)
    const retried = this.#unsure.size
    for (const key of this.#unsure) {
      const first = await user.deliver(key, key)
      const second = await user.deliver(key, key)
      assert.deepEqual([first.status, second.status], [201, 201], first.text)
      assert.equal(idIn(first), idIn(second))
      assert.equal(idIn(first), there.get(key) ?? idIn(first), `${key} was delivered twice`)
      this.delivered.set(key, idIn(first))
    }
    this.#unsure.clear()
    this.#undone.clear()
    const titles = (await user.inbox(proof)).map(({ title }) => title)
    assert.equal(titles.pop(), 'Welcome to Carillon')
    assert.deepEqual(titles.sort(), [...this.delivered.keys()].sort())
    const { data } = (
      await user.request({ path: '/api/notifications/counts', headers: proof })
    ).json()
    assert.deepEqual([data.total, data.unread], [titles.length + 1, titles.length + 1])
    return { retried }
  }
}

/** A service without its store says when to retry (E3, Z7). */
export function isUnavailable(response: HttpResponse): void {
  assert.equal(response.status, 503, response.text)
  assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(response.json().error.code, 'UNAVAILABLE')
}
