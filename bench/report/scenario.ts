// What does every scenario get, and how does it clean up behind itself?
import type { Report } from './table.ts'

export type Bench = {
  /** An empty folder of this scenario's own, on the disk that the service would use. */
  dir: string
  rounds: number
  /** How long one contender of one round is under load. */
  seconds: number
  /** A line of progress, for a person who waits. */
  tell(text: string): void
  /** Stops it when the scenario is over, however it ends. */
  using<Stoppable extends { stop(): Promise<void> }>(started: Stoppable): Stoppable
}

export type Scenario = {
  name: string
  /** Shown by --help. */
  question: string
  /** How long one contender is measured where nobody says, if not as long as usual. */
  seconds?: number
  run(bench: Bench): Promise<Report>
}
