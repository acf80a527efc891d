// What all views of the walk need.
import type { TextsOf } from '../../../server/pages/texts/texts.ts'
import type { Visit } from '../world.ts'

export type Texts = TextsOf<'demonstration'>

export type Stage = {
  texts: Texts
  language: string
  visit: Visit
  /** Names of the messages that are shown with all fields. */
  whole: ReadonlySet<string>
  toggle: (name: string) => void
  base: string
  diagramWidth: number
}

export function timeOf(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(ms)
}

/** A table has times in milliseconds: a number of that size is a time of this century. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value > 1e12 && value < 4e12
}
