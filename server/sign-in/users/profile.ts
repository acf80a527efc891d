// What a user may say about themselves or an application about its user: display name, locale, e-mail address.
import type { Fault } from '../../errors.ts'
import type { Profile } from '../../store/store.ts'

/** Code points. */
export const maxDisplayNameLength = 200
/** The longest address that can be delivered to (RFC 5321, section 4.5.3.1.3). */
export const maxEmailLength = 254
/** The longest language tags in use have about 35 characters. */
export const maxLocaleLength = 64

/** With the locale in its canonical form: `de-ch` becomes `de-CH`. A fault leaves its field out. */
export function readProfile(given: Profile): { profile: Profile; faults: Fault[] } {
  const profile: Profile = {}
  const faults: Fault[] = []
  for (const field of ['displayName', 'locale', 'email'] as const) {
    const text = given[field]
    if (text === undefined) continue
    const read = text === null ? { value: null } : readers[field](text)
    if ('value' in read) profile[field] = read.value
    else faults.push({ field, reason: read.reason })
  }
  return { profile, faults }
}

type Read = { value: string } | { reason: string }

const readers: Readonly<Record<keyof Profile, (text: string) => Read>> = {
  displayName: readDisplayName,
  locale: readLocale,
  email: readEmail,
}

function readDisplayName(name: string): Read {
  if (name === '') return { reason: 'must have at least 1 character, or be null' }
  if ([...name].length > maxDisplayNameLength) return { reason: `must have at most ${maxDisplayNameLength} characters` }
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return { reason: 'must have no control characters' }
  return { value: name }
}

function readLocale(tag: string): Read {
  const reason = 'must be a language tag (BCP 47), such as en or de-CH'
  if (tag.length > maxLocaleLength) return { reason }
  try {
    return { value: Intl.getCanonicalLocales(tag)[0] as string }
  } catch {
    return { reason }
  }
}

/** A light check: only a message to the address can prove it. */
function readEmail(text: string): Read {
  const isAddress = text.length <= maxEmailLength && /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(text)
  return isAddress ? { value: text } : { reason: 'must be an e-mail address' }
}
