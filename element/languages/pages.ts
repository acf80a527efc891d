// The texts of the service's own pages, notices and mails: one section for each page or part of it, in each language. The server renders
// with them, and the scripts of the pages load the section and language that they need. languages.ts has those of the elements.
import { type Plurals, pluralsOf } from './plurals.ts'

export const pageLanguages = ['en', 'de', 'fr'] as const
export type PageLanguage = (typeof pageLanguages)[number]

const sections = {
  account: {
    en: () => import('./en/account.ts'),
    de: () => import('./de/account.ts'),
    fr: () => import('./fr/account.ts'),
  },
  requests: {
    en: () => import('./en/requests.ts'),
    de: () => import('./de/requests.ts'),
    fr: () => import('./fr/requests.ts'),
  },
  'sign-in': {
    en: () => import('./en/sign-in.ts'),
    de: () => import('./de/sign-in.ts'),
    fr: () => import('./fr/sign-in.ts'),
  },
  frame: {
    en: () => import('./en/frame.ts'),
    de: () => import('./de/frame.ts'),
    fr: () => import('./fr/frame.ts'),
  },
  demonstration: {
    en: () => import('./en/demonstration.ts'),
    de: () => import('./de/demonstration.ts'),
    fr: () => import('./fr/demonstration.ts'),
  },
  security: {
    en: () => import('./en/security.ts'),
    de: () => import('./de/security.ts'),
    fr: () => import('./fr/security.ts'),
  },
  experiments: {
    en: () => import('./en/experiments.ts'),
    de: () => import('./de/experiments.ts'),
    fr: () => import('./fr/experiments.ts'),
  },
  front: {
    en: () => import('./en/front.ts'),
    de: () => import('./de/front.ts'),
    fr: () => import('./fr/front.ts'),
  },
  password: {
    en: () => import('./en/password.ts'),
    de: () => import('./de/password.ts'),
    fr: () => import('./fr/password.ts'),
  },
  'inbox-page': {
    en: () => import('./en/inbox-page.ts'),
    de: () => import('./de/inbox-page.ts'),
    fr: () => import('./fr/inbox-page.ts'),
  },
  mail: {
    en: () => import('./en/mail.ts'),
    de: () => import('./de/mail.ts'),
    fr: () => import('./fr/mail.ts'),
  },
  notices: {
    en: () => import('./en/notices.ts'),
    de: () => import('./de/notices.ts'),
    fr: () => import('./fr/notices.ts'),
  },
  docs: {
    en: () => import('./en/docs.ts'),
    de: () => import('./de/docs.ts'),
    fr: () => import('./fr/docs.ts'),
  },
} as const satisfies { readonly [section: string]: Record<PageLanguage, () => Promise<Section<unknown>>> }

type Section<Texts> = { texts: (plurals: Plurals) => Texts }
type Sections = typeof sections
export type SectionName = keyof Sections
/** The texts of a section. The English file decides which there are: the others have its type. */
export type TextsOf<Name extends SectionName> = ReturnType<Awaited<ReturnType<Sections[Name]['en']>>['texts']>

export async function textsOf<Name extends SectionName>(name: Name, language: PageLanguage): Promise<TextsOf<Name>> {
  // The compiler does not see that the loader of a section returns that section.
  const load = sections[name][language] as () => Promise<Section<unknown>>
  return (await load()).texts(pluralsOf(language)) as TextsOf<Name>
}

/** The first of `tags` whose language the pages have, such as `de` for `de-CH`; English if they have none. */
export function pageLanguageOf(tags: readonly string[]): PageLanguage {
  const languages = tags.map((tag) => tag.trim().toLowerCase().split('-', 1)[0])
  return pageLanguages.find((language) => language === languages.find(isPageLanguage)) ?? 'en'
}

function isPageLanguage(language: string | undefined): language is PageLanguage {
  return pageLanguages.some((one) => one === language)
}
