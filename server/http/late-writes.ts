// A write that takes long, such as on a slow disk: its client gets a response that says so, and the write goes on (R18).
import type { Server } from 'node:http'
import { CarillonError } from '../basics/errors.ts'

/** Most clients and proxies wait for at least ten seconds. */
const maxMs = 9_000

/** The writes without an outcome, by what refuses each. */
const running = new Map<() => void, Server>()

/** The outcome of a handler that writes. After 9 s, or if `giveUpWrites` is called, it throws UNAVAILABLE, and the handler goes on. */
export async function outcomeInTime<Outcome>(server: Server, outcome: Promise<Outcome>): Promise<Outcome> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => {
    const problem = 'The store takes too long; the outcome is unknown'
    reject(new CarillonError('UNAVAILABLE', problem, { report: 'outcome-unknown' }))
  }
  running.set(giveUp, server)
  const limit = setTimeout(giveUp, maxMs)
  try {
    return await Promise.race([outcome, late])
  } finally {
    clearTimeout(limit)
    running.delete(giveUp)
  }
}

/** Before a drain disconnects what still runs. */
export function giveUpWrites(server: Server): void {
  for (const [giveUp, of] of running) if (of === server) giveUp()
}
