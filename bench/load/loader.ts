// Starts and controls the load generator (load.ts), and reads the processor time of the server during the same time: if the
// server's core was not fully used, the figure measures the load generator.
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { idleUs } from '../processes/other-programs.ts'
import type { Delay, Usage } from '../processes/probe.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Role } from '../report/machine.ts'
import type { LoadRequest, Measured, Plan } from './load.ts'

/** Shares of one core: the server with all its threads, its database, and programs that are not part of the bench. */
export type Loaded = Measured & {
  serverShare: number
  databaseShare: number
  otherProgramsShare: number
  delay: Delay | undefined
}
/** `watchesDelay`: also measures the delay of the server's event loop. */
export type Load = Plan & { seconds: number; warmUpSeconds: number; watchesDelay?: boolean }

export class Loader {
  readonly #process: BenchProcess
  readonly #databaseUs: () => number

  /** `databaseUs`: reads the processor time that the database server has used so far, if there is one. */
  constructor(role: Role = 'load', databaseUs: () => number = () => 0) {
    this.#databaseUs = databaseUs
    this.#process = new BenchProcess({ args: [fileURLToPath(new URL('./load.ts', import.meta.url))], role })
  }

  async measure(
    server: Pick<BenchProcess, 'request'>,
    { seconds, warmUpSeconds, watchesDelay = false, ...plan }: Load,
  ): Promise<Loaded> {
    await this.#process.request({ step: 'begin', plan, warmUpSeconds } satisfies LoadRequest)
    if (watchesDelay) await server.request({ about: 'watch-delay' })
    const [before, idleBefore, databaseBefore] = [await usageOf(server), idleUs(), this.#databaseUs()]
    const measured = await this.#process.request<Measured>({ step: 'measure', seconds } satisfies LoadRequest)
    const [after, idleAfter, databaseAfter] = [await usageOf(server), idleUs(), this.#databaseUs()]
    const delay = watchesDelay ? await server.request<Delay>({ about: 'delay' }) : undefined
    const elapsedUs = (after.at - before.at) * 1000
    const serverShare = (after.processorUs - before.processorUs) / elapsedUs
    const busyShare = cpus().length - (idleAfter - idleBefore) / elapsedUs
    const databaseShare = (databaseAfter - databaseBefore) / elapsedUs
    const otherProgramsShare = busyShare - serverShare - databaseShare - measured.processorShare
    return { ...measured, serverShare, databaseShare, otherProgramsShare, delay }
  }

  stop(): Promise<void> {
    return this.#process.stop('SIGKILL')
  }
}

function usageOf(server: Pick<BenchProcess, 'request'>): Promise<Usage> {
  return server.request<Usage>({ about: 'usage' })
}
