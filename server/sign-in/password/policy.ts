// May this be somebody's password? Length, a block list and patterns, and no rule of composition: NIST SP 800-63B-4,
// section 3.1.1.2. Also the one form in which a password is hashed and compared: RFC 8265, section 4 (OpaqueString).

import { readFileSync } from 'node:fs'
import { CarillonError } from '../../errors.ts'

/** Code points. What is longer is refused before it is hashed, never cut short. */
export const maxPasswordLength = 256

/** UTF-16 units. NFC makes one code point of at most four, of two units each: what is longer stays too long. */
const maxInput = maxPasswordLength * 4 * 2

/**
 * The form that is hashed, at sign-up and at sign-in alike: every space is U+0020, then NFC. Refuses nothing, so that a
 * wrong password is only ever wrong; doing it twice changes nothing. A text that stays too long whatever is done to it
 * is given back as it is, so that nobody makes us work on a megabyte.
 */
export function preparePassword(text: string): string {
  return text.length > maxInput ? text : text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
}

/** Code points; stops counting beyond `maxPasswordLength`, so that its cost is bounded. */
export function passwordLength(password: string): number {
  return password.length > 2 * maxPasswordLength ? maxPasswordLength + 1 : [...password].length
}

/**
 * Throws `INVALID_REQUEST` with the field `password` and the reason when nobody should have this password. `password`
 * and `username` are prepared; `minLength` is in code points.
 */
export function checkPassword(
  password: string,
  { username, minLength }: { username: string; minLength: number },
): void {
  const length = passwordLength(password)
  if (length < minLength) refuse(`write at least ${minLength} characters`)
  if (length > maxPasswordLength) refuse(`write at most ${maxPasswordLength} characters`)
  if (unusable.test(password)) refuse('write it without line breaks, controls and characters that do not exist')
  if (isListed(password)) refuse('choose another: this one is among the first that are tried')
  if (isMostlyNames(password, username)) refuse('choose another: this one is little more than a name known to all')
  if (isRepeated(password, minLength)) refuse('choose another: this one says the same thing again and again')
  if (isPredictable(password)) refuse('choose another: this one follows a pattern, such as neighbouring keys')
}

/**
 * Controls, half surrogate pairs and unassigned code points, whose normal form could still change (RFC 8264, section
 * 9.10). Ignorable ones pass, against section 9.13: the emoji of a phone's keyboard contain them.
 */
const unusable = /[\p{Cc}\p{Cs}\p{Cn}]/u

function refuse(reason: string): never {
  throw new CarillonError('INVALID_REQUEST', `The password does not fit: ${reason}`, {
    details: [{ field: 'password', reason }],
  })
}

// The block list.

/** `longest` in UTF-16 units. */
type BlockList = { entries: ReadonlySet<string>; withDigits: readonly string[]; longest: number }

let loaded: BlockList | undefined

/** Read when the first password is chosen: a sign-in never needs it. */
function blockList(): BlockList {
  loaded ??= readBlockList()
  return loaded
}

function readBlockList(): BlockList {
  const lines = readFileSync(new URL('./blocked-passwords.txt', import.meta.url), 'utf8').split('\n')
  const entries = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const withDigits = entries.filter((entry) => /\d/.test(entry))
  return { entries: new Set(entries), withDigits, longest: Math.max(...entries.map((entry) => entry.length)) }
}

/**
 * Nothing but one or two entries of the list, whatever the case, the digits and punctuation around, between or in
 * place of letters: `Password!2345678`, `qwerty-letmein-1`, `P4ssw0rdP4ssw0rd`. An entry with digits also counts with
 * a few characters beside it.
 */
function isListed(password: string): boolean {
  const folded = fold(password)
  if (leavesLittle(folded, blockList().withDigits)) return true
  return [folded, ...cores(folded).map(unleet)].some((text) => isOneOrTwoEntries(lettersOf(text)))
}

function isOneOrTwoEntries(text: string): boolean {
  const { entries, longest } = blockList()
  if (entries.has(text) || text.length > 2 * longest) return entries.has(text)
  for (let cut = 1; cut < text.length; cut++) {
    if (entries.has(text.slice(0, cut)) && entries.has(text.slice(cut))) return true
  }
  return false
}

/** The text from its first to its last letter, and with up to four signs more on each side: they may be look-alikes. */
function cores(text: string): string[] {
  const first = text.search(/[\p{L}\p{M}]/u)
  if (first < 0) return []
  const last = first + trimmed(text).length
  const reach = [0, 1, 2, 3, 4]
  const all = reach.flatMap((before) => reach.map((after) => text.slice(Math.max(0, first - before), last + after)))
  return [...new Set(all)]
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Without the digits, punctuation and spaces at either end. */
function trimmed(text: string): string {
  return text.replace(/^[^\p{L}\p{M}]+|[^\p{L}\p{M}]+$/gu, '')
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{M}]/gu, '')
}

const letterBehind: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
}

function unleet(text: string): string {
  return text.replace(/[013457@$]/g, (sign) => letterBehind[sign] ?? sign)
}

// Names that an attacker knows: the product's words and the user's own (ASVS 5.0, 6.2.11).

const productWords = ['carillon', 'notifications', 'notification', 'inbox', 'operator']

/** What has to be left once the known names are taken away; NIST's shortest password. */
const fewestOwn = 8

function isMostlyNames(password: string, username: string): boolean {
  const joined = wordsOf(fold(password)).join('')
  const own = wordsOf(fold(username))
  const names = [own.join(''), ...own, ...productWords].filter((name) => name.length >= 3)
  return [joined, ...cores(joined).map(unleet)].some((text) => leavesLittle(text, names))
}

function leavesLittle(text: string, known: readonly string[]): boolean {
  const left = known.reduce((rest, name) => rest.replaceAll(name, ''), text)
  return left !== text && ([...trimmed(left)].length < fewestOwn || isListed(left))
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}@$]+/u).filter((word) => word !== '')
}

// Patterns.

/** A piece that repeats to the end (the last time perhaps cut short) and would be too short by itself. */
function isRepeated(password: string, minLength: number): boolean {
  const characters = [...fold(password)]
  const period = periodOf(characters)
  return period <= characters.length / 2 && period < minLength
}

/** The smallest p with c[i] = c[i + p] for every i; the failure function of Knuth, Morris and Pratt. */
function periodOf(characters: readonly string[]): number {
  const border = [0]
  for (let i = 1; i < characters.length; i++) {
    let length = border[i - 1] ?? 0
    while (length > 0 && characters[i] !== characters[length]) length = border[length - 1] ?? 0
    border.push(characters[i] === characters[length] ? length + 1 : 0)
  }
  return characters.length - (border.at(-1) ?? 0)
}

/** Ways that fingers walk: alphabet, digits, the rows and slants of QWERTY, QWERTZ and AZERTY. */
const walks = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl;',
  'zxcvbnm,./',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  '!@#$%^&*()',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1s2d3f4g5h6j7k8l9',
  'a1b2c3d4e5f6g7h8i9',
  'zaqxswcdevfrbgtnhymju',
]
const neighbours = new Set(walks.flatMap((walk) => pairsOf(walk)))

function pairsOf(walk: string): string[] {
  return [...walk].slice(1).flatMap((next, i) => [`${walk[i]}${next}`, `${next}${walk[i]}`])
}

/**
 * Fewer than eight characters that have to be guessed, or fewer than five different ones. A character need not be
 * guessed where it walks on from the two before it (`abc`, `cba`, `aaa`, `qwe`).
 */
function isPredictable(password: string): boolean {
  const characters = [...fold(password)]
  const walksOn = characters.map(
    (next, i) => i > 0 && (characters[i - 1] === next || neighbours.has(`${characters[i - 1]}${next}`)),
  )
  const guessed = walksOn.filter((here, i) => !(here && walksOn[i - 1])).length
  return guessed < fewestOwn || new Set(characters).size < 5
}
