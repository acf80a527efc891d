// The texts of notices in the language of a user.
import { type TextsOf, textsOf } from 'carillon-inbox/languages'
import { languageFor } from '../pages/language.ts'

export async function noticeTexts(locale: string | null): Promise<TextsOf<'service'>['notices']> {
  return (await textsOf('service', languageFor(undefined, locale))).notices
}
