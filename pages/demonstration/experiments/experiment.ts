// What an experiment is: a question with two answers in each lane, and a run that measures the answers by real requests.
import type { TextsOf } from '../../../server/pages/texts/texts.ts'
import type { Exchange, Lane, Sent, World } from '../world.ts'

export type Texts = TextsOf<'demonstration'>['experiments']
export type ExperimentId = keyof Texts['experiments']
/** What the reader predicts for a lane, and what is then measured. The words for both depend on the experiment. */
export type Answer = 'yes' | 'no'
export type Answers = Readonly<Record<Lane, Answer>>

/** One thing that was measured: an exchange with its status, or a value. */
export type Fact = {
  label: keyof Texts['facts']
  line?: string
  status?: number
  exchange?: Exchange
  value?: string
}
/** `answer`: null if this browser cannot measure it; a fact says why. */
export type Measured = { answer: Answer | null; facts: Fact[] }
export type Measurements = Record<Lane, Measured>

export type Stage = {
  /** Says how long the database is still gone. */
  countDown: (seconds: number) => void
  /** Loads a page of another site in a frame, then acts while it is there. */
  inFrame: <Result>(address: string, action: () => Promise<Result>) => Promise<Result>
}

export type Experiment = {
  id: ExperimentId
  run: (world: World, stage: Stage) => Promise<Measurements>
}

export function factOf(label: Fact['label'], { status, exchange }: Sent): Fact {
  return { label, line: lineOf(exchange.request), status, exchange }
}

/** `POST /logout` of a request line: as the visitor's service sees it, without the query and the version. */
export function lineOf({ line }: { line: string }): string {
  return line.replace(/ \S*\/demonstration\/service\//, ' /').replace(/\?.*| HTTP\/.*/, '')
}

/** Whether the service accepted the proof. */
export function isAccepted(status: number): Answer {
  return status >= 200 && status < 300 ? 'yes' : 'no'
}
