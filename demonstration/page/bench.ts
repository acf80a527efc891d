// What the reader predicted and what was then measured, kept in this tab, so that a reload loses nothing but the pictures. It knows no HTML.
import { cellsOf, type Outcome, runExperiment, type Tools } from './experiments.ts'
import type { ExperimentId } from './places.ts'
import { type Trouble, WorldError } from './world.ts'

type Predictions = { [cell: string]: boolean }
/** `predicted`: before the run, whatever the reader chooses afterwards. */
export type Result = Outcome & { predicted: Predictions }
type Kept = { predictions: { [id in ExperimentId]?: Predictions }; outcomes: { [id in ExperimentId]?: Result } }

const name = 'carillon-experiments'

export class Bench {
  readonly #kept = readKept()
  readonly #changed: () => void
  running: ExperimentId | undefined
  problem: { id: ExperimentId; what: Trouble | 'choose'; retryAfter: number | undefined } | undefined
  /** The address of the other site's page, while an experiment shows it. */
  frame: string | undefined
  /** The act whose pictures are displayed. */
  shown = 0

  constructor(changed: () => void) {
    this.#changed = changed
  }

  predictionsOf(id: ExperimentId): Predictions {
    return this.#kept.predictions[id] ?? {}
  }

  outcomeOf(id: ExperimentId): Result | undefined {
    return this.#kept.outcomes[id]
  }

  predict(id: ExperimentId, cell: string, answer: boolean): void {
    this.#kept.predictions[id] = { ...this.predictionsOf(id), [cell]: answer }
    this.problem = undefined
    this.#keep()
  }

  show(act: number): void {
    this.shown = act
    this.#changed()
  }

  /** True if it was measured; otherwise `problem` says why not. */
  async run(id: ExperimentId, tools: Omit<Tools, 'frame'>): Promise<boolean> {
    if (this.running !== undefined) return false
    this.problem = undefined
    if (cellsOf[id].some((cell) => this.predictionsOf(id)[cell] === undefined)) return this.#fail(id, 'choose')
    this.running = id
    this.#changed()
    try {
      const frame = (address: string) => {
        this.frame = address
        this.#changed()
      }
      const outcome = await tools.world.alone(() => runExperiment(id, { ...tools, frame }))
      this.#kept.outcomes[id] = { ...outcome, predicted: this.predictionsOf(id) }
      this.shown = Math.max(
        0,
        outcome.acts.findIndex(({ label }) => decisive.includes(label)),
      )
      return true
    } catch (error) {
      const { trouble, retryAfter } =
        error instanceof WorldError ? error : { trouble: 'other' as const, retryAfter: undefined }
      // The next run then makes a new world: this one has ended, or has had too many requests.
      if (trouble === 'gone' || trouble === 'tooMany') tools.world.leave()
      return this.#fail(id, trouble, retryAfter)
    } finally {
      this.running = this.frame = undefined
      this.#keep()
    }
  }

  #fail(id: ExperimentId, what: Trouble | 'choose', retryAfter?: number): false {
    this.problem = { id, what, retryAfter }
    this.#changed()
    return false
  }

  /** Without the exchanges: they have the proofs, which a page keeps in its memory only. */
  #keep(): void {
    try {
      sessionStorage.setItem(
        name,
        JSON.stringify(this.#kept, (key, value) => (key === 'acts' ? [] : value)),
      )
    } catch {
      // The browser keeps nothing for this site. The page itself still has everything.
    }
    this.#changed()
  }
}

const decisive = ['thief', 'form', 'use', 'later', 'during']

function readKept(): Kept {
  try {
    return { predictions: {}, outcomes: {}, ...JSON.parse(sessionStorage.getItem(name) ?? '{}') }
  } catch {
    return { predictions: {}, outcomes: {} }
  }
}
