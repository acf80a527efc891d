// A write that takes long goes on, and its response says so (R18).
import { CarillonError } from '../basics/errors.ts'

/** Most clients and proxies wait for at least ten seconds. */
const maxMs = 9_000

const running = new Map<() => void, object>()

/** Throws UNAVAILABLE after 9 s, and the handler goes on. `Promise.race` takes 1 us more. */
export function outcomeInTime<Outcome>(
  runner: object,
  outcome: Promise<Outcome>,
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const giveUp = () => {
    const problem = 'The store takes too long; the outcome is unknown'
    reject(new CarillonError('UNAVAILABLE', problem, { report: 'outcome-unknown' }))
  }
  running.set(giveUp, runner)
  const limit = setTimeout(giveUp, maxMs)
  const end = () => {
    clearTimeout(limit)
    running.delete(giveUp)
  }
  outcome.then(resolve, reject)
  outcome.then(end, end)
  return promise
}

export function giveUpWrites(runner: object): void {
  for (const [giveUp, of] of running) if (of === runner) giveUp()
}
