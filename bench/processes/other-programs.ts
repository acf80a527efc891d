// Measures how much processor time programs outside the bench used.
import { cpus } from 'node:os'
import type { Usage } from './probe.ts'

/** A process of the bench that reports its processor time. */
export type Own = { request<HttpResponse>(question: { about: 'usage' }): Promise<HttpResponse> }

/** `otherProgramsShare` is a share of one core, without this process and all of `own`. */
export async function withOtherPrograms<Result>(
  own: readonly Own[],
  work: () => Promise<Result>,
): Promise<{ result: Result; otherProgramsShare: number }> {
  const [before, idleBefore, startedAt] = [await usedUs(own), idleUs(), performance.now()]
  const result = await work()
  const elapsedUs = (performance.now() - startedAt) * 1000
  const [after, idleAfter] = [await usedUs(own), idleUs()]
  const busyUs = cpus().length * elapsedUs - (idleAfter - idleBefore)
  return { result, otherProgramsShare: Math.max(0, (busyUs - (after - before)) / elapsedUs) }
}

async function usedUs(own: readonly Own[]): Promise<number> {
  const used = await Promise.all(own.map((one) => one.request<Usage>({ about: 'usage' })))
  const { user, system } = process.cpuUsage()
  return used.reduce((sum, { processorUs }) => sum + processorUs, user + system)
}

/** Idle microseconds of all cores together. Time that the hypervisor gave to other machines counts as busy. */
export function idleUs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle * 1000, 0)
}
