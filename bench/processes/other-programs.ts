// How much of the processors did others use meanwhile, who are no part of the bench?
import { cpus } from 'node:os'
import type { Usage } from './probe.ts'

/** A process of the bench; it answers what processor time it used. */
export type Own = { ask<Answer>(question: { about: 'usage' }): Promise<Answer> }

/** In shares of one core. What the bench's own process and all of `own` use is no stranger's. */
export async function besideStrangers<Result>(
  own: readonly Own[],
  work: () => Promise<Result>,
): Promise<{ result: Result; strangersShare: number }> {
  const [before, idleBefore, startedAt] = [await usedUs(own), idleUs(), performance.now()]
  const result = await work()
  const elapsedUs = (performance.now() - startedAt) * 1000
  const [after, idleAfter] = [await usedUs(own), idleUs()]
  const busyUs = cpus().length * elapsedUs - (idleAfter - idleBefore)
  return { result, strangersShare: Math.max(0, (busyUs - (after - before)) / elapsedUs) }
}

async function usedUs(own: readonly Own[]): Promise<number> {
  const used = await Promise.all(own.map((one) => one.ask<Usage>({ about: 'usage' })))
  const { user, system } = process.cpuUsage()
  return used.reduce((sum, { processorUs }) => sum + processorUs, user + system)
}

/** Of all cores together; what the machine below this one took for others counts as well. */
export function idleUs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle * 1000, 0)
}
