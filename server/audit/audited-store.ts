// The store of a service that writes a log line for each audit entry that a change recorded. So no caller has to remember the line:
// code that gives the store an entry gets a row and a line, or neither.
import {
  type AuditEntry,
  type Audited,
  type EndedSession,
  type Input,
  isLive,
  type Operations,
  type PutUser,
  type Store,
  type User,
} from '../store/store.ts'
import type { AuditLines } from './audit-lines.ts'
import { ChangeLimits, limitedEntry } from './change-limits.ts'

/** What each change with audit entries resolves with. */
type Results = {
  [Name in keyof Operations as Operations[Name] extends (change: infer Change) => unknown
    ? 'audit' extends keyof Change
      ? Name
      : never
    : never]: Awaited<ReturnType<Operations[Name]>>
}
type VoidChange = { [Name in keyof Results]: Results[Name] extends void ? Name : never }[keyof Results]
type Word = Extract<Results[keyof Results], string>

/** Changes that resolve without a value always take effect. The compiler wants every one of them here. */
const alwaysRecorded: Record<VoidChange, true> = { addChallenge: true, addProducer: true, revokeTokens: true }

/** Whether a change that resolves with this word took effect. The compiler wants every word here. */
const effects: Record<Word, boolean> = {
  done: true,
  added: true,
  first: true,
  known: true,
  new: true,
  stateful: true,
  stateless: true,
  absent: false,
  refused: false,
  taken: false,
  'username-taken': false,
  'external-id-taken': false,
  'has-another': false,
  full: false,
  last: false,
  'no-challenge': false,
}

/** Operations of the most frequent requests, which have no entries: looking for some costs 0.5 us. The compiler refuses others. */
const unaudited: ReadonlySet<string> = new Set<Exclude<keyof Operations, keyof Results>>([
  'deliver',
  'findProducer',
  'findSession',
  'readPage',
])

/** A change that is not limited is called on `store` at the moment of the call. `note` gets each entry that was recorded. */
export function auditedStore(
  store: Store,
  { lines, now, note }: { lines: AuditLines; now: () => number; note: (entry: AuditEntry) => Promise<void> },
): Store {
  const limits = new ChangeLimits({ store, now })
  const wrapped: Record<string, unknown> = {}
  for (const name of Object.keys(store) as (keyof Store)[]) {
    if (unaudited.has(name) || typeof Object.getOwnPropertyDescriptor(store, name)?.value !== 'function') continue
    wrapped[name] = (...values: unknown[]) => {
      const call = () => (store[name] as (...values: unknown[]) => unknown)(...values)
      const [input] = values
      return name in recordedBy || hasEntries(input) ? lined(name, input, call) : call()
    }
  }

  async function lined(name: string, input: unknown, call: () => unknown): Promise<unknown> {
    const given = Array.isArray(input) ? (input as AuditEntry[]) : hasEntries(input) ? (input.audit ?? []) : []
    const limited = limitedEntry(given)
    const counted = limited && (await limits.begin(limited))
    const value = await call()
    const recorded = entriesOf(name, input, value)
    if (counted !== undefined && recorded.length === 0) await limits.takeBack(counted)
    for (const entry of recorded) lines.write(entry)
    await Promise.all(recorded.map(note))
    return value
  }

  return Object.setPrototypeOf(wrapped, store)
}

function hasEntries(input: unknown): input is Required<Audited> {
  return typeof input === 'object' && input !== null && 'audit' in input && Array.isArray(input.audit)
}

/** The operations whose entries are recorded one by one, with what the store adds. */
const recordedBy: Readonly<Record<string, (input: never, value: never) => AuditEntry[]>> = {
  recordAudit: (entries: Input<'recordAudit'>) => [...entries],
  addProviderUser: ({ newId, audit }: Input<'addProviderUser'>, user: User) =>
    user.id === newId ? [...(audit ?? [])] : [],
  putUsers: ({ users }: Input<'putUsers'>, put: readonly PutUser[]) =>
    put.flatMap(({ user, created, recorded }, n) => {
      const entry = users[n]?.entry
      if (entry === undefined || !recorded) return []
      return [created ? entry : { ...entry, event: 'user-changed', userId: user.id }]
    }),
  endSessions: ({ audit, live }: Input<'endSessions'>, ended: readonly EndedSession[]) => {
    const left = [...(audit ?? [])]
    return ended.flatMap((session) => {
      const place = left.findIndex(({ userId }) => userId === session.userId)
      const [entry] = place < 0 ? [] : left.splice(place, 1)
      const { username, signInId } = session
      return entry === undefined || !isLive(session, live) ? [] : [{ ...entry, username, signInId }]
    })
  },
}

function entriesOf(name: string, input: unknown, value: unknown): readonly AuditEntry[] {
  const own = Object.hasOwn(recordedBy, name) ? recordedBy[name] : undefined
  if (own !== undefined) return own(input as never, value as never)
  return hasEntries(input) && (name in alwaysRecorded || hasTakenEffect(value)) ? (input.audit ?? []) : []
}

/** Without effect, a change resolves with a word that says so, with false, or with nothing. */
function hasTakenEffect(value: unknown): boolean {
  if (typeof value === 'string') return effects[value as Word]
  return value !== undefined && value !== null && value !== false
}
