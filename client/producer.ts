// An application that sends, and is sure that each delivery happened once: what may have been lost is sent again under the
// same idempotency key.
import { type Backoff, delayAfter } from './transport/backoff.ts'
import { following, pause, within } from './transport/cancellation.ts'
import { isCarillonError, networkError } from './transport/errors.ts'
import type { CallOptions, Requests } from './transport/requests.ts'
import type { Delivery, DeliveryRequest } from './transport/types.ts'

export type SendOptions = CallOptions & {
  /**
   * Your own name for this delivery, 1 to 255 visible ASCII characters: sent twice under it, even by two processes, within 24
   * hours, it is one delivery. Default: a new one for each call.
   */
  idempotencyKey?: string | undefined
  /** How often it is tried at most, once at least; default 6, which bridges some 8 seconds. An attempt may take 30. */
  attempts?: number | undefined
}

export type Producer = {
  /**
   * `POST /api/notifications`. Reaches all recipients that are known, or none. Tried again where trying again can help: no
   * answer (within 30 seconds), 408, 429, 502, 503, 504, and 409 while an earlier attempt is under way. Then the last error is thrown; the
   * delivery may have happened all the same if that is NETWORK.
   */
  send(delivery: DeliveryRequest, options?: SendOptions): Promise<Delivery>
}

const usual: Backoff = { baseMs: 500, capMs: 5_000, random: Math.random }
const passing: readonly (number | undefined)[] = [408, 409, 429, 502, 503, 504]

export function producerOf(requests: Requests, backoff = usual, attemptMs = 30_000): Producer {
  return {
    async send(delivery, { idempotencyKey = crypto.randomUUID(), attempts = 6, signal } = {}) {
      const call = {
        method: 'POST',
        path: 'api/notifications',
        // Once: another order of the fields would be another body.
        body: JSON.stringify(delivery),
        headers: { 'idempotency-key': idempotencyKey },
      } as const
      const late = networkError(new Error(`No answer within ${attemptMs} ms`))
      return following(signal, async (own) => {
        for (let failures = 0; ; failures++)
          try {
            // A connection that hangs is no answer either.
            return await within({ ms: attemptMs, signal: own.signal, late }, ({ signal: limited }) =>
              requests.data<Delivery>({ ...call, signal: limited }),
            )
          } catch (error) {
            // In this order NaN attempts are one, too.
            if (!(failures + 1 < attempts && isPassing(error))) throw error
            await pause(delayAfter(error, failures, backoff), own.signal)
          }
      })
    },
  }
}

function isPassing(error: unknown): boolean {
  return isCarillonError(error) && (error.code === 'NETWORK' || passing.includes(error.status))
}
