// The texts of notices in the language of a user.
import { type TextsOf, textsOf } from 'carillon-inbox/languages'
import { languageFor } from '../pages/language.ts'

export function noticeTexts(locale: string | null): Promise<TextsOf<'notices'>> {
  return textsOf('notices', languageFor(undefined, locale))
}
