// The texts of the demonstration in one language.
import { type PageLanguage, pageLanguages } from '../../server/pages/texts/texts.ts'
import { labels } from './labels.ts'

const sentences = { en: () => import('./en.ts'), de: () => import('./de.ts'), fr: () => import('./fr.ts') } as const

type Column<Table> = { [Name in keyof Table]: Table[Name] extends readonly string[] ? string : Column<Table[Name]> }
export type Texts = Column<typeof labels> & typeof import('./en.ts')['sentences']

export async function demonstrationTexts(language: PageLanguage): Promise<Texts> {
  return { ...columnOf(labels, pageLanguages.indexOf(language)), ...(await sentences[language]()).sentences }
}

function columnOf<Table extends object>(table: Table, at: number): Column<Table> {
  const entries = Object.entries(table).map(([name, entry]) => [
    name,
    Array.isArray(entry) ? entry[at] : columnOf(entry, at),
  ])
  return Object.fromEntries(entries) as Column<Table>
}
