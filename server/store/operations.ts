// What both engines share of their operations: how they become methods of the store, and how rows become an inbox and its changes.
import type { Change, Changes, Delivery, Factor, InboxState } from './store.ts'

/** The functions of `Module` whose first parameter is a `First`, without that parameter. */
type Bound<First, Module> = {
  [Name in keyof Module as Module[Name] extends (first: First, ...values: never[]) => unknown
    ? Name
    : never]: Module[Name] extends (first: First, ...values: infer Values) => infer Result
    ? (...values: Values) => Result
    : never
}

/** Every exported function of `module` with `first` as its first argument; other exports are left out. */
export function bindOperations<First, Module extends object>(module: Module, first: First): Bound<First, Module> {
  const operations = Object.entries(module).filter(([, exported]) => typeof exported === 'function')
  const bound = operations.map(([name, operation]) => [name, operation.bind(undefined, first)])
  return Object.fromEntries(bound) as Bound<First, Module>
}

/** How many recipients may be unknown. At least one must be known. */
export function maxUnknown({ unknownRecipients, recipients }: Delivery): number {
  return unknownRecipients === 'refuse' ? 0 : recipients.length - 1
}

/** How long a read-all can be undone, in milliseconds. */
export const undoableFor = 10 * 60_000

/** How many columns `toInbox` reads. */
export const inboxWidth = 10

/** The columns of an inbox in the order of its table, which begin at `at`. */
export function toInbox(row: readonly unknown[], at = 0): InboxState {
  return {
    version: row[at] as number,
    firstSeq: row[at + 1] as number,
    lastSeq: row[at + 2] as number,
    total: row[at + 3] as number,
    unread: row[at + 4] as number,
    readThrough: row[at + 5] as number,
    readVersion: row[at + 6] as number,
    markedUnread: row[at + 7] as number,
    resetVersion: row[at + 8] as number,
    categoryThrough: row[at + 9] as number,
  }
}

/** A row of the table, whose list of transports is JSON text. */
export function toFactor({ transports, ...row }: Omit<Factor, 'transports'> & { transports: string | null }): Factor {
  return { ...row, transports: transports === null ? null : JSON.parse(transports) }
}

export type ChangeRow = [version: number, type: 'created' | 'replaced' | 'read' | 'unread', notification: string]
/** `categories` is JSON text. */
export type ReadAllRow = [
  version: number,
  throughSeq: number,
  throughId: string | null,
  at: string,
  categories: string | null,
]
type ChangeRows = { notifications: readonly ChangeRow[]; readAlls: readonly ReadAllRow[] }

export function toChanges(inbox: InboxState, limit: number, { notifications, readAlls }: ChangeRows): Changes {
  const all: Change[] = notifications.map(([version, type, notification]) => ({ version, type, notification }))
  for (const [version, throughSeq, throughId, at, categories] of readAlls) {
    const only = categories !== null && { categories: JSON.parse(categories) }
    all.push({ version, type: 'read-all', throughSeq, throughId, at, ...only })
  }
  all.sort((a, b) => a.version - b.version)
  return { inbox, changes: all.slice(0, limit), more: all.length > limit }
}
