// Finds the texts for a language tag: `de-CH` gets German texts with Swiss numbers. Only English is part of the bundle.
import { retriedImport } from '../retried-import.ts'
import { texts as english, type Language, type Plurals, type Strings } from './en/inbox.ts'

const loaders: { readonly [language: string]: () => Promise<{ texts: Language }> } = {
  ar: () => import('./ar/inbox.ts'),
  de: () => import('./de/inbox.ts'),
  fr: () => import('./fr/inbox.ts'),
}

export const languages: readonly string[] = ['en', ...Object.keys(loaders)]

export const englishStrings: Strings = stringsOf(english, 'en')

/** The first of `tags` that has texts decides; English if none has. */
export async function stringsFor(tags: readonly string[]): Promise<Strings> {
  const locale = tags.map(canonical).find((tag) => tag && languages.includes(languageOf(tag)))
  if (!locale) return englishStrings
  const loader = loaders[languageOf(locale)]
  return stringsOf(loader ? (await retriedImport(loader)).texts : english, locale)
}

export function pluralsOf(locale: string): Plurals {
  const rules = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale)
  return (forms, format = numbers.format) =>
    (count) =>
      (forms[rules.select(count)] ?? forms.other).replace('#', format(count))
}

/** A language that imported its plurals would make them a file of their own. */
function stringsOf(texts: Language, locale: string): Strings {
  const plurals = pluralsOf(locale)
  const { format } = new Intl.NumberFormat(locale)
  const badge = (count: number) => (count > 99 ? `${format(99)}+` : format(count))
  const direction = languageOf(locale) === 'ar' ? 'rtl' : 'ltr'
  return { ...texts(plurals, badge), locale, direction, badge, count: plurals({ other: '×#' }) }
}

function languageOf(tag: string): string {
  return tag.split('-', 1)[0] ?? tag
}

/** Undefined for what is not a language tag: `Intl` would throw. */
function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.trim().replaceAll('_', '-'))[0]
  } catch {
    return undefined
  }
}
