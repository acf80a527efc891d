// What all views need: the state of the page, and its places in their order, each with an address.
import type { Texts } from '../texts/texts.ts'
import { type Bench, experimentIds } from './experiments.ts'
import type { Finding } from './result.ts'
import type { SignatureCheck } from './signature-view.ts'
import { stepIds, type Walk } from './walk.ts'
import type { World } from './world.ts'

export type Stage = {
  world: World
  walk: Walk
  bench: Bench
  check: SignatureCheck
  result: Finding
  texts: Texts
  language: string
  cookieName: string
  /** Two columns. */
  isWide: boolean
  /** The width of a picture in pixels. */
  width: number
}

export const places = ['start', ...stepIds, 'experiments', ...experimentIds, 'result'] as const
export type Place = (typeof places)[number]

export const isOneOf = <Id extends Place>(ids: readonly Id[], place: Place): place is Id => ids.includes(place as Id)

/** `#experiment-sign-out`; the fragment of the address. */
export function hashOf(place: Place): string {
  const name = place.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return isOneOf(experimentIds, place) ? `#experiment-${name}` : `#${name}`
}

/** Shows a place, also if the address names it already. */
export function go(place: Place): void {
  if (location.hash === hashOf(place)) dispatchEvent(new HashChangeEvent('hashchange'))
  else location.hash = hashOf(place)
}

/** Undefined if the fragment names something else on the page. A result has its values behind the name. */
export function placeOf(hash: string): Place | undefined {
  const wanted = hash.length > 1 ? hash.split('?', 1)[0] : '#start'
  return places.find((place) => hashOf(place) === wanted)
}
