// Checks every field of a profile, to find every fault.
import { type Fault, faulting, invalidRequest } from '../basics/errors.ts'
import { isTimeZone, timeZoneFault } from '../inbox/mail-rules.ts'
import { readHash } from '../passwords/imported-hash.ts'
import { prepareUsername } from './username.ts'
import type { Profile } from './users.store.ts'

/** Code points. */
export const maxDisplayNameLength = 200
/** RFC 5321, section 4.5.3.1.3. */
export const maxEmailLength = 254
/** Tags in use have about 35 characters. */
export const maxLocaleLength = 64

/** `emailVerified`: of `email`, or of the user's present address. `timeZone`: null for UTC. */
export type GivenProfile = Omit<Profile, 'emailVerifiedAt'> & {
  emailVerified?: boolean
  timeZone?: string | null
}

/** `de-ch` becomes `de-CH`. Leaves faulty fields out. */
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
  const { emailVerified, email, timeZone } = given
  if (timeZone != null && !isTimeZone(timeZone))
    faults.push({ field: 'timeZone', reason: timeZoneFault })
  else if (timeZone !== undefined) profile.timeZone = timeZone
  if (emailVerified && email === null)
    faults.push({
      field: 'emailVerified',
      reason: 'must not be true if the e-mail address is removed',
    })
  else if (emailVerified !== undefined) profile.emailVerified = emailVerified
  return { profile, faults }
}

export function profileAt<Fields extends GivenProfile>(
  { emailVerified, ...profile }: Fields,
  at: number,
) {
  return {
    ...profile,
    ...(emailVerified !== undefined && { emailVerifiedAt: emailVerified ? at : null }),
  }
}

type Read = string | { reason: string }

const readers = { displayName: readDisplayName, locale: readLocale, email: readEmail }

function readDisplayName(name: string): Read {
  if (name === '') return { reason: 'must have at least 1 character, or be null' }
  if ([...name].length > maxDisplayNameLength)
    return { reason: `must have at most ${maxDisplayNameLength} characters` }
  // This expression takes 10 ms to make.
  if (deceptive.test(name) && deceptive.test(name.replace(/\p{RGI_Emoji}/gv, '')))
    return {
      reason:
        'must have no control characters, line separators, or characters that are invisible or turn the text',
    }
  if (/^[\p{Z}\p{Default_Ignorable_Code_Point}]+$/u.test(name))
    return { reason: 'must have a visible character' }
  return name
}

/** These draw nothing or turn text. Persian, Hindi and Japanese names need joiners: they stay. */
const deceptive =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2800\u{1d159}]|(?![\p{Join_Control}\p{Variation_Selector}])\p{Default_Ignorable_Code_Point}/u

function readLocale(tag: string): Read {
  const reason = 'must be a language tag (BCP 47), such as en or de-CH'
  if (tag.length > maxLocaleLength) return { reason }
  // RFC 5646, section 2.2.1: `english` is a mistake.
  if (!/^[a-z]{2,3}(?:-|$)/i.test(tag)) return { reason }
  try {
    return Intl.getCanonicalLocales(tag)[0] as string
  } catch {
    return { reason }
  }
}

export function languageFaults(
  texts: Readonly<Record<string, string | object | null | undefined>>,
): Fault[] {
  return Object.entries(texts).flatMap(([field, text]) => {
    const tags =
      typeof text === 'string'
        ? []
        : Object.keys(text ?? {}).filter((tag) => readLocale(tag) !== tag)
    return tags.map((tag) => {
      const read = readLocale(tag)
      const reason = typeof read === 'string' ? `must be written as ${read}` : read.reason
      return { field: `${field}.${tag}`, reason }
    })
  })
}

function readEmail(text: string): Read {
  if (text.length <= maxEmailLength && address.test(text)) return text
  return {
    reason: 'must be an e-mail address such as ann@example.org, without a name or a comment',
  }
}

/** RFC 5322, section 3.2.3, without quoted names and literals. */
const part = String.raw`[^\s@\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}()<>\[\]:;,\\"]+`
const address = new RegExp(`^${part}@${part}$`, 'u')

/** Code points. */
export const maxExternalIdLength = 255

/** RFC 7643, section 3.1. Compared byte by byte, without normalization. */
export function externalIdFault(id: string): string | undefined {
  if (id === '') return 'must have at least 1 character'
  if (id.length > maxExternalIdLength && [...id].length > maxExternalIdLength)
    return `must have at most ${maxExternalIdLength} characters`
  if (/\p{Cc}/u.test(id)) return 'must have no control characters'
  if (!id.isWellFormed()) return 'must be valid Unicode: it has half of a surrogate pair'
  if (id === '.' || id === '..')
    return 'must not be "." or "..", because URL parsers remove these from a path'
  return undefined
}

export type UserEntry = GivenProfile & { disabled?: boolean } & Partial<
    Record<'externalId' | 'username' | 'passwordHash', string | null>
  >

export function readEntry(entry: UserEntry) {
  const { username = null, externalId = null, passwordHash = null, disabled } = entry
  const { profile, faults } = readProfile(entry)
  const reason = externalId === null ? undefined : externalIdFault(externalId)
  if (reason !== undefined) faults.push({ field: 'externalId', reason })
  const prepared = username === null ? null : faulting(faults, () => prepareUsername(username))
  if (passwordHash !== null) faulting(faults, () => readHash(passwordHash))
  return {
    checked: { username: prepared ?? null, externalId, passwordHash, disabled, profile },
    faults,
  }
}

/** The command line prints the message, so it names every fault. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return
  const problem = faults.map(
    ({ field, reason }) => `The ${names[field] ?? field} is not acceptable: ${reason}`,
  )
  throw invalidRequest(faults, problem.join('; '))
}

const names: Readonly<Record<string, string>> = {
  externalId: 'external id',
  displayName: 'display name',
  email: 'e-mail address',
  timeZone: 'time zone',
  passwordHash: 'password hash',
  newPassword: 'password',
}
