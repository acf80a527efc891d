import { type PageLanguage, pageLanguages } from '../../server/pages/texts/texts.ts'
import { classTexts } from './class.ts'
import { labels } from './labels.ts'
import { sentences } from './sentences.ts'

type Column<Table> = {
  [Name in keyof Table]: Table[Name] extends readonly string[] ? string : Column<Table[Name]>
}
export type Texts = Column<typeof labels & typeof sentences & typeof classTexts>

export function demonstrationTexts(language: PageLanguage): Texts {
  return columnOf({ ...labels, ...sentences, ...classTexts }, pageLanguages.indexOf(language))
}

function columnOf<Table extends object>(table: Table, at: number): Column<Table> {
  const entries = Object.entries(table).map(([name, entry]) => [
    name,
    Array.isArray(entry) ? entry[at] : columnOf(entry, at),
  ])
  return Object.fromEntries(entries) as Column<Table>
}

export function filled(text: string, ...values: unknown[]): string {
  return values.reduce<string>((rest, value) => rest.replace('#', String(value)), text)
}

export function textAt(texts: Readonly<Record<string, string>>, name: string): string {
  return texts[name] ?? ''
}
