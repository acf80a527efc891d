// What the reader predicted and what was then measured. It knows no HTML.
import { type Cell, type Outcome, runExperiment, type Tools } from './experiments.ts'
import type { ExperimentId } from './places.ts'

/** By experiment and cell, such as `stolen token this`. */
type Predictions = Readonly<Record<string, boolean>>

export class Bench {
  predictions: Predictions = {}
  /** `predicted`: before the run, whatever the reader chooses afterwards. */
  readonly outcomes: { [id in ExperimentId]?: Outcome & { predicted: Predictions } } = {}
  /** The act whose pictures are displayed. */
  shown = 0

  predict(id: ExperimentId, cell: Cell, answer: boolean): void {
    this.predictions = { ...this.predictions, [`${id} ${cell}`]: answer }
  }

  /** True if it was measured. */
  run(id: ExperimentId, tools: Tools): Promise<boolean> {
    return tools.world.run(id, async () => {
      const outcome = await runExperiment(id, tools)
      this.outcomes[id] = { ...outcome, predicted: this.predictions }
      // What was predicted: the attempt of the thief, or the first moment.
      const ofThief = outcome.acts.findIndex(({ label }) => label === 'thief')
      this.shown = Math.max(0, ofThief)
    })
  }
}
