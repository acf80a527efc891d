// What the reader predicted and measured, kept in this tab, so that a reload loses nothing.
import type { Answers, ExperimentId, Measurements } from './experiment.ts'

export type Result = { predicted: Answers; measured: Measurements }
/** A prediction may be there for one lane only. */
export type Predictions = Map<ExperimentId, Partial<Answers>>
export type Kept = { predictions: Predictions; results: Map<ExperimentId, Result> }

const name = 'carillon-experiments'

export function readKept(): Kept {
  const { predictions = [], results = [] } = stored()
  return {
    predictions: new Map(predictions),
    results: new Map(results.map(([id, one]) => [id, withoutExchanges(one)])),
  }
}

export function keep({ predictions, results }: Kept): void {
  try {
    const withoutProofs = [...results].map(([id, result]) => [id, withoutExchanges(result)])
    sessionStorage.setItem(name, JSON.stringify({ predictions: [...predictions], results: withoutProofs }))
  } catch {
    // The browser keeps nothing for this site. The page itself still has everything.
  }
}

type Stored = { predictions?: [ExperimentId, Partial<Answers>][]; results?: [ExperimentId, Result][] }

/** Empty if the browser keeps nothing, or if another version of the page wrote it. */
function stored(): Stored {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? '{}')
  } catch {
    return {}
  }
}

/** Exchanges have the proofs, which a page keeps in its memory only. */
function withoutExchanges({ predicted, measured: { session, token } }: Result): Result {
  const facts = (lane: Measurements['session']) => lane.facts.map(({ exchange: _, ...fact }) => fact)
  return {
    predicted,
    measured: { session: { ...session, facts: facts(session) }, token: { ...token, facts: facts(token) } },
  }
}
