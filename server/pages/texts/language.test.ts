import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageFor } from './texts.ts'

test("a page has the language of the user's setting, else the one that the browser prefers most, else English", () => {
  const cases: [
    acceptLanguage: string | undefined,
    locale: string | null | undefined,
    language: string,
  ][] = [
    [undefined, undefined, 'en'],
    ['', null, 'en'],
    ['de-CH, fr;q=0.9', undefined, 'de'],
    ['fr;q=0.5, de;q=0.9', undefined, 'de'],
    ['pt, ja;q=0.8, fr;q=0.1', undefined, 'fr'],
    ['de;q=0, fr;q=0.1', undefined, 'fr'],
    ['de', 'fr-CA', 'fr'],
    ['de', 'pt-BR', 'de'],
    ['*', undefined, 'en'],
    [`${'x'.repeat(40)}, ;;;, de;q=zwei, DE`, undefined, 'de'],
  ]
  for (const [acceptLanguage, locale, language] of cases)
    assert.equal(languageFor(acceptLanguage, locale), language, `${acceptLanguage} ${locale}`)
})
