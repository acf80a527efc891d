// Is this password acceptable? Length, a block list and known names, and no rule of composition: NIST SP 800-63B-4,
// section 3.1.1.2; and the lists of stolen passwords if the operator turned that check on.
import { hash } from 'node:crypto'
import { boundedFetch } from '../basics/bounded-fetch.ts'
import { type Fault, unavailable } from '../basics/errors.ts'
import { maxPasswordLength, preparePassword } from './passwords.ts'

/** `breaches`: absent if the check is off. */
export type PasswordRules = { passwordMinLength: number; breaches?: BreachOptions | undefined }

/** At most one fault, of `field`. `username`: prepared; '' for none. The first start makes its own, and must not load the list. */
export async function passwordFaults(
  { passwordMinLength: minLength, breaches }: PasswordRules,
  { username, password, field = 'password' }: { username: string; password: string; field?: string },
): Promise<Fault[]> {
  const prepared = preparePassword(password)
  const fault = policyFault(prepared, { username, minLength, blocked: await loadBlockList() })
  if (fault !== undefined) return [{ field, ...fault }]
  if (breaches === undefined || !(await isBreached(prepared, breaches))) return []
  return [{ field, reason: 'choose another: this one is in a list of stolen passwords', code: 'too_common' }]
}

/** `password` and `username` are prepared; `minLength` is in code points. */
export function policyFault(
  password: string,
  { username, minLength, blocked }: { username: string; minLength: number; blocked: BlockList },
): Omit<Fault, 'field'> | undefined {
  const { length } = [...password]
  if (length < minLength) return { reason: `write at least ${minLength} characters`, code: 'too_short' }
  if (length > maxPasswordLength) return { reason: `write at most ${maxPasswordLength} characters`, code: 'too_long' }
  if (unusable.test(password))
    return { reason: 'write it without line breaks, control characters and unassigned characters' }
  const folded = fold(password)
  if (isListed(folded, blocked)) return { reason: 'choose another: this one is a common password', code: 'too_common' }
  if (isMostlyNames(folded, username, blocked)) {
    const reason = 'choose another: this one is little more than the username or a word of this product'
    return { reason, code: 'contains_name' }
  }
  const piece = repeatedPiece(folded)
  if (piece !== folded && ([...piece].length < minLength || isListed(piece, blocked)))
    return { reason: 'choose another: this one repeats the same characters', code: 'too_common' }
  return undefined
}

// Control characters, half surrogate pairs and unassigned code points, whose normal form could still change (RFC 8264,
// section 9.10). Ignorable ones pass, against section 9.13: the emoji of a phone's keyboard contain them.
const unusable = /[\p{Cc}\p{Cs}\p{Cn}]/u

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

const productWords = ['carillon', 'notifications', 'notification', 'inbox', 'operator']

/** The words of the product and the user's own name, which an attacker knows (ASVS 5.0, 6.2.11), with little beside them. */
function isMostlyNames(folded: string, username: string, blocked: BlockList): boolean {
  const own = wordsOf(fold(username))
  const names = [own.join(''), ...own, ...productWords].filter((name) => name.length >= 3)
  const joined = wordsOf(folded).join('')
  const left = names.reduce((rest, name) => rest.replaceAll(name, ''), joined)
  const { start, end } = lettersIn(left)
  const withoutEnds = left.slice(start, end)
  return left !== joined && ([...withoutEnds].length < minOwnLength || isListed(left, blocked))
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}]/u).filter((word) => word !== '')
}

// Is it little more than a common one? @zxcvbn-ts/language-common lists 49,000 of them in lower case.

export type BlockList = ReadonlySet<string>

let loading: Promise<BlockList> | undefined

/** Takes 30 ms and 20 MB once, so only a process that sets a password loads it. */
export function loadBlockList(): Promise<BlockList> {
  loading ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => new Set(dictionary['passwords-common']))
  return loading
}

/** UTF-16 units of the longest entry; a test compares. */
export const maxEntryLength = 20

/** What has to be left of a password without its known words; NIST's shortest password. */
const minOwnLength = 8

/**
 * Whether `text`, in lower case, is one entry, or one entry repeated, with only digits and punctuation added. An entry
 * without letters counts if fewer than `minOwnLength` characters are added: a long random number may contain one.
 */
export function isListed(text: string, blocked: BlockList): boolean {
  const letters = text.replace(/[^\p{L}\p{M}]/gu, '')
  return blocked.has(repeatedPiece(letters)) || isEntryWithAdditions(text, blocked)
}

/** Tries every part of the text that contains all of its letters. */
function isEntryWithAdditions(text: string, blocked: BlockList): boolean {
  const { start, end } = lettersIn(text)
  const hasLetters = start >= 0
  const [maxFrom, minTo] = hasLetters ? [start, end] : [text.length, 0]
  const minLength = hasLetters ? 1 : text.length - minOwnLength + 1
  for (let from = Math.max(0, minTo - maxEntryLength); from <= maxFrom; from++)
    for (let to = Math.max(minTo, from + minLength); to <= Math.min(text.length, from + maxEntryLength); to++)
      if (blocked.has(text.slice(from, to))) return true
  return false
}

/** Where the letters of a text begin and end; -1 and 0 if it has none. */
function lettersIn(text: string): { start: number; end: number } {
  const [upToLast = ''] = /^.*[\p{L}\p{M}]/su.exec(text) ?? []
  return { start: text.search(/[\p{L}\p{M}]/u), end: upToLast.length }
}

/** The shortest piece whose repetition is the text; the last time it may lack its last character, such as a separator. */
function repeatedPiece(text: string): string {
  const characters = [...text]
  for (let period = 1; period <= (characters.length + 1) / 2; period++)
    if (characters.every((character, i) => i < period || character === characters[i - period]))
      return characters.slice(0, period).join('')
  return text
}

// Is it in a list of stolen ones? Asks a service with the range interface of Have I Been Pwned: it receives the first five of the 40 digits
// of the SHA-1 hash, and returns the other 35 of all hashes that begin with them, so that it does not learn the password (k-anonymity).
// SHA-1 is that interface's choice, and protects nothing here.

/** The real answers have about 40 KiB. */
const maxSize = 1024 * 1024

/** The five digits are appended to `url`, which has no slash at its end. `onFailure`: called if the request to the service failed. */
export type BreachOptions = { url: string; timeoutMs: number; onFailure: (error: unknown) => void }

/** False if the service cannot be reached in time: a user can set a new password while another service is down. */
async function isBreached(password: string, { url, timeoutMs, onFailure }: BreachOptions): Promise<boolean> {
  const digest = hash('sha1', password, 'hex').toUpperCase()
  const prefix = digest.slice(0, 5)
  const suffix = digest.slice(5)
  // Rows without a meaning are added, so that the length of the answer does not reveal the prefix.
  const headers = { 'add-padding': 'true', 'user-agent': 'carillon' }
  try {
    const response = await boundedFetch(`${url}/${prefix}`, { headers }, { timeoutMs, maxSize, fault: unavailable })
    if (response.status !== 200) throw unavailable(`the answer has the status ${response.status}`)
    // A line is `<35 digits>:<how often>`; a padding row has 0.
    const rows = (await response.text()).split('\n').map((line) => line.trim().toUpperCase().split(':'))
    return rows.some(([found, count]) => found === suffix && Number(count) > 0)
  } catch (error) {
    onFailure(error)
    return false
  }
}
