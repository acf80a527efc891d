// What all views need, and the places of the page in their order.
import type { Texts } from '../texts/texts.ts'
import { type Bench, experimentIds } from './experiments.ts'
import type { Player } from './player.ts'
import type { Recording } from './recording.ts'
import type { Finding } from './result.ts'
import type { SignatureCheck } from './signature-view.ts'
import { stepIds, type Walk } from './walk.ts'
import type { World } from './world.ts'

export type Stage = {
  world: World
  walk: Walk
  bench: Bench
  player: Player
  check: SignatureCheck
  result: Finding
  /** The page then sends nothing. */
  recording: Recording | undefined
  places: string
  texts: Texts
  language: string
  cookieName: string
  isWide: boolean
  /** The width of a picture in pixels. */
  width: number
}

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

export function hashOf(place: Place): string {
  const name = place.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return isOneOf(experimentIds, place) ? `#experiment-${name}` : `#${name}`
}

export function go(place: Place): void {
  if (location.hash === hashOf(place)) dispatchEvent(new HashChangeEvent('hashchange'))
  else location.hash = hashOf(place)
}

/** Undefined if the fragment names something else. */
export function placeOf(hash: string): Place | undefined {
  const wanted = hash.length > 1 ? hash.split('?', 1)[0] : '#start'
  return places.find((place) => hashOf(place) === wanted)
}
