// Sends requests of every kind of sign-in to several nodes while something happens, and counts what
// fails.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Proof } from '../service.ts'
import type { UserOfService } from './user-of-service.ts'

/**
 * Without a pause, which SOAK=1 has not, the load takes the processor time that the nodes need to
 * start.
 */
const pauseMs = process.env.SOAK === undefined ? 25 : 0

export class Load implements AsyncDisposable {
  readonly failures: string[] = []
  readonly #loops: Promise<void>[]
  #isOver = false
  count = 0

  readonly #forget: () => Promise<unknown>

  private constructor(
    users: readonly UserOfService[],
    session: Proof,
    forget: () => Promise<unknown>,
  ) {
    this.#forget = forget
    this.#loops = users.flatMap((user, i) => {
      const next = users[(i + 1) % users.length] as UserOfService
      return [this.#signIns(user, next), this.#renewals(user, next), this.#lists(user, session)]
    })
  }

  /**
   * Each user is one on a node; all nodes accept its proofs. `forget` makes the service forget sign-ins: one network may send only some.
   */
  static async start(
    users: readonly UserOfService[],
    forget: () => Promise<unknown> = async () => {},
  ): Promise<Load> {
    const [first] = users
    if (first === undefined) throw new Error('a load needs a user')
    return new Load(users, await first.signIn('stateful'), forget)
  }

  async more(count: number): Promise<void> {
    const until = this.count + count
    while (this.count < until) await sleep(10)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  async #signIns(user: UserOfService, other: UserOfService): Promise<void> {
    while (!this.#isOver)
      await this.#counted('sign-in', async () => {
        await this.#forget()
        const token = await user.signIn('stateless')
        return (await other.request({ path: '/routeRestreinte', headers: token })).status
      })
  }

  /** Each token is renewed on the node that did not make it. */
  async #renewals(user: UserOfService, other: UserOfService): Promise<void> {
    let token = await user.signIn('stateless')
    let renewing = other
    let next = user
    while (!this.#isOver)
      await this.#counted('renewal', async () => {
        const { status, json } = await renewing.request({
          method: 'POST',
          path: '/token/renew',
          headers: token,
        })
        if (status === 200) token = { authorization: `Bearer ${json().token}` }
        ;[renewing, next] = [next, renewing]
        return status
      })
  }

  async #lists(user: UserOfService, session: Proof): Promise<void> {
    while (!this.#isOver)
      await this.#counted(
        'list',
        async () => (await user.request({ path: '/api/notifications', headers: session })).status,
      )
  }

  async #counted(name: string, act: () => Promise<number>): Promise<void> {
    this.count++
    const outcome = await act().catch((error: unknown) => String(error))
    if (outcome !== 200) this.failures.push(`${name}: ${outcome}`)
    if (pauseMs > 0) await sleep(pauseMs)
  }
}
