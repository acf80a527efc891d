// The texts of the service's own pages, notices and mails: a section for each page with a script, and `service` for what the server alone
// displays, in each language; and the language of a reader. The scripts of the pages load the section and language that they need. languages.ts
// has those of the elements.
import { type Plurals, pluralsOf } from './plurals.ts'

export const pageLanguages = ['en', 'de', 'fr'] as const
export type PageLanguage = (typeof pageLanguages)[number]

const sections = {
  en: {
    account: () => import('./en/account.ts'),
    requests: () => import('./en/requests.ts'),
    service: () => import('./en/service.ts'),
  },
  de: {
    account: () => import('./de/account.ts'),
    requests: () => import('./de/requests.ts'),
    service: () => import('./de/service.ts'),
  },
  fr: {
    account: () => import('./fr/account.ts'),
    requests: () => import('./fr/requests.ts'),
    service: () => import('./fr/service.ts'),
  },
} as const satisfies Record<PageLanguage, Record<string, () => Promise<Section<unknown>>>>

type Section<Texts> = { texts: (plurals: Plurals) => Texts }
type Sections = (typeof sections)['en']
export type SectionName = keyof Sections
/** The texts of a section. The English file decides which there are: the others have its type. */
export type TextsOf<Name extends SectionName> = ReturnType<Awaited<ReturnType<Sections[Name]>>['texts']>

export async function textsOf<Name extends SectionName>(name: Name, language: PageLanguage): Promise<TextsOf<Name>> {
  // The compiler does not see that the loader of a section returns that section.
  const load = sections[language][name] as () => Promise<Section<unknown>>
  return (await load()).texts(pluralsOf(language)) as TextsOf<Name>
}

/** The first of `tags` whose language the pages have, such as `de` for `de-CH`; English if they have none. */
export function pageLanguageOf(tags: readonly string[]): PageLanguage {
  const wanted = tags.map((tag) => tag.trim().toLowerCase().split('-', 1)[0])
  return wanted.flatMap((one) => pageLanguages.filter((language) => language === one))[0] ?? 'en'
}

/** The user's `locale`, else what the browser prefers, by `Accept-Language` (RFC 9110, section 12.5.4). */
export function languageFor(acceptLanguage: string | undefined, locale: string | null | undefined): PageLanguage {
  return pageLanguageOf([...(locale ? [locale] : []), ...preferred(acceptLanguage)])
}

/** The most preferred first; a language with the weight 0 is not wanted. */
function preferred(acceptLanguage = ''): string[] {
  const ranges = acceptLanguage.split(',').flatMap((range) => {
    const [, tag, weight = '1'] = /^\s*([a-z-]{1,35})(?:\s*;\s*q=([\d.]{1,5}))?\s*$/i.exec(range) ?? []
    return tag === undefined || Number(weight) === 0 ? [] : [{ tag, weight: Number(weight) }]
  })
  return ranges.toSorted((one, other) => other.weight - one.weight).map(({ tag }) => tag)
}
