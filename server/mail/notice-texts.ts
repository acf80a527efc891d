// The texts of notices in the language of a user.
import { languageFor } from '../pages/language.ts'
import { type TextsOf, textsOf } from '../pages/texts/texts.ts'

export async function noticeTexts(locale: string | null): Promise<TextsOf<'service'>['notices']> {
  return (await textsOf('service', languageFor(undefined, locale))).notices
}
