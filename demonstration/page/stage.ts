// What all views need.
import type { Texts } from '../texts/en.ts'
import type { Place } from './places.ts'
import type { World } from './world.ts'

export type Stage = {
  world: World
  texts: Texts
  language: string
  /** Where the demonstration is, such as `demonstration/`. */
  base: string
  cookieName: string
  /** Two columns. */
  isWide: boolean
  /** The width of a picture in pixels. */
  width: number
  go: (place: Place) => void
  startAgain: () => void
}

export function timeText(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(ms)
}
