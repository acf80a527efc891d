// The texts of the demonstration: translated in every language.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageLanguages } from '../../server/pages/texts/texts.ts'
import { demonstrationTexts } from './texts.ts'

/** Every text by its path, such as `acts.form`; one with values for 1, 2 and 3. */
function flat(texts: object, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([name, text]) => {
    if (typeof text === 'string') return [[path + name, text]]
    return typeof text === 'function' ? [[path + name, text(1, 2, 3)]] : flat(text, `${path}${name}.`)
  })
}

test('no text is empty, or a sentence that is left in English', async () => {
  const english = new Map(flat(await demonstrationTexts('en')))
  for (const language of pageLanguages)
    for (const [name, text] of flat(await demonstrationTexts(language))) {
      assert.ok(text.trim(), `${language}: ${name} is empty`)
      if (language !== 'en' && text.split(' ').length > 3) assert.notEqual(text, english.get(name), name)
    }
})

test('in French, no line begins with a colon, semicolon, question or exclamation mark: a no-break space is before it', async () => {
  for (const [name, text] of flat(await demonstrationTexts('fr'))) assert.doesNotMatch(text, / [:;?!»]|« /, name)
})
