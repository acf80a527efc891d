// The texts of the demonstration in each language. The English file decides which there are: the others have its type.
import type { PageLanguage } from '../../server/pages/texts/texts.ts'
import type { Texts } from './en.ts'

const languages = { en: () => import('./en.ts'), de: () => import('./de.ts'), fr: () => import('./fr.ts') } as const

export async function demonstrationTexts(language: PageLanguage): Promise<Texts> {
  return (await languages[language]()).texts
}
