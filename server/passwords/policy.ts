// Is this password acceptable? Length, a block list and known names, and no rule of composition: NIST SP 800-63B-4,
// section 3.1.1.2; and the lists of stolen passwords if the operator turned that check on.
import type { Fault } from '../basics/errors.ts'
import { type BlockList, isListed, loadBlockList, minOwnLength, repeatedPiece } from './block-list.ts'
import { type BreachOptions, isBreached } from './breaches.ts'
import { maxPasswordLength, preparePassword } from './passwords.ts'

/** Code points; stops counting beyond `maxPasswordLength`, so that its cost is bounded. */
export function passwordLength(password: string): number {
  return password.length > 2 * maxPasswordLength ? maxPasswordLength + 1 : [...password].length
}

export type PasswordRules = {
  passwordMinLength: number
  /** Absent if the check is off. */
  breaches?: BreachOptions | undefined
}

/** `username` is prepared; '' for none. `field` is the name of the password in the request. */
type NewPassword = { username: string; password: string; field?: string }

/** At most one fault. The service itself generates a password at its first start, and must not load the block list for it. */
export async function passwordFaults(
  { passwordMinLength: minLength, breaches }: PasswordRules,
  { username, password, field = 'password' }: NewPassword,
): Promise<Fault[]> {
  const blocked = await loadBlockList()
  const prepared = preparePassword(password)
  const fault = policyFault(prepared, { username, minLength, blocked })
  if (fault !== undefined) return [{ field, ...fault }]
  if (breaches === undefined || !(await isBreached(prepared, breaches))) return []
  return [{ field, reason: 'choose another: this one is in a list of stolen passwords', code: 'too_common' }]
}

/** `username` is prepared; `minLength` is in code points. */
type Context = { username: string; minLength: number; blocked: BlockList }

/** `password` is prepared. */
export function policyFault(
  password: string,
  { username, minLength, blocked }: Context,
): Omit<Fault, 'field'> | undefined {
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
