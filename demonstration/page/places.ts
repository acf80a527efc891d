import { type Texts, textAt } from '../texts/texts.ts'
import { experimentIds } from './experiments/experiments.ts'
import { stepIds } from './walk.ts'

export const places = [
  'start',
  ...stepIds,
  'experiments',
  ...experimentIds,
  'result',
  'class',
] as const
export type Place = (typeof places)[number]

export const isOneOf = <Id extends Place>(ids: readonly Id[], place: Place): place is Id =>
  ids.includes(place as Id)

export const hashOf = (place: Place) => `#${place}`

export function go(place: Place): void {
  if (location.hash === hashOf(place)) dispatchEvent(new HashChangeEvent('hashchange'))
  else location.hash = hashOf(place)
}

export function placeOf(hash: string): Place | undefined {
  const wanted = hash.length > 1 ? hash : '#start'
  return places.find((place) => hashOf(place) === wanted)
}

export const isHere = (place: Place) => placeOf(location.hash) === place

export function nameOf(texts: Texts, place: Place): string {
  return textAt({ ...texts.titles, ...texts.places }, place)
}
