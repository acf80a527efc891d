// Starts and controls the load generator (load.ts), and reads the processor time of the server during the same time: if the
// server's core was not fully used, the figure measures the load generator.
import { cpus } from 'node:os'
import { BenchProcess } from '../processes/processes.ts'
import type { Usage } from '../processes/respond.ts'
import type { Role } from '../report/machine.ts'
import type { LoadRequest, Measured, Plan } from './load.ts'

/** Shares of one core: the server with all its threads, its database, and programs that are not part of the bench. */
export type Loaded = Measured & { serverShare: number; databaseShare: number; otherProgramsShare: number }
export type Load = Plan & { seconds: number; warmUpSeconds?: number }

export class Loader {
  readonly #process: BenchProcess
  readonly #databaseUs: () => number

  /** `databaseUs`: reads the processor time that the database server has used so far, if there is one. */
  constructor(role: Role = 'load', databaseUs: () => number = () => 0) {
    this.#databaseUs = databaseUs
    this.#process = BenchProcess.of('../load/load.ts', role)
  }

  async measure(server: BenchProcess, { seconds, warmUpSeconds = 0, ...plan }: Load): Promise<Loaded> {
    const used = async () => ({
      ...(await server.request<Usage>('usage')),
      idle: idleUs(),
      database: this.#databaseUs(),
    })
    await this.#process.request({ begin: plan, warmUpSeconds } satisfies LoadRequest)
    const before = await used()
    const measured = await this.#process.request<Measured>({ seconds } satisfies LoadRequest)
    const after = await used()
    const elapsedUs = (after.at - before.at) * 1000
    const serverShare = (after.processorUs - before.processorUs) / elapsedUs
    const databaseShare = (after.database - before.database) / elapsedUs
    const busyShare = cpus().length - (after.idle - before.idle) / elapsedUs
    const otherProgramsShare = busyShare - serverShare - databaseShare - measured.processorShare
    return { ...measured, serverShare, databaseShare, otherProgramsShare }
  }

  stop(): Promise<void> {
    return this.#process.stop('SIGKILL')
  }
}

/** Idle microseconds of all cores together. Time that the hypervisor gave to other machines counts as busy. */
function idleUs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle * 1000, 0)
}
