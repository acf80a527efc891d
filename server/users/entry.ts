// One user as an application or a file describes them, checked field by field: every fault is found, not only the first.
import { CarillonError, type Fault, faulting } from '../basics/errors.ts'
import type { TypeOf } from '../http/openapi/schema.ts'
import { readHash } from '../passwords/imported-hash.ts'
import { externalIdFault, type GivenProfile, readProfile } from './profile.ts'
import { prepareUsername } from './username.ts'
import { UserEntry as DescribedEntry } from './users.schemas.ts'

/** A null says that the user has none, as in a response. */
export type UserEntry = Partial<Omit<TypeOf<typeof DescribedEntry>, 'externalId'>> & { externalId?: string | null }

/** `username` is prepared; the profile has the fields that were given. */
export type CheckedEntry = {
  username: string | null
  externalId: string | null
  passwordHash: string | null
  disabled: boolean | undefined
  profile: GivenProfile
}

const { properties: fields = {} } = DescribedEntry

/** A parsed JSON value as an entry, with the fields that have the right type. A fault of the whole value has an empty field. */
export function parseEntry(value: unknown): { entry: UserEntry; faults: Fault[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { entry: {}, faults: [{ field: '', reason: 'must be a JSON object' }] }
  const faults: Fault[] = []
  const sound = Object.entries(value).filter(([field, given]) => {
    const kind = Object.hasOwn(fields, field) ? fields[field]?.type : undefined
    if (kind === undefined) faults.push({ field, reason: 'is not a known field' })
    else if (kind === typeof given || (kind !== 'boolean' && (given === null || typeof given === 'string'))) return true
    else faults.push({ field, reason: kind === 'boolean' ? 'must be true or false' : 'must be a text or null' })
    return false
  })
  return { entry: Object.fromEntries(sound), faults }
}

export function readEntry(entry: UserEntry): { checked: CheckedEntry; faults: Fault[] } {
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
  throw new CarillonError('INVALID_REQUEST', problem.join('; '), { details: faults })
}

const names: Readonly<Record<string, string>> = {
  externalId: 'external id',
  displayName: 'display name',
  email: 'e-mail address',
  passwordHash: 'password hash',
  newPassword: 'password',
}
