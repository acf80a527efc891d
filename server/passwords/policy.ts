// Is a password acceptable? NIST SP 800-63B-4, 3.1.1.2: length, block list, names, no composition.
import { hash } from 'node:crypto'
import { boundedFetch } from '../basics/bounded-fetch.ts'
import { type Fault, unavailable } from '../basics/errors.ts'
import { maxPasswordLength, preparePassword } from './passwords.ts'

export type PasswordRules = {
  passwordMinLength: number
  serviceName?: string | undefined
  breaches?: BreachOptions | undefined
}

export async function passwordFaults(
  { passwordMinLength: minLength, serviceName, breaches }: PasswordRules,
  {
    username,
    password,
    field = 'password',
  }: { username: string; password: string; field?: string },
): Promise<Fault[]> {
  const prepared = preparePassword(password)
  const fault = policyFault(prepared, {
    username,
    serviceName,
    minLength,
    blocked: await loadBlockList(),
  })
  if (fault !== undefined) return [{ field, ...fault }]
  if (breaches === undefined || !(await isBreached(prepared, breaches))) return []
  return [
    {
      field,
      reason: 'choose another: this one is in a list of stolen passwords',
      code: 'too_common',
    },
  ]
}

type PasswordContext = {
  username: string
  serviceName?: string | undefined
  minLength: number
  blocked: BlockList
}

export function policyFault(
  password: string,
  context: PasswordContext,
): Omit<Fault, 'field'> | undefined {
  const { minLength, blocked } = context
  const { length } = [...password]
  if (length < minLength)
    return { reason: `write at least ${minLength} characters`, code: 'too_short' }
  if (length > maxPasswordLength)
    return { reason: `write at most ${maxPasswordLength} characters`, code: 'too_long' }
  if (unusable.test(password))
    return { reason: 'write it without line breaks, control characters and unassigned characters' }
  const folded = fold(password)
  if (isListed(folded, blocked))
    return { reason: 'choose another: this one is a common password', code: 'too_common' }
  if (isMostlyNames(folded, context)) {
    const reason =
      'choose another: this one is little more than the username or a word of this product'
    return { reason, code: 'contains_name' }
  }
  const piece = repeatedPiece(folded)
  if (piece !== folded && ([...piece].length < minLength || isListed(piece, blocked)))
    return { reason: 'choose another: this one repeats the same characters', code: 'too_common' }
  if (isMadeOfEntries(folded, blocked))
    return {
      reason: 'choose another: this one is made of common passwords or sequences',
      code: 'too_common',
    }
  return undefined
}

// RFC 8264, section 9.10. Ignorable code points pass, against 9.13: phones' emoji have them.
const unusable = /[\p{Cc}\p{Cs}\p{Cn}]/u

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** In UTF-16 units, as a test compares. */
export const maxEntryLength = 20

const productWords = ['carillon', 'notifications', 'notification', 'inbox', 'operator']

/** An attacker knows them (ASVS 5.0, 6.2.11). */
function isMostlyNames(
  folded: string,
  { username, serviceName = '', blocked }: PasswordContext,
): boolean {
  const own = wordsOf(fold(username))
  const known = [own.join(''), ...own, ...wordsOf(fold(serviceName)), ...productWords]
  const names = known.filter((name) => name.length >= 3)
  const joined = wordsOf(folded).join('')
  const left = names.reduce((rest, name) => rest.replaceAll(name, ''), joined)
  const { start, end } = lettersIn(left)
  const withoutEnds = left.slice(start, end)
  return left !== joined && ([...withoutEnds].length < minOwnLength || isListed(left, blocked))
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}]/u).filter((word) => word !== '')
}

// @zxcvbn-ts/language-common has 49,000 passwords, most common first. Only 41 have 15 characters,
// so it refuses combinations, too.

export type BlockList = ReadonlyMap<string, number>

let loading: Promise<BlockList> | undefined

/** Takes 30 ms and 20 MB: only a process that sets a password loads it. */
export function loadBlockList(): Promise<BlockList> {
  loading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Map(dictionary['passwords-common'].map((entry, i) => [entry, i + 1])),
  )
  return loading
}

/** NIST allows no shorter password. */
const minOwnLength = 8

/** One entry, perhaps repeated, with digits and punctuation. Long random numbers may have one. */
export function isListed(text: string, blocked: BlockList): boolean {
  const letters = text.replace(/[^\p{L}\p{M}]/gu, '')
  return blocked.has(repeatedPiece(letters)) || isEntryWithAdditions(text, blocked)
}

function isEntryWithAdditions(text: string, blocked: BlockList): boolean {
  const { start, end } = lettersIn(text)
  const hasLetters = start >= 0
  const [maxFrom, minTo] = hasLetters ? [start, end] : [text.length, 0]
  const minLength = hasLetters ? 1 : text.length - minOwnLength + 1
  for (let from = Math.max(0, minTo - maxEntryLength); from <= maxFrom; from++)
    for (
      let to = Math.max(minTo, from + minLength);
      to <= Math.min(text.length, from + maxEntryLength);
      to++
    )
      if (blocked.has(text.slice(from, to))) return true
  return false
}

const forwards =
  'abcdefghijklmnopqrstuvwxyz 01234567890123456789 qwertyuiop asdfghjkl zxcvbnm 1qaz2wsx3edc4rfv5tgb6yhn7ujm ' +
  'qwertzuiop yxcvbnm azertyuiop qsdfghjklm wxcvbn '
const sequences = forwards + [...forwards].reverse().join('')
const minSequenceLength = 4

function bitsOf(piece: string, blocked: BlockList): number | undefined {
  if (piece.length >= minSequenceLength && sequences.includes(piece)) return 3
  const place = blocked.get(piece)
  return place && Math.floor(Math.log2(place))
}

const bitsOfCharacter = 4

/** Two entries, three common ones, or one with a few characters. Four random words are harder. */
function isMadeOfEntries(text: string, blocked: BlockList): boolean {
  const joined = wordsOf(text).join('')
  const bits = [0]
  for (let end = 1; end <= joined.length; end++) {
    const ways = bits.slice(-maxEntryLength).map((before, i, { length }) => {
      const bitsOfPiece = bitsOf(joined.slice(end - length + i, end), blocked)
      return before + (bitsOfPiece ?? (length - i) * bitsOfCharacter)
    })
    bits.push(Math.min(...ways))
  }
  return (bits.at(-1) ?? 0) < Math.min(minOwnLength, joined.length) * bitsOfCharacter
}

function lettersIn(text: string): { start: number; end: number } {
  const [upToLast = ''] = /^.*[\p{L}\p{M}]/su.exec(text) ?? []
  return { start: text.search(/[\p{L}\p{M}]/u), end: upToLast.length }
}

function repeatedPiece(text: string): string {
  const characters = [...text]
  for (let period = 1; period <= (characters.length + 1) / 2; period++)
    if (characters.every((character, i) => i < period || character === characters[i - period]))
      return characters.slice(0, period).join('')
  return text
}

// Have I Been Pwned gets five of the SHA-1's 40 digits, and returns the rest of all such hashes
// (k-anonymity).

const maxSize = 1024 * 1024

export type BreachOptions = { url: string; timeoutMs: number; onFailure: (error: unknown) => void }

/** A user can set a password while that service is away. */
async function isBreached(
  password: string,
  { url, timeoutMs, onFailure }: BreachOptions,
): Promise<boolean> {
  const digest = hash('sha1', password, 'hex').toUpperCase()
  const prefix = digest.slice(0, 5)
  const suffix = digest.slice(5)
  // The answer's length would reveal the prefix.
  const headers = { 'add-padding': 'true', 'user-agent': 'carillon' }
  try {
    const response = await boundedFetch(
      `${url}/${prefix}`,
      { headers },
      { timeoutMs, maxSize, fault: unavailable },
    )
    if (response.status !== 200) throw unavailable(`the answer has the status ${response.status}`)
    // `<35 digits>:<how often>`; a padding row has 0.
    const rows = (await response.text())
      .split('\n')
      .map((line) => line.trim().toUpperCase().split(':'))
    return rows.some(([found, count]) => found === suffix && Number(count) > 0)
  } catch (error) {
    onFailure(error)
    return false
  }
}
