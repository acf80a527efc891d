// What all views need.
import type { Texts } from '../texts/texts.ts'
import type { Bench } from './bench.ts'
import type { Finding } from './result.ts'
import type { SignatureCheck } from './signature-view.ts'
import type { Walk } from './walk.ts'
import type { World } from './world.ts'

export type Stage = {
  world: World
  walk: Walk
  bench: Bench
  check: SignatureCheck
  result: Finding
  texts: Texts
  language: string
  /** Where the demonstration is, such as `demonstration/`. */
  base: string
  cookieName: string
  /** Two columns. */
  isWide: boolean
  /** The width of a picture in pixels. */
  width: number
}
