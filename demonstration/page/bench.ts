// What the reader predicted and what was then measured. It knows no HTML.
import { type Cell, type Outcome, runExperiment, type Tools } from './experiments.ts'
import type { ExperimentId } from './places.ts'

/** By experiment and cell, such as `stolen token this`. */
type Predictions = Readonly<Record<string, boolean>>

export class Bench {
  predictions: Predictions = {}
  /** `predicted`: before the run, whatever the reader chooses afterwards. */
  readonly outcomes: { [id in ExperimentId]?: Outcome & { predicted: Predictions } } = {}
  /** The address of the other site's page, while an experiment shows it. */
  frame: string | undefined
  /** The act whose pictures are displayed. */
  shown = 0

  predict(id: ExperimentId, cell: Cell, answer: boolean): void {
    this.predictions = { ...this.predictions, [`${id} ${cell}`]: answer }
  }

  /** True if it was measured. */
  async run(id: ExperimentId, tools: Omit<Tools, 'frame'>): Promise<boolean> {
    const { world } = tools
    const frame = (address: string) => {
      this.frame = address
      world.changed()
    }
    const measure = async () => {
      const outcome = await runExperiment(id, { ...tools, frame })
      this.outcomes[id] = { ...outcome, predicted: this.predictions }
      const decisive = outcome.acts.findIndex(({ label }) =>
        ['thief', 'form', 'use', 'later', 'during'].includes(label),
      )
      this.shown = Math.max(0, decisive)
    }
    const isDone = await world.run(id, measure)
    this.frame = undefined
    world.changed()
    return isDone
  }
}
