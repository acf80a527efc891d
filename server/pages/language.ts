// In which language does a page greet its reader? The setting of a signed-in user comes first, then what the browser prefers.
import { type PageLanguage, pageLanguageOf } from './texts/texts.ts'

/** `acceptLanguage`: the header field (RFC 9110, section 12.5.4). `locale`: of the user. */
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
