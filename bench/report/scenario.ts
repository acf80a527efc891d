// What a scenario is, and what it receives.
import type { Checkout } from '../setup/checkout.ts'
import type { Row } from './table.ts'

export type Bench = {
  /** The Carillon that is measured. */
  checkout: Checkout
  /** 0 for the checkout that measures first, 1 for the second one. */
  place: 0 | 1
  /** An empty folder for this scenario, on the disk that the service would use. */
  dir: string
  rounds: number
  /** Seconds under load per contender and round. */
  seconds: number
  /** How many users or proofs to make: this many, or a tenth with --small. */
  scaled(count: number): number
  /** Whether a sample that other programs disturbed is taken once more. */
  takesAgain: boolean
  /** Prints a line of progress. */
  progress(text: string): void
  /** Lets the other checkout measure, if there is one, and resolves when it is this one's turn again. */
  turn(): Promise<void>
  /** Calls `stop` when the scenario ends or fails. */
  onEnd(stop: () => Promise<void>): void
}

export type Scenario = {
  name: string
  /** The description in --help. */
  question: string
  /** The default of `seconds` for this scenario. */
  seconds?: number
  run(bench: Bench): Promise<Row[]>
}
