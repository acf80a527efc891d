// Texts of pages, notices and mails in each language. A script loads its section and language.
import { type Plurals, pluralsOf } from './plurals.ts'

export const pageLanguages = ['en', 'de', 'fr'] as const
export type PageLanguage = (typeof pageLanguages)[number]

const sections = {
  en: {
    account: () => import('./en/account.ts'),
    operator: () => import('./en/operator.ts'),
    requests: () => import('./en/requests.ts'),
    service: () => import('./en/service.ts'),
  },
  de: {
    account: () => import('./de/account.ts'),
    operator: () => import('./de/operator.ts'),
    requests: () => import('./de/requests.ts'),
    service: () => import('./de/service.ts'),
  },
  fr: {
    account: () => import('./fr/account.ts'),
    operator: () => import('./fr/operator.ts'),
    requests: () => import('./fr/requests.ts'),
    service: () => import('./fr/service.ts'),
  },
} as const satisfies Record<PageLanguage, Record<string, () => Promise<Section<unknown>>>>

type Section<Texts> = { texts: (plurals: Plurals) => Texts }
type Sections = (typeof sections)['en']
export type SectionName = keyof Sections
/** The English file decides. */
export type TextsOf<Name extends SectionName> = ReturnType<
  Awaited<ReturnType<Sections[Name]>>['texts']
>

export async function textsOf<Name extends SectionName>(
  name: Name,
  language: PageLanguage,
): Promise<TextsOf<Name>> {
  const load = sections[language][name] as () => Promise<Section<unknown>>
  return (await load()).texts(pluralsOf(language)) as TextsOf<Name>
}

export function pageLanguageOf(tags: readonly string[]): PageLanguage {
  const wanted = tags.map((tag) => tag.trim().toLowerCase().split('-', 1)[0])
  return wanted.flatMap((one) => pageLanguages.filter((language) => language === one))[0] ?? 'en'
}

/** RFC 9110, section 12.5.4. */
export function languageFor(
  acceptLanguage: string | undefined,
  locale: string | null | undefined,
): PageLanguage {
  return pageLanguageOf([...(locale ? [locale] : []), ...preferred(acceptLanguage)])
}

function preferred(acceptLanguage = ''): string[] {
  const ranges = acceptLanguage.split(',').flatMap((range) => {
    const [, tag, weight = '1'] =
      /^\s*([a-z-]{1,35})(?:\s*;\s*q=([\d.]{1,5}))?\s*$/i.exec(range) ?? []
    return tag === undefined || Number(weight) === 0 ? [] : [{ tag, weight: Number(weight) }]
  })
  return ranges.toSorted((one, other) => other.weight - one.weight).map(({ tag }) => tag)
}
