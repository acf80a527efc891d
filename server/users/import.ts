// Creates or changes many users. Checks all before it stores any: one fault stops all.
import { record } from '../audit/audit.store.ts'
import { auditEntry, recorded, serviceSource } from '../audit/entry.ts'
import type { Fault } from '../basics/errors.ts'
import { mapInTurns } from '../basics/event-loop.ts'
import { newId } from '../basics/ids.ts'
import { isObject } from '../basics/strict-json.ts'
import { setDisabled, storePassword } from './access/access.ts'
import { isInReach, lookUp, refuseOperators, type UserDependencies } from './find-user.ts'
import { profileAt, readEntry, refuseFaults, type UserEntry } from './profile.ts'
import { type PutUser, putUsers } from './put-users.store.ts'
import { UserEntry as DescribedEntry } from './users.schemas.ts'
import type { User } from './users.store.ts'
import * as stored from './users.store.ts'
import { recordedChange, storeChange, storeUser } from './users.ts'

/** `position`: from 0. `sameAs`: the earlier entry of that name. */
export type EntryFault = Fault & { position: number; isTaken?: true; sameAs?: number }

const atOnce = 32
const putAtOnce = 1_000

/**
 * An absent field stays; a hash is only for users without a password. Throws CONFLICT if a name is
 * taken after the check: a repetition does the rest. `report` gets the stored entries.
 */
export async function importUsers(
  dependencies: UserDependencies,
  values: readonly unknown[],
  {
    needsExternalId = false,
    report,
  }: { needsExternalId?: boolean; report?: (done: number) => void } = {},
): Promise<{ faults: EntryFault[] } | { imported: PutUser[] }> {
  const read = await mapInTurns(values, (value) => readValue(value, needsExternalId))
  const checked = read.map((one) => one.checked)
  const isPlain = checked.every(
    (one) => one.username === null && one.externalId !== null && one.disabled === undefined,
  )
  const existing = isPlain
    ? undefined
    : await inParallel(read, (one) => existingOf(dependencies, one))
  const faults: EntryFault[] = [
    ...read.flatMap(({ faults: found }, position) =>
      found.map((fault) => ({ position, ...fault })),
    ),
    ...repetitions(checked),
    ...(existing ?? []).flatMap(({ isTaken }, position) =>
      isTaken ? [{ position, field: 'username', reason: 'is taken', isTaken }] : [],
    ),
  ]
  if (faults.length > 0) return { faults: faults.toSorted((a, b) => a.position - b.position) }
  await refuseOperators(dependencies, checked)
  let done = 0
  const store = async (entry: CheckedEntry, position: number) => {
    const one = await storeEntry(dependencies, entry, existing?.[position]?.user)
    report?.(++done)
    return one
  }
  const imported = await (existing
    ? inParallel(checked, store)
    : putProfiles(dependencies, checked, report))
  const created = imported.filter((one) => one.created).length
  const detail = { created, updated: imported.length - created }
  await dependencies.store.write(
    record,
    recorded(dependencies, { event: 'users-imported', detail }).audit,
  )
  return { imported }
}

type ReadEntry = ReturnType<typeof readEntry>
type CheckedEntry = ReadEntry['checked']

function readValue(value: unknown, needsExternalId: boolean): ReadEntry {
  const { entry, faults: ofTypes } = parseEntry(value)
  const { checked, faults } = readEntry(entry)
  const isWhole = ofTypes.length === 0
  const { username = null, externalId = null, passwordHash = null } = entry
  if (isWhole && externalId === null && needsExternalId)
    faults.push({ field: 'externalId', reason: 'is missing' })
  else if (isWhole && externalId === null && username === null)
    faults.push({
      field: 'externalId',
      reason: 'is missing: a user needs an external id or a username',
    })
  if (isWhole && username === null && passwordHash !== null)
    faults.push({ field: 'username', reason: 'is missing: a user with a password signs in by it' })
  return { checked, faults: [...ofTypes, ...faults] }
}

const { properties: fields = {} } = DescribedEntry

function parseEntry(value: unknown): { entry: UserEntry; faults: Fault[] } {
  if (!isObject(value))
    return { entry: {}, faults: [{ field: '', reason: 'must be a JSON object' }] }
  const faults: Fault[] = []
  const sound = Object.entries(value).filter(([field, given]) => {
    const kind = Object.hasOwn(fields, field) ? fields[field]?.type : undefined
    if (kind === undefined) faults.push({ field, reason: 'is not a known field' })
    else if (
      kind === typeof given ||
      (kind !== 'boolean' && (given === null || typeof given === 'string'))
    )
      return true
    else
      faults.push({
        field,
        reason: kind === 'boolean' ? 'must be true or false' : 'must be a text or null',
      })
    return false
  })
  return { entry: Object.fromEntries(sound), faults }
}

function repetitions(entries: readonly CheckedEntry[]): EntryFault[] {
  return (['externalId', 'username'] as const).flatMap((field) => {
    const first = new Map<string, number>()
    return entries.flatMap((entry, position) => {
      const value = entry[field]
      if (value === null) return []
      const earlier = first.get(value)
      if (earlier === undefined) first.set(value, position)
      return earlier === undefined
        ? []
        : [{ position, field, reason: 'is named twice', sameAs: earlier }]
    })
  })
}

export async function putUser(dependencies: UserDependencies, entry: UserEntry): Promise<PutUser> {
  const { checked, faults } = readEntry(entry)
  refuseFaults(faults)
  await refuseOperators(dependencies, [checked])
  const [put] = await putProfiles(dependencies, [checked])
  return put as PutUser
}

async function putProfiles(
  dependencies: UserDependencies,
  entries: readonly CheckedEntry[],
  report?: (done: number) => void,
): Promise<PutUser[]> {
  const { store, now, application } = dependencies
  const erased = await dependencies.erased()
  const imported: PutUser[] = []
  for (let from = 0; from < entries.length; from += putAtOnce) {
    const at = now()
    const batch = entries.slice(from, from + putAtOnce)
    const users = await inParallel(batch, (entry) => newUserOf(dependencies, entry, at))
    imported.push(...(await store.write(putUsers, { application, at, users, erased })))
    report?.(imported.length)
  }
  return imported
}

/** `putUsers` makes the entry a change, for the notice of a new address. */
async function newUserOf(
  dependencies: UserDependencies,
  { externalId: id, profile }: CheckedEntry,
  at: number,
) {
  const { source = serviceSource } = dependencies
  const externalId = id ?? ''
  const before =
    profile.email === undefined ? undefined : await lookUp(dependencies, { externalId })
  const [change] =
    (before && recordedChange(dependencies, { user: before, fields: profile }).audit) ?? []
  const { detail = null, formerEmail = null } = change ?? {}
  const userId = newId(at)
  const entry = {
    ...auditEntry(source, { event: 'user-created', at, userId, detail }),
    formerEmail,
  }
  return { newId: userId, externalId, ...profileAt(profile, at), entry }
}

async function existingOf(dependencies: UserDependencies, { checked, faults }: ReadEntry) {
  if (faults.length > 0) return {}
  const { username, externalId } = checked
  const byName = username === null ? undefined : await lookUp(dependencies, { username })
  const named = byName && isInReach(dependencies, byName) ? byName : undefined
  const user = externalId === null ? named : await lookUp(dependencies, { externalId })
  return { user, isTaken: byName !== undefined && byName.id !== user?.id }
}

async function storeEntry(
  dependencies: UserDependencies,
  entry: CheckedEntry,
  existing?: User,
): Promise<PutUser> {
  const { username, externalId, passwordHash, profile, disabled } = entry
  const user =
    existing ?? (await storeUser(dependencies, { username, externalId, passwordHash, ...profile }))
  if (existing !== undefined) await changeExisting(dependencies, existing, entry)
  if (disabled !== undefined && disabled !== (user.disabledAt !== null))
    await setDisabled(dependencies, { id: user.id }, disabled)
  const current = await dependencies.store.read(stored.findUser, user.id)
  return { user: { ...user, ...current }, created: existing === undefined }
}

async function changeExisting(
  dependencies: UserDependencies,
  user: User,
  entry: CheckedEntry,
): Promise<void> {
  const { username, passwordHash, profile } = entry
  const renamed = username !== null && username !== user.username
  await storeChange(dependencies, { user, fields: { ...(renamed && { username }), ...profile } })
  if (username === null || passwordHash === null) return
  if ((await dependencies.store.read(stored.findCredentials, username)) !== undefined) return
  await storePassword(dependencies, user, passwordHash)
  if (user.disabledAt !== null) await setDisabled(dependencies, { id: user.id }, true)
}

/** Running work ends before the first error is thrown. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item, position: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += atOnce) {
    const begun = items.slice(from, from + atOnce).map((item, n) => work(item, from + n))
    await Promise.allSettled(begun)
    results.push(...(await Promise.all(begun)))
  }
  return results
}
