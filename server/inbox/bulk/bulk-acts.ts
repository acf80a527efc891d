// Runs the steps of bulk acts: other writes wait for one step at most. After a kill, the client
// repeats the request.
import { setTimeout as sleep } from 'node:timers/promises'
import { counts } from '../../basics/counts.ts'
import { CarillonError, unavailable } from '../../basics/errors.ts'
import { outcomeInTime } from '../../http/late-writes.ts'
import type { Store, WriteOperation } from '../../store/store.ts'
import type { Rest } from '../inbox-state.ts'
import { announce } from '../retention.store.ts'

const maxWaiting = 4
const longestPauseMs = 250

type OfUser = { userId: string }
type StepOf<Input, Outcome> = WriteOperation<Input & { rest?: Rest | undefined }, Outcome | Rest>

export class BulkActs {
  readonly #ofUsers = new Map<string, { end: Promise<unknown>; waiting: number }>()
  #lastPause: Promise<unknown> = Promise.resolve()
  readonly #store: Store
  #isEnding = false

  constructor(store: Store) {
    this.#store = store
  }

  end(): void {
    this.#isEnding = true
  }

  /** Throws TOO_MANY_REQUESTS if several acts of the user wait. */
  async run<Input extends OfUser, Outcome extends string>(
    step: StepOf<Input, Outcome>,
    input: Input,
  ): Promise<Outcome> {
    const { userId } = input
    const before = this.#ofUsers.get(userId) ?? { end: Promise.resolve(), waiting: 0 }
    if (before.waiting > maxWaiting) throw tooMany()
    const act = before.end.then(() => this.#steps(step, input))
    const end = act.catch(() => {})
    const queue = { end, waiting: before.waiting + 1 }
    this.#ofUsers.set(userId, queue)
    try {
      return await act
    } finally {
      const last = this.#ofUsers.get(userId)
      if (last?.end === end) this.#ofUsers.delete(userId)
      else if (last !== undefined) last.waiting--
    }
  }

  async #steps<Input extends OfUser, Outcome extends string>(
    step: StepOf<Input, Outcome>,
    input: Input,
  ): Promise<Outcome> {
    let result = await this.#write(step, { ...input, rest: undefined })
    while (typeof result !== 'string') {
      const rest = result
      result = await this.#inTurn(() => this.#write(step, { ...input, rest })).catch(
        async (error: unknown) => {
          // Not every step signals, and streams have to hear of what is done.
          await this.#store.write(announce, [input.userId]).catch(() => {})
          throw error
        },
      )
    }
    return result
  }

  /** Each step is in time as every write is; the act may take longer (R18). */
  async #write<Input, Result>(
    step: WriteOperation<Input, Result>,
    input: NoInfer<Input>,
  ): Promise<Result> {
    if (this.#isEnding)
      throw unavailable('The service stops', 'Repeat the request: what is done stays done.')
    const result = await outcomeInTime(this, this.#store.write(step, input))
    counts.bulkSteps++
    return result
  }

  /** Large acts get at most half of the writer. */
  #inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const { promise: pause, resolve: endPause } = Promise.withResolvers<void>()
    const turn = this.#lastPause.then(async () => {
      const beganAt = performance.now()
      try {
        return await step()
      } finally {
        void sleep(Math.min(performance.now() - beganAt, longestPauseMs)).then(endPause)
      }
    })
    this.#lastPause = pause
    return turn
  }
}

function tooMany(): CarillonError {
  return new CarillonError('TOO_MANY_REQUESTS', 'Several bulk acts on this inbox are waiting', {
    remedy: 'Wait for the response before you send the next one.',
    retryAfter: 1,
  })
}
