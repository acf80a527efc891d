// What all views of the walk need.
import type { TextsOf } from '../../../server/pages/texts/texts.ts'
import type { Visit, World } from '../world.ts'

export type Texts = TextsOf<'demonstration'>

export type DemonstrationOptions = {
  world: World
  /** Where the demonstration is, such as `demonstration/`. */
  base: string
  language: string
  texts: Texts
}

export type Stage = Omit<DemonstrationOptions, 'world'> & {
  visit: Visit
  /** Names of the messages that are shown with all fields. */
  whole: ReadonlySet<string>
  toggle: (name: string) => void
  diagramWidth: number
}

export function timeOf(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(ms)
}

/** A table has times in milliseconds: a number of that size is a time of this century. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value > 1e12 && value < 4e12
}
