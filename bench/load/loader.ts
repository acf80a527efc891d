// How much does a server answer under load? This end starts the loading process and puts what it counted beside the
// processor time of the server meanwhile: a server that is not busy was not measured, its load was.
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { idleUs } from '../processes/other-programs.ts'
import type { Delay, Usage } from '../processes/probe.ts'
import { Asked } from '../processes/processes.ts'
import type { Role } from '../report/machine.ts'
import type { LoadQuestion, Measured, Plan } from './load.ts'

/** Shares of one core: of the server, all its threads together, of its database, and of what is no part of the bench. */
export type Loaded = Measured & {
  serverShare: number
  databaseShare: number
  strangersShare: number
  delay: Delay | undefined
}
/** `watchesDelay`: of the server's event loop, meanwhile. */
export type Load = Plan & { seconds: number; warmUpSeconds: number; watchesDelay?: boolean }

export class Loader {
  readonly #process: Asked
  readonly #databaseUs: () => number

  /** `databaseUs`: the processor time that a database server has used so far, where the service has one. */
  constructor(role: Role = 'load', databaseUs: () => number = () => 0) {
    this.#databaseUs = databaseUs
    this.#process = new Asked({ args: [fileURLToPath(new URL('./load.ts', import.meta.url))], role })
  }

  async measure(server: Asked, { seconds, warmUpSeconds, watchesDelay = false, ...plan }: Load): Promise<Loaded> {
    await this.#process.ask({ step: 'begin', plan, warmUpSeconds } satisfies LoadQuestion)
    if (watchesDelay) await server.ask({ about: 'watch-delay' })
    const [before, idleBefore, databaseBefore] = [await usageOf(server), idleUs(), this.#databaseUs()]
    const measured = await this.#process.ask<Measured>({ step: 'measure', seconds } satisfies LoadQuestion)
    const [after, idleAfter, databaseAfter] = [await usageOf(server), idleUs(), this.#databaseUs()]
    const delay = watchesDelay ? await server.ask<Delay>({ about: 'delay' }) : undefined
    const elapsedUs = (after.at - before.at) * 1000
    const serverShare = (after.processorUs - before.processorUs) / elapsedUs
    const busyShare = cpus().length - (idleAfter - idleBefore) / elapsedUs
    const databaseShare = (databaseAfter - databaseBefore) / elapsedUs
    const strangersShare = busyShare - serverShare - databaseShare - measured.processorShare
    return { ...measured, serverShare, databaseShare, strangersShare, delay }
  }

  stop(): Promise<void> {
    return this.#process.stop('SIGKILL')
  }
}

function usageOf(server: Asked): Promise<Usage> {
  return server.ask<Usage>({ about: 'usage' })
}
