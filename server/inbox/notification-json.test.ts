import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentOf, localize, newestIdIn, noItems } from './notification-json.ts'

test('names the newest notification of a page by its id, and none for an empty page', () => {
  const newest = '01900000-0000-7000-8000-000000000002'
  assert.equal(
    newestIdIn(`[{"id":"${newest}","title":"a"},{"id":"01900000-0000-7000-8000-000000000001"}]`),
    newest,
  )
  assert.equal(newestIdIn(noItems), undefined)
})

const texts = {
  'de-CH': { title: 'Grüezi' },
  de: { title: 'Hallo', body: 'Wie geht es?' },
  fr: { body: 'Ça va ?' },
}
const row = { id: '1', texts, title: 'Hello', body: 'How are you?', data: { texts: 1 } }
const rules: [locale: string | null, title: string, body: string][] = [
  ['de-CH', 'Grüezi', 'Wie geht es?'],
  ['de', 'Hallo', 'Wie geht es?'],
  ['de-AT', 'Hallo', 'Wie geht es?'],
  ['fr-CA', 'Hello', 'Ça va ?'],
  ['en-GB', 'Hello', 'How are you?'],
  ['x-texts', 'Hello', 'How are you?'],
  [null, 'Hello', 'How are you?'],
]
for (const [locale, title, body] of rules)
  test(`title and body are each those of the exact language, of its first part, or of the row: ${locale}`, () => {
    const { texts: _, ...others } = row
    const wanted = { ...others, title, body }
    assert.equal(localize(JSON.stringify(row), locale), JSON.stringify(wanted))
    const page = [{ id: '2', title: 'Hi' }, row]
    assert.equal(
      localize(JSON.stringify(page), locale),
      JSON.stringify([{ id: '2', title: 'Hi' }, wanted]),
    )
  })

test('a notification without texts in languages stays as it is, also if its data has such a key', () => {
  for (const json of [
    '[]',
    '{"id":"1","data":{"n":1.50,"texts":{"de":{"title":"x"}}}}',
    '[{"body":"\\"texts\\":"}]',
  ])
    assert.equal(localize(json, 'de'), json)
})

test('the row has the English text, or the first that was given', () => {
  const rowOf = (...title: [string, string][]) =>
    contentOf({ title: Object.fromEntries(title) }).title
  assert.equal(rowOf(['fr', 'Bonjour'], ['en', 'Hello "you"']), 'Hello \\"you\\"')
  assert.equal(rowOf(['fr', 'Bonjour'], ['de', 'Hallo']), 'Bonjour')
})
