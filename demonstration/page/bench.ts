// What the reader predicted and what was then measured, kept in this tab, so that a reload loses nothing but the pictures. It knows no HTML.
import { type Cell, cellsOf, type Outcome, runExperiment, type Tools } from './experiments.ts'
import type { ExperimentId } from './places.ts'

type Kept = {
  /** By experiment and cell, such as `stolen token this`. */
  predictions: { [cell: string]: boolean }
  /** `predicted`: before the run, whatever the reader chooses afterwards. */
  outcomes: { [id in ExperimentId]?: Outcome & { predicted: Kept['predictions'] } }
}

const name = 'carillon-experiments'

export class Bench {
  readonly kept = readKept()
  /** The experiment that was begun without all of its predictions. */
  incomplete: ExperimentId | undefined
  /** The address of the other site's page, while an experiment shows it. */
  frame: string | undefined
  /** The act whose pictures are displayed. */
  shown = 0

  predict(id: ExperimentId, cell: Cell, answer: boolean): void {
    this.kept.predictions[`${id} ${cell}`] = answer
    this.#keep()
  }

  /** True if it was measured. */
  async run(id: ExperimentId, tools: Omit<Tools, 'frame'>): Promise<boolean> {
    const { world } = tools
    const isIncomplete = cellsOf[id].some((cell) => this.kept.predictions[`${id} ${cell}`] === undefined)
    this.incomplete = isIncomplete ? id : undefined
    if (isIncomplete) {
      world.changed()
      return false
    }
    const frame = (address: string) => {
      this.frame = address
      world.changed()
    }
    const measure = async () => {
      const outcome = await runExperiment(id, { ...tools, frame })
      this.kept.outcomes[id] = { ...outcome, predicted: { ...this.kept.predictions } }
      const decisive = outcome.acts.findIndex(({ label }) =>
        ['thief', 'form', 'use', 'later', 'during'].includes(label),
      )
      this.shown = Math.max(0, decisive)
    }
    const isDone = await world.run(id, measure)
    this.frame = undefined
    this.#keep()
    world.changed()
    return isDone
  }

  /** Without the exchanges: they have the proofs, which a page keeps in its memory only. */
  #keep(): void {
    try {
      sessionStorage.setItem(
        name,
        JSON.stringify(this.kept, (key, value) => (key === 'acts' ? [] : value)),
      )
    } catch {
      // The browser keeps nothing for this site. The page itself still has everything.
    }
  }
}

function readKept(): Kept {
  try {
    return { predictions: {}, outcomes: {}, ...JSON.parse(sessionStorage.getItem(name) ?? '{}') }
  } catch {
    return { predictions: {}, outcomes: {} }
  }
}
