import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../tests/support/any-character.ts'
import { isSoak } from '../../tests/support/soak.ts'
import { CarillonError } from '../basics/errors.ts'
import { findableUsername, maxUsernameLength, prepareUsername } from './username.ts'

function reasonOf(text: string): string {
  try {
    const prepared = prepareUsername(text)
    return assert.fail(`${JSON.stringify(text)} became ${JSON.stringify(prepared)}`)
  } catch (error) {
    assert.ok(error instanceof CarillonError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    assert.equal(error.details?.[0]?.field, 'username')
    return error.details?.[0]?.reason ?? ''
  }
}

const latin = 'aZ0.-_@ÅåßςΣσİıſK'
const otherLetters = 'ÄäÖöééＡａ０ｶﾞカガ한ナд中ДअीQ'
const rightToLeftLetters = 'אבתשׁعربيّ\u{10d00}\u{10d24}\u{10d30}\u{1e900}'
const difficult = fc.array(
  fc.constantFrom(...latin, ...otherLetters, ...rightToLeftLetters, ' ', '\u200d'),
  {
    maxLength: 8,
  },
)
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: 'grapheme' }),
  difficult.map((characters) => characters.join('')),
)

test('A14: a prepared username prepares to itself, prep(prep(x)) = prep(x)', () => {
  const numRuns = isSoak ? 20_000 : 1_000
  let found = 0
  fc.assert(
    fc.property(anyText, (text) => {
      const prepared = findableUsername(text)
      if (prepared === undefined) return
      found++
      assert.equal(prepareUsername(prepared), prepared)
    }),
    { numRuns },
  )
  assert.ok(found > numRuns / 20, `only ${found} names were usable`)
})

test('A14: every code point that Unicode assigns has a stable form or is refused', () => {
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
    const character = String.fromCodePoint(codePoint)
    if (/[\p{Cn}\p{Co}]/u.test(character)) continue
    const prepared = findableUsername(character)
    if (prepared !== undefined)
      assert.equal(prepareUsername(prepared), prepared, codePoint.toString(16))
  }
})

test('A14: one name is one account, whatever its case, width and composition', () => {
  assert.equal(prepareUsername('Ann.Smith@Example'), 'ann.smith@example')
  assert.equal(prepareUsername('ＡＮＮ'), 'ann')
  assert.equal(prepareUsername('ｶﾞ'), 'ガ')
  assert.equal(prepareUsername('A\u030angstro\u0308m'), 'ångström')
  assert.equal(prepareUsername('ÅNGSTRÖM'), 'ångström')
  assert.equal(prepareUsername('Дарья'), 'дарья')
  assert.equal(prepareUsername('中文'), '中文')
})

test('A14: an ASCII name has the same form alone and next to a letter beyond ASCII', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]{1,63}$/), (name) => {
      assert.equal(`${prepareUsername(name)}é`, prepareUsername(`${name}é`))
    }),
  )
})

test('RFC 8265, section 3.5: the examples hold', () => {
  assert.equal(prepareUsername('juliet@example.com'), 'juliet@example.com')
  assert.equal(prepareUsername('fussball'), 'fussball')
  assert.equal(prepareUsername('fu\u00dfball'), 'fu\u00dfball')
  assert.equal(prepareUsername('\u03c0'), 'π')
  assert.equal(prepareUsername('\u03a3'), 'σ')
  assert.equal(prepareUsername('\u03c3'), 'σ')
  assert.equal(prepareUsername('\u03c2'), 'ς')
  assert.match(reasonOf('foo bar'), /spaces/)
  assert.match(reasonOf(''), /one character/)
  assert.match(reasonOf('henry\u2163'), /ordinary character in place of U\+2163/)
  assert.match(reasonOf('\u265a'), /U\+265A: beyond ASCII only letters and digits/)
})

test('refuses invisible, ambiguous and symbol characters, with the code point in the reason', () => {
  const refused: [string, RegExp][] = [
    ['a\u00a0b', /spaces/],
    ['a\u3000b', /spaces/],
    ['a\u2028b', /spaces/],
    ['a\tb', /U\+0009, which cannot be seen/],
    ['a\0b', /U\+0000, which cannot be seen/],
    ['a\u007f', /U\+007F, which cannot be seen/],
    ['a\u200db', /U\+200D, which cannot be seen/],
    ['a\u00adb', /U\+00AD, which cannot be seen/],
    ['a\u202eb', /U\+202E, which cannot be seen/],
    ['a\ufdd0', /U\+FDD0, which cannot be seen or is not assigned/],
    ['a\ud800', /U\+D800/],
    ['l\u00b7l', /without U\+00B7/],
    ['\u0661', /without U\+0661/],
    ['\u1100\u1161', /without U\+1100/],
    ['\u0640', /without U\+0640/],
    ['ﬁ', /ordinary character in place of U\+FB01/],
    ['\u212b', /ordinary character in place of U\+212B/],
    ['x²', /ordinary character in place of U\+00B2/],
    ['€', /U\+20AC: beyond ASCII/],
    ['😀', /U\+1F600: beyond ASCII/],
    ['a<\u0338', /U\+226E: beyond ASCII/],
  ]
  for (const [text, reason] of refused) assert.match(reasonOf(text), reason, JSON.stringify(text))
})

test('RFC 8264, section 9.6: the exceptions that are valid stay valid', () => {
  for (const name of ['\u00df', '\u03c2', '\u06fd', '\u06fe', '\u0f0b', '\u3007'])
    assert.equal(prepareUsername(name), name)
})

test('RFC 5893: a right-to-left name has one direction and ends with a letter or a digit', () => {
  for (const name of ['ישראל', 'שרה123', 'سارة', 'سارة-12', 'שרה\u05b0', '\u{10d00}\u{10d31}']) {
    assert.equal(prepareUsername(name), name.normalize('NFC'))
  }
  assert.match(reasonOf('saraשרה'), /one direction/)
  assert.match(reasonOf('שרהsara'), /one direction/)
  assert.match(reasonOf('1שרה'), /one direction/)
  assert.match(reasonOf('שרהд'), /one direction/)
  assert.match(reasonOf('\u{10d31}a'), /one direction/)
  assert.match(reasonOf('שרה-'), /end it with a letter or a digit/)
  assert.match(reasonOf('\u{10d00}1\u{10d31}'), /digits in one script/)
})

test('counts 1 to 64 code points after preparation', () => {
  assert.equal(prepareUsername('a'.repeat(64)).length, maxUsernameLength)
  assert.match(reasonOf('a'.repeat(65)), /at most 64/)
  assert.equal(prepareUsername('𐐀'.repeat(64)), '𐐨'.repeat(64))
  assert.match(reasonOf('𐐀'.repeat(65)), /at most 64/)
  assert.equal(prepareUsername('o\u0323\u0302'.repeat(64)), 'ộ'.repeat(64))
  assert.match(reasonOf('é'.repeat(1 << 20)), /at most 64/)
})

test('a name that no user can have is not looked up', () => {
  assert.equal(findableUsername('Ann'), 'ann')
  assert.equal(findableUsername('a b'), undefined)
  assert.equal(findableUsername(''), undefined)
  assert.equal(findableUsername('x'.repeat(1 << 20)), undefined)
})
