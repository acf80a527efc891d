import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageLanguages } from '../../server/pages/texts/texts.ts'
import { demonstrationTexts } from './texts.ts'

/** Every text by its path, such as `acts.form`. */
function flat(texts: object, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'string' ? [[path + name, text]] : flat(text, `${path}${name}.`),
  )
}

test('no text is empty, or a sentence that is left in English', () => {
  const english = new Map(flat(demonstrationTexts('en')))
  for (const language of pageLanguages)
    for (const [name, text] of flat(demonstrationTexts(language))) {
      assert.ok(text.trim(), `${language}: ${name} is empty`)
      assert.equal(
        text.split('#').length,
        english.get(name)?.split('#').length,
        `${language}: ${name} has other values`,
      )
      if (language !== 'en' && text.split(' ').length > 3)
        assert.notEqual(text, english.get(name), name)
    }
})

test('in French, no line begins with a colon, semicolon, question or exclamation mark: a no-break space is before it', () => {
  for (const [name, text] of flat(demonstrationTexts('fr')))
    assert.doesNotMatch(text, / [:;?!»]|« /, name)
})
