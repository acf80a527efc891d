// Is this password acceptable? Length, a block list and known names, and no rule of composition: NIST SP 800-63B-4,
// section 3.1.1.2. Also the one form in which a password is hashed and compared: RFC 8265, section 4 (OpaqueString).
import { CarillonError, type PasswordFault } from '../basics/errors.ts'
import { type BlockList, isListed, minOwnLength, repeatedPiece } from './block-list.ts'

/** Code points. A longer password is refused before it is hashed, never truncated. */
export const maxPasswordLength = 256

/** UTF-16 units. NFC makes one code point of at most four, of two units each: a longer text stays too long. */
const maxInput = maxPasswordLength * 4 * 2

/**
 * The form that is hashed, also at sign-in; twice changes nothing. Refuses nothing, so that a wrong password is only
 * ever wrong. Returns a text too long in any form unchanged, so that no client makes the service work on a megabyte.
 */
export function preparePassword(text: string): string {
  return text.length > maxInput ? text : text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
}

/** Code points; stops counting beyond `maxPasswordLength`, so that its cost is bounded. */
export function passwordLength(password: string): number {
  return password.length > 2 * maxPasswordLength ? maxPasswordLength + 1 : [...password].length
}

/** `username` is prepared; `minLength` is in code points; `field` is the name of the password in the request. */
type Context = { username: string; minLength: number; blocked: BlockList; field?: string | undefined }

/** Throws INVALID_REQUEST with the field, the reason and its code. `password` is prepared. */
export function checkPassword(password: string, { field = 'password', ...context }: Context): void {
  const fault = faultOf(password, context)
  if (fault === undefined) return
  const details = [{ field, ...fault }]
  throw new CarillonError('INVALID_REQUEST', `The password is not acceptable: ${fault.reason}`, { details })
}

type PolicyFault = { reason: string; code?: PasswordFault }

function faultOf(password: string, { username, minLength, blocked }: Omit<Context, 'field'>): PolicyFault | undefined {
  const length = passwordLength(password)
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
  const withoutEnds = left.replace(/^[^\p{L}\p{M}]+|[^\p{L}\p{M}]+$/gu, '')
  return left !== joined && ([...withoutEnds].length < minOwnLength || isListed(left, blocked))
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '')
}
