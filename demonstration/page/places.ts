// The places of the page, each with an address: the start, the steps of the walk, the experiments and the result.
import type { Texts } from '../texts/en.ts'
import { type StepId, stepIds } from './walk.ts'

export type ExperimentId = keyof Texts['experiments']
export const experimentIds: readonly ExperimentId[] = [
  'stolen',
  'signOut',
  'form',
  'script',
  'time',
  'outage',
  'balancer',
]

export type Place =
  | { kind: 'start' | 'experiments' | 'result' }
  | { kind: 'step'; id: StepId }
  | { kind: 'experiment'; id: ExperimentId }

/** `#experiment-sign-out`; the fragment of the address. */
export function hashOf(place: Place): string {
  if (place.kind === 'step') return `#${place.id}`
  if (place.kind !== 'experiment') return `#${place.kind}`
  return `#experiment-${place.id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Undefined if the fragment names something else on the page. A result has its values behind the name. */
export function placeOf(hash: string): Place | undefined {
  if (hash === '' || hash === '#') return { kind: 'start' }
  const all: Place[] = [
    { kind: 'start' },
    ...stepIds.map((id) => ({ kind: 'step', id }) as const),
    { kind: 'experiments' },
    ...experimentIds.map((id) => ({ kind: 'experiment', id }) as const),
    { kind: 'result' },
  ]
  return all.find((place) => hashOf(place) === hash.split('?', 1)[0])
}
