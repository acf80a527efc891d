// What the reader predicted and measured, kept in this tab, so that a reload loses nothing.
import type { Answers, ExperimentId, Measurements } from './experiment.ts'

export type Result = { predicted: Answers; measured: Measurements }
export type Kept = {
  /** A prediction may be there for one lane only. */
  predictions: Partial<Record<ExperimentId, Partial<Answers>>>
  results: Partial<Record<ExperimentId, Result>>
}

const name = 'carillon-experiments'

/** Nothing if the browser keeps nothing for this site. */
export function readKept(): Kept {
  try {
    return { predictions: {}, results: {}, ...JSON.parse(sessionStorage.getItem(name) ?? '{}') }
  } catch {
    return { predictions: {}, results: {} }
  }
}

/** Without the exchanges: they have the proofs, which a page keeps in its memory only. */
export function keep(kept: Kept): void {
  try {
    const text = JSON.stringify(kept, (member, value) => (member === 'exchange' ? undefined : value))
    sessionStorage.setItem(name, text)
  } catch {
    // The browser keeps nothing for this site. The page itself still has everything.
  }
}
