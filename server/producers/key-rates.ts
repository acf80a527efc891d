// Counts a key's requests. Nodes share their counts once a second: until then each accepts the
// whole quota. draft-ietf-httpapi-ratelimit-headers-11 may change.
import { invalid } from '../config/values.ts'
import type { Store } from '../store/store.ts'
import { countUses, type KeyRate } from './producers.store.ts'

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 }
const maxQuota = 1_000_000
const shareEveryMs = 1_000

export function readRate(text: string): KeyRate {
  const [, count, unit = ''] = /^(\d{1,7})\/([smh])$/.exec(text) ?? []
  const quota = Number(count)
  const seconds = units[unit]
  if (seconds !== undefined && quota >= 1 && quota <= maxQuota) return { quota, seconds }
  return invalid(
    `write 1 to ${maxQuota} requests a second, minute or hour, such as 20/s, 600/m or 5000/h`,
  )
}

export function formatRate({ quota, seconds }: KeyRate): string {
  const unit = Object.keys(units).find((name) => units[name] === seconds)
  return `${quota}/${unit}`
}

/** `stored`: the part of `used` in the store. */
type Count = { window: number; used: number; stored: number; others: number; isWaiting: boolean }

/** `retryAfter`: seconds. */
type RateStanding = { fields: Readonly<Record<string, string>>; retryAfter?: number }

export class KeyRates {
  readonly #dependencies: { store: Store; now: () => number }
  readonly #counts = new Map<string, Count>()

  constructor(dependencies: { store: Store; now: () => number }) {
    this.#dependencies = dependencies
  }

  count(id: string, { quota, seconds }: KeyRate): RateStanding {
    const at = this.#dependencies.now() / 1_000
    const window = Math.floor(at / seconds)
    const resetsIn = Math.ceil((window + 1) * seconds - at)
    const count = this.#countIn(id, window)
    const isOver = count.used + count.others >= quota
    if (!isOver) count.used++
    this.#share(id, count)
    const left = Math.max(0, quota - count.used - count.others)
    const fields = {
      'ratelimit-policy': `"key";q=${quota};w=${seconds}`,
      ratelimit: `"key";r=${left};t=${resetsIn}`,
    }
    return isOver ? { fields, retryAfter: resetsIn } : { fields }
  }

  #countIn(id: string, window: number): Count {
    const known = this.#counts.get(id)
    if (known?.window === window) return known
    const count = { window, used: 0, stored: 0, others: 0, isWaiting: false }
    this.#counts.set(id, count)
    return count
  }

  /** No request waits for it. A failure loses what other nodes would have learned. */
  #share(producerId: string, count: Count): void {
    const uses = count.used - count.stored
    if (count.isWaiting || uses === 0) return
    count.isWaiting = true
    count.stored = count.used
    this.#dependencies.store
      .write(countUses, { producerId, window: count.window, uses })
      .then((total) => {
        count.others = Math.max(count.others, total - count.stored)
      })
      .catch(() => {})
    setTimeout(() => {
      count.isWaiting = false
      this.#share(producerId, count)
    }, shareEveryMs).unref()
  }
}
