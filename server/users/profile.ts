// What a user may say about themselves or an application about its user. Every field is checked, so that every fault is found.
import { type Fault, faulting, invalidRequest } from '../basics/errors.ts'
import { readHash } from '../passwords/imported-hash.ts'
import { prepareUsername } from './username.ts'
import type { Profile } from './users.store.ts'

/** Code points. */
export const maxDisplayNameLength = 200
/** The longest address that can be delivered to (RFC 5321, section 4.5.3.1.3). */
export const maxEmailLength = 254
/** The longest language tags in use have about 35 characters. */
export const maxLocaleLength = 64

/** `emailVerified`: of `email`, or of the address that the user has. */
export type GivenProfile = Omit<Profile, 'emailVerifiedAt'> & { emailVerified?: boolean }

/** With the locale in its canonical form: `de-ch` becomes `de-CH`. A fault leaves its field out. */
export function readProfile(given: GivenProfile): { profile: GivenProfile; faults: Fault[] } {
  const profile: GivenProfile = {}
  const faults: Fault[] = []
  for (const field of ['displayName', 'locale', 'email'] as const) {
    const text = given[field]
    if (text === undefined) continue
    const read = text === null ? null : readers[field](text)
    if (read === null || typeof read === 'string') profile[field] = read
    else faults.push({ field, ...read })
  }
  const { emailVerified, email } = given
  if (emailVerified && email === null)
    faults.push({ field: 'emailVerified', reason: 'must not be true if the e-mail address is removed' })
  else if (emailVerified !== undefined) profile.emailVerified = emailVerified
  return { profile, faults }
}

/** As the store takes it: an address that is verified is verified at this moment. */
export function profileAt<Fields extends GivenProfile>({ emailVerified, ...profile }: Fields, at: number) {
  return { ...profile, ...(emailVerified !== undefined && { emailVerifiedAt: emailVerified ? at : null }) }
}

/** The text as it is stored, or why it cannot be. */
type Read = string | { reason: string }

const readers = { displayName: readDisplayName, locale: readLocale, email: readEmail }

function readDisplayName(name: string): Read {
  if (name === '') return { reason: 'must have at least 1 character, or be null' }
  if ([...name].length > maxDisplayNameLength) return { reason: `must have at most ${maxDisplayNameLength} characters` }
  // Within a function, since the expression takes 10 ms to make. It includes sequences with a joiner, or with tags.
  if (deceptive.test(name) && deceptive.test(name.replace(/\p{RGI_Emoji}/gv, '')))
    return {
      reason: 'must have no control characters, line separators, or characters that are invisible or turn the text',
    }
  if (/^[\p{Z}\p{Default_Ignorable_Code_Point}]+$/u.test(name)) return { reason: 'must have a visible character' }
  return name
}

/**
 * Characters that draw nothing or turn the text: among them U+2800, the Braille pattern without a dot, and U+1D159, a note without a head,
 * which Unicode counts as symbols. Joiners and variation selectors stay: Persian, Hindi and Japanese names have them.
 */
const deceptive =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2800\u{1d159}]|(?![\p{Join_Control}\p{Variation_Selector}])\p{Default_Ignorable_Code_Point}/u

function readLocale(tag: string): Read {
  const reason = 'must be a language tag (BCP 47), such as en or de-CH'
  if (tag.length > maxLocaleLength) return { reason }
  // Languages have two or three letters: no longer name is registered (RFC 5646, section 2.2.1), so `english` is a mistake.
  if (!/^[a-z]{2,3}(?:-|$)/i.test(tag)) return { reason }
  try {
    return Intl.getCanonicalLocales(tag)[0] as string
  } catch {
    return { reason }
  }
}

/** Each text is a string, or an object with one for each language: a fault for each tag that is none, or is not in its canonical form. */
export function languageFaults(texts: Readonly<Record<string, string | object | null | undefined>>): Fault[] {
  return Object.entries(texts).flatMap(([field, text]) => {
    const tags = typeof text === 'string' ? [] : Object.keys(text ?? {}).filter((tag) => readLocale(tag) !== tag)
    return tags.map((tag) => {
      const read = readLocale(tag)
      const reason = typeof read === 'string' ? `must be written as ${read}` : read.reason
      return { field: `${field}.${tag}`, reason }
    })
  })
}

/** A light check: only a message to the address can prove it. */
function readEmail(text: string): Read {
  if (text.length <= maxEmailLength && address.test(text)) return text
  return { reason: 'must be an e-mail address such as ann@example.org, without a name or a comment' }
}

/** No invisible character, and no special one of RFC 5322 (section 3.2.3): quoted names and literals of RFC 5321 are left out. */
const part = String.raw`[^\s@\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}()<>\[\]:;,\\"]+`
const address = new RegExp(`^${part}@${part}$`, 'u')

/** Code points. */
export const maxExternalIdLength = 255

/** Why the text cannot be an external id (RFC 7643, section 3.1). It is compared byte by byte, never folded or normalized. */
export function externalIdFault(id: string): string | undefined {
  if (id === '') return 'must have at least 1 character'
  if (id.length > maxExternalIdLength && [...id].length > maxExternalIdLength)
    return `must have at most ${maxExternalIdLength} characters`
  if (/\p{Cc}/u.test(id)) return 'must have no control characters'
  if (!id.isWellFormed()) return 'must be valid Unicode: it has half of a surrogate pair'
  if (id === '.' || id === '..') return 'must not be "." or "..", because URL parsers remove these from a path'
  return undefined
}

/** A user as an application or a file describes them. A null says that the user has none, as in a response. */
export type UserEntry = GivenProfile & { disabled?: boolean } & Partial<
    Record<'externalId' | 'username' | 'passwordHash', string | null>
  >

/** `checked`: with the prepared username. Its profile has the fields that were given. */
export function readEntry(entry: UserEntry) {
  const { username = null, externalId = null, passwordHash = null, disabled } = entry
  const { profile, faults } = readProfile(entry)
  const reason = externalId === null ? undefined : externalIdFault(externalId)
  if (reason !== undefined) faults.push({ field: 'externalId', reason })
  const prepared = username === null ? null : faulting(faults, () => prepareUsername(username))
  if (passwordHash !== null) faulting(faults, () => readHash(passwordHash))
  return { checked: { username: prepared ?? null, externalId, passwordHash, disabled, profile }, faults }
}

/** Throws INVALID_REQUEST if there are faults. Its message has every one, for the command line. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return
  const problem = faults.map(({ field, reason }) => `The ${names[field] ?? field} is not acceptable: ${reason}`)
  throw invalidRequest(faults, problem.join('; '))
}

const names: Readonly<Record<string, string>> = {
  externalId: 'external id',
  displayName: 'display name',
  email: 'e-mail address',
  passwordHash: 'password hash',
  newPassword: 'password',
}
