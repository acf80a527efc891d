// For tests: producers that send without end, and what the service said to them. Whatever happens to the service, what it
// acknowledged has to be there, once; what it did not acknowledge can be sent again under the same key, and is there once.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpResponse, Proof } from '../service.ts'
import { idIn, type UserOfService } from './user-of-service.ts'

const pauseAfterFailureMs = 50

export class Ledger {
  /** Id of the notification by idempotency key, which is its title too. */
  readonly delivered = new Map<string, string>()
  readonly #unsure = new Set<string>()
  /** What was answered with "nothing was done". */
  readonly #undone = new Set<string>()
  readonly statuses = new Map<number, number>()
  #begun = 0

  /** Begins to deliver through all of these at once; the function that it answers ends that. */
  begin(users: readonly UserOfService[], { writersEach = 4 } = {}): () => Promise<void> {
    let isOver = false
    const write = async (user: UserOfService) => {
      while (!isOver) if (!(await this.#deliverOnce(user))) await sleep(pauseAfterFailureMs)
    }
    const writing = Promise.all(users.flatMap((user) => Array.from({ length: writersEach }, () => write(user))))
    // Awaited when it ends; a wrong answer until then is not to end this process.
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

  /** Checks what is there, sends again what is unsure, twice, and checks that all is there exactly once. */
  async settle(user: UserOfService, proof: Proof): Promise<{ retried: number }> {
    const there = new Map((await user.inbox(proof)).map(({ id, title }) => [title, id]))
    for (const [key, id] of this.delivered) assert.equal(there.get(key), id, `${key} was acknowledged and is lost`)
    for (const key of this.#undone) assert.ok(!there.has(key), `${key} was said to be undone and is there`)
    const retried = this.#unsure.size
    for (const key of this.#unsure) {
      const [first, second] = [await user.deliver(key, key), await user.deliver(key, key)]
      assert.deepEqual([first.status, second.status], [201, 201], first.text)
      assert.equal(idIn(first), idIn(second))
      assert.equal(idIn(first), there.get(key) ?? idIn(first), `${key} was done and is done again`)
      this.delivered.set(key, idIn(first))
    }
    this.#unsure.clear()
    this.#undone.clear()
    const titles = (await user.inbox(proof)).map(({ title }) => title)
    assert.equal(titles.pop(), 'Welcome to Carillon')
    assert.deepEqual(titles.sort(), [...this.delivered.keys()].sort())
    const { data } = (await user.request({ path: '/api/notifications/counts', headers: proof })).json()
    assert.deepEqual([data.total, data.unread], [titles.length + 1, titles.length + 1])
    return { retried }
  }
}

/** A service without its store says so, and when to come back (E3, Z7). */
export function isUnavailable(response: HttpResponse): void {
  assert.equal(response.status, 503, response.text)
  assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(response.json().error.code, 'UNAVAILABLE')
}

/** A connection that broke; any other failure is one of the test. */
function onlyBroken(error: NodeJS.ErrnoException): undefined {
  if (error.code === undefined || error instanceof assert.AssertionError) throw error
}
