import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { texts as arabic } from './ar/inbox.ts'
import type { Forms, Plurals, Strings } from './en/inbox.ts'
import { englishStrings, languages, pluralsOf, stringsFor } from './languages.ts'

const others = languages.filter((language) => language !== 'en')
const counts = [0, 1, 2, 3, 11, 99, 100, 1000]

/** Words that are the same in English and in that language. */
const sameAsEnglish: Record<string, string[]> = {
  fr: ['title', 'count', 'important'],
  de: ['count'],
  ar: ['count'],
}

/** Every text by its path, such as `errors.NETWORK`. A text with a number is tried with each of `counts`. */
function textsOf(strings: Strings): Map<string, string> {
  const {
    locale: _locale,
    direction: _direction,
    errors,
    snooze,
    none,
    keys,
    push,
    preferences,
    badge: _badge,
    ...texts
  } = strings
  const { rules, noMail, mutes, usual, ...sheet } = preferences
  const ofSheet = { rules, noMail, mutes, sheet: { ...sheet, usual: usual('5') } }
  const members = Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'string'
      ? [[name, text] as const]
      : counts.map((count) => [`${name}(${count})`, text(count)] as const),
  )
  const groups = Object.entries({ errors, snooze, ...none, keys, push, ...ofSheet }).flatMap(
    ([group, ofGroup]) =>
      Object.entries(ofGroup).map(([name, text]) => [`${group}.${name}`, text] as const),
  )
  return new Map([...members, ...groups])
}

test('every language file is offered', () => {
  const inFolder = readdirSync(new URL('.', import.meta.url)).flatMap(
    (file) => file.match(/^[a-z]{2}$/) ?? [],
  )
  assert.deepEqual(inFolder.sort(), [...languages].sort())
})

test('no language lacks a text that English has, and none has more', async () => {
  const english = [...textsOf(englishStrings).keys()]
  for (const language of others) {
    const texts = textsOf(await stringsFor([language]))
    assert.deepEqual([...texts.keys()], english, language)
    for (const [name, text] of texts) assert.ok(text.trim(), `${language}: ${name} is empty`)
  }
})

test('no text is left in English', async () => {
  const english = textsOf(englishStrings)
  for (const language of others)
    for (const [name, text] of textsOf(await stringsFor([language]))) {
      if (sameAsEnglish[language]?.includes(name.replace(/\(.*/, ''))) continue
      assert.notEqual(text, english.get(name), `${language}: ${name}`)
      assert.doesNotMatch(
        text,
        /\b(the|read|unread|new|mark|sign|load|server is|you)\b/i,
        `${language}: ${name}`,
      )
    }
})

test('Arabic texts have no Latin letter', async () => {
  for (const [name, text] of textsOf(await stringsFor(['ar'])))
    assert.doesNotMatch(text, /[a-z]/i, name)
})

test('a text with a number contains the number in the digits of the locale, or spells it', async () => {
  const egyptian = await stringsFor(['ar-EG'])
  assert.equal(egyptian.arrived(3), '٣ إشعارات جديدة')
  assert.equal(egyptian.badge(100), '٩٩+')
  const swiss = await stringsFor(['de-CH'])
  assert.match(swiss.arrived(1234), /1.234/)
  assert.notEqual(swiss.arrived(1234), (await stringsFor(['de'])).arrived(1234))
})

test('Arabic texts distinguish six plural forms, and French and English two', async () => {
  const distinct = (strings: Strings) =>
    new Set(counts.map((count) => strings.arrived(count).replace(/\d[\d.,\s]*/, '# '))).size
  assert.equal(distinct(await stringsFor(['ar'])), 6)
  assert.equal(distinct(await stringsFor(['fr'])), 2)
  assert.equal(distinct(englishStrings), 2)
  assert.equal((await stringsFor(['fr'])).arrived(0), '0 nouvelle notification')
})

test('every plural form of Arabic is written out in each of its texts with a number', () => {
  const written: Forms[] = []
  const plurals: Plurals = (forms) => {
    written.push(forms)
    return String
  }
  arabic(plurals, String)
  assert.ok(written.length > 4)
  for (const forms of written.filter(({ other }) => !other.includes('×')))
    assert.deepEqual(Object.keys(forms), ['zero', 'one', 'two', 'few', 'many', 'other'])
})

test('a tag falls back from its region to its language, and from there to English', async () => {
  const title = async (...tags: string[]) => (await stringsFor(tags)).title
  assert.equal(await title('de-CH'), 'Mitteilungen')
  assert.equal(await title('DE_at'), 'Mitteilungen')
  assert.equal(await title('ar-Arab-EG'), 'الإشعارات')
  assert.equal(await title('ja'), 'Notifications')
  assert.equal(await title('ja', 'fr-CA', 'de'), 'Notifications')
  assert.equal((await stringsFor(['ja', 'fr-CA', 'de'])).unread, 'Non lues')
})

test('numbers and dates are in the language of the texts: a language without texts gets those of English', async () => {
  assert.equal((await stringsFor(['ja'])).locale, 'en')
  assert.equal((await stringsFor(['en-gb'])).locale, 'en-GB')
  assert.equal((await stringsFor(['de-CH'])).locale, 'de-CH')
})

test('what is not a language tag gets English', async () => {
  for (const tag of ['', ' ', '-', 'x', 'deutsch bitte', '<b>', 'constructor', '__proto__', 'de-'])
    assert.equal((await stringsFor([tag])).unread, 'Unread', tag)
  assert.equal((await stringsFor([])).unread, 'Unread')
})

test('only Arabic is written from right to left', async () => {
  for (const language of languages)
    assert.equal(
      (await stringsFor([language])).direction,
      language === 'ar' ? 'rtl' : 'ltr',
      language,
    )
})

test('a number above 99 is 99+ on the bell', () => {
  assert.deepEqual([1, 99, 100, 12_345].map(englishStrings.badge), ['1', '99', '99+', '99+'])
})

test('the name of the bell contains the number that is displayed on it', async () => {
  for (const language of languages) {
    const { bell, badge } = await stringsFor([language])
    for (const count of counts)
      assert.ok(bell(count).includes(badge(count)), `${language}: ${bell(count)}`)
  }
})

test('a plural form that a language file leaves out reads as `other`', () => {
  const arrived = pluralsOf('ar')({ other: '# x' })
  assert.equal(arrived(2), '2 x')
})
