import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { pageLanguages, type SectionName, textsOf } from './texts.ts'

const files = (language: string) => readdirSync(new URL(`${language}/`, import.meta.url)).toSorted()
const sections = files('en').flatMap((file) =>
  file === 'inbox.ts' ? [] : [file.replace('.ts', '') as SectionName],
)

/** By path, such as `failures.NETWORK`; one with a number for 1 and for 3. */
function flat(texts: object, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([name, text]) => {
    const at = `${path}${name}`
    if (typeof text === 'string') return [[at, text]]
    // A fact alone, such as the username in a mail, is no text.
    if (text === undefined) return []
    if (typeof text === 'object') return flat(text, `${at}.`)
    return text.length === 1
      ? [1, 3].flatMap((count) => flat({ [`${name}(${count})`]: text(count) }, path))
      : []
  })
}

test('every page language has every section', () => {
  assert.ok(sections.length > 1)
  for (const language of pageLanguages) assert.deepEqual(files(language), files('en'), language)
})

test('no page has an empty text, or a sentence that is left in English', async () => {
  for (const section of sections) {
    const english = new Map(flat(await textsOf(section, 'en')))
    assert.ok(english.size > 0, section)
    for (const language of pageLanguages)
      for (const [name, text] of flat(await textsOf(section, language))) {
        assert.ok(text.trim(), `${section}, ${language}: ${name} is empty`)
        const isSentence = text.split(' ').length > 3
        if (language !== 'en' && isSentence)
          assert.notEqual(text, english.get(name), `${section}, ${language}: ${name}`)
      }
  }
})

test('in French, no line begins with a colon, semicolon, question or exclamation mark: a no-break space is before it', async () => {
  for (const section of sections)
    for (const [name, text] of flat(await textsOf(section, 'fr')))
      assert.doesNotMatch(text, / [:;?!»]|« /, `${section}: ${name}`)
})
