// Prepares a username by RFC 8265, section 3.3, so that two spellings are never two accounts.
import { CarillonError, invalidField } from '../basics/errors.ts'

/** Code points. */
export const maxUsernameLength = 64

/** For these names the rules only convert to lower case. */
const plainName = /^[!-~]{1,64}$/

/**
 * RFC 8265, section 3.3.3. Idempotent (RFC 8264, section 7), since contextual code points are
 * refused. Throws INVALID_REQUEST.
 */
export function prepareUsername(text: string): string {
  if (plainName.test(text)) return text.toLowerCase()
  if (text === '') refuse('write at least one character')
  // NFC joins at most four code units into one.
  if (text.length > 4 * maxUsernameLength) refuse(tooLong)
  const narrowed = text.replace(
    otherWidths,
    (character) => ordinaryWidths.get(character) ?? character,
  )
  const lowerCase = narrowed.toLowerCase()
  if (manyMarks.test(lowerCase)) refuse('write at most 30 marks on one letter')
  const prepared = lowerCase.normalize('NFC')
  if ([...prepared].length > maxUsernameLength) refuse(tooLong)
  refuseOutsideClass(narrowed)
  // NFC joins `<` and U+0338.
  refuseOutsideClass(prepared)
  if (rightToLeft.test(prepared)) refuseMixedDirection(prepared)
  return prepared
}

/** Use it to find a user, never to add one. */
export function findableUsername(text: string): string | undefined {
  try {
    return prepareUsername(text)
  } catch (error) {
    if (error instanceof CarillonError) return undefined
    throw error
  }
}

const tooLong = `write at most ${maxUsernameLength} characters`

/** Unicode decomposes these as <wide> or <narrow>. */
const otherWidths = /[\u3000\uff01-\uffee]/g
const ordinaryWidths = new Map(
  Array.from({ length: 0xee }, (_, n) => String.fromCharCode(0xff01 + n)).map((wide) => [
    wide,
    wide.normalize('NFKC'),
  ]),
)
/** UAX #15, section 13: sorting n marks takes time n². */
const manyMarks = /\p{M}{31}/u

// IdentifierClass, RFC 8264, sections 4.2, 8 and 9.

/** Valid exceptions (9.6). */
const validExceptions = /[\u00df\u03c2\u06fd\u06fe\u0f0b\u3007]/
/** Also refuses code points that depend on neighbours (CONTEXTO). */
const refusedExceptions =
  /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b\u00b7\u0375\u05f3\u05f4\u30fb\u0660-\u0669\u06f0-\u06f9]/
/** 9.9: composed syllables replace conjoining jamo. */
const oldHangulJamo = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb]/
const space = /\p{Z}/u
/** 9.12, 9.13 (with the joiners of 9.8) and 9.10 refuse these; half surrogate pairs are invalid. */
const invisible = /[\p{Cc}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/u
const letterOrDigit = /[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]/u

/** Folding changes about 1,700 accepted characters. */
const accepted = new Set<string>()

/** It takes milliseconds, so the first use makes it. */
let suspects: RegExp | undefined

function refuseOutsideClass(text: string): void {
  const letters = String.raw`[^!-~\p{Ll}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]|\p{Changes_When_NFKC_Casefolded}`
  suspects ??= new RegExp(`${letters}|${refusedExceptions.source}|${oldHangulJamo.source}`, 'gu')
  for (const character of text.match(suspects) ?? []) refuseCharacter(character)
}

function refuseCharacter(character: string): void {
  if (accepted.has(character) || validExceptions.test(character)) return
  const name = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  if (space.test(character)) refuse('write it without spaces')
  if (invisible.test(character))
    refuse(`write it without ${name}, which cannot be seen or is not assigned`)
  if (refusedExceptions.test(character) || oldHangulJamo.test(character))
    refuse(`write it without ${name}`)
  if (character.normalize('NFKC') !== character)
    refuse(`write the ordinary character in place of ${name}`)
  if (!letterOrDigit.test(character))
    refuse(`write it without ${name}: beyond ASCII only letters and digits are allowed`)
  accepted.add(character)
}

// The Bidi Rule, RFC 5893, section 2. The code names blocks (DerivedBidiClass.txt), not classes.

/** NSM without the five of class L */
const nonspacing = String.raw`(?:(?![\u0cbf\u0cc6\u{11a07}\u{11a08}\u{11c3f}])\p{Mn})`
/** AN; Arabic-Indic digits are refused. */
const arabicNumber = String.raw`[\u{10d30}-\u{10d39}]`
const blocks = String.raw`\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}`
const letter = String.raw`(?!\p{Mn}|${arabicNumber})[${blocks}]`

const rightToLeft = new RegExp(`${letter}|${arabicNumber}`, 'u')
/** EN, ES, CS, ET and ON: ASCII without its letters */
const neutral = String.raw`[^A-Za-z\u0080-\u{10ffff}]`
const inOneDirection = new RegExp(
  `^${letter}(?:${letter}|${arabicNumber}|${nonspacing}|${neutral})*$`,
  'u',
)
const endsWell = new RegExp(`(?:${letter}|${arabicNumber}|[0-9])${nonspacing}*$`, 'u')
const digitsOfTwoKinds = new RegExp(`^(?=.*[0-9]).*${arabicNumber}`, 'u')

function refuseMixedDirection(name: string): void {
  if (!inOneDirection.test(name))
    refuse(
      'write it in one direction: begin with a right-to-left letter and use no left-to-right letters',
    )
  if (!endsWell.test(name))
    refuse('end it with a letter or a digit, because it is written from right to left')
  if (digitsOfTwoKinds.test(name)) refuse('write its digits in one script')
}

function refuse(reason: string): never {
  throw invalidField('username', reason, `The username is not acceptable: ${reason}`)
}
