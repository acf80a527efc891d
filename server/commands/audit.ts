// `carillon audit`: what the audit log says, as a table for people or as JSON for programs; with --follow until Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import { listAudit } from '../audit/audit.store.ts'
import { iso } from '../basics/clock.ts'
import { jsonLine, withoutControls } from '../basics/control-characters.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { findUser as findStoredUser } from '../users/users.store.ts'
import { findUser } from '../users/users.ts'
import { configOf, withSettings, withStore } from './settings.ts'
import { untilInterrupted } from './terminal/interruption.ts'
import { columns, countUpTo, type Output, print, printAll, table } from './terminal/output.ts'

type Options = Output & { user?: string; since?: (now: number) => number; last: number; follow?: boolean }

const pageSize = 500
const followEveryMs = 500
/** An entry may be stored a little later than its time: a change waits for its commit, and clocks differ. */
const lateMs = 30_000
const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

export function auditCommand(): Command {
  const command = new Command('audit')
    .description('Show who did what, when and from where: sign-ins, refusals, changes of users, keys and settings')
    .option('--user <name>', 'only entries about the user with this name')
    .option(
      '--since <time>',
      'only entries since then: 30m, 2h, 7d, or a date such as 2026-11-22; replaces --last',
      sinceOf,
    )
    .option('--last <count>', 'the newest entries, this many', countUpTo(999_999), 50)
    .option('--follow', 'go on with new entries, of every process, until Ctrl-C; with --json one object per line')
    .addHelpText('after', help)
  return withSettings(command, 'audit').action((options) => audit(command, options))
}

const help = `
docs/operations.md lists the events.

Examples:
  npx carillon audit
  npx carillon audit --user ann --since 7d
  npx carillon audit --since 2026-11-22T08:00 --json
  npx carillon audit --follow`

function sinceOf(text: string): (now: number) => number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return (now) => now - Number(count) * units[unit as keyof typeof units]
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text).getTime() : Number.NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Write a duration such as 30m, 2h or 7d, or a date such as 2026-11-22.')
  return () => at
}

function audit(command: Command, options: Options): Promise<void> {
  return withStore(configOf(command, 'audit'), async (store) => {
    const userId = options.user === undefined ? undefined : (await findUser({ store }, { username: options.user })).id
    const names = namesIn(store)
    const startedAt = (store.clock ?? Date.now)()
    // What exists already and is not wanted stays out. It is read first, so that nothing that follows is missed.
    const known = options.follow ? await entriesOf(store, { since: () => startedAt - lateMs, last: 0, userId }) : []
    const entries = await entriesOf(store, { ...options, userId })
    if (!options.follow) {
      const lines = await rowsOf(names, entries)
      const text = entries.length === 0 ? [emptyText(options)] : coloured(table(headings, lines), entries)
      print(options, entries, () => text)
      return
    }
    await follow(store, { ...options, userId, names, entries, known, startedAt })
  })
}

type Wanted = Pick<Options, 'since' | 'last'> & { userId: string | undefined }

/** Oldest first. */
async function entriesOf(store: Store, { since, last, userId }: Wanted): Promise<AuditEntry[]> {
  const at = since?.((store.clock ?? Date.now)())
  const filter = { ...(userId !== undefined && { userId }), ...(at !== undefined && { since: at }) }
  const entries: AuditEntry[] = []
  const wanted = since === undefined ? last : Number.POSITIVE_INFINITY
  while (entries.length < wanted) {
    const limit = Math.min(pageSize, wanted - entries.length)
    const before = entries.at(-1)?.id
    const page = await store.read(listAudit, { ...filter, ...(before !== undefined && { before }), limit })
    entries.push(...page)
    if (page.length < limit) break
  }
  return entries.toReversed()
}

type Entries = readonly AuditEntry[]
type Following = Wanted & Output & { names: NameOf; startedAt: number; entries: Entries; known: Entries }

async function follow(store: Store, following: Following): Promise<void> {
  const { json, userId, names, entries, known, startedAt } = following
  const signal = untilInterrupted()
  const show = async (found: readonly AuditEntry[]) => {
    const rows = json ? [] : await rowsOf(names, found)
    const lines = rows.map((cells) => columns(cells, widths))
    await printAll(json ? found.map(jsonLine) : coloured(lines, found, 0), signal)
  }
  let shown = new Set([...known, ...entries].map(({ id }) => id))
  let newest = startedAt
  try {
    if (!json) await printAll([columns(headings, widths)], signal)
    await show(entries)
    while (!signal.aborted) {
      await sleep(followEveryMs, undefined, { signal })
      const since = newest - lateMs
      const found = await entriesOf(store, { since: () => since, last: 0, userId })
      await show(found.filter(({ id }) => !shown.has(id)))
      shown = new Set(found.map(({ id }) => id))
      newest = Math.max(newest, ...found.map(({ at }) => at))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

const headings = ['time', 'event', 'user', 'by', 'address', 'details']
/** The widths of a table that goes on: they are fixed before its rows are known. */
const widths = [20, 22, 18, 18, 15]

async function rowsOf(nameOf: NameOf, entries: readonly AuditEntry[]): Promise<string[][]> {
  const rows: string[][] = []
  for (const entry of entries) {
    const { at, event, userId, nameHash, actor, address, detail, count } = entry
    const about = userId === null ? (nameHash === null ? '-' : `unknown ${nameHash}`) : await nameOf(userId)
    const facts = Object.entries(detail ?? {})
      .filter(([name]) => name !== 'settings')
      .map(([name, value]) => `${name}=${value}`)
    if (count > 1) facts.unshift(`${count} times`)
    const time = `${iso(at).slice(0, 19).replace('T', ' ')}Z`
    rows.push([time, event, about, actor, address ?? '-', facts.join(' ')].map(withoutControls))
  }
  return rows
}

/** Red: what was refused. Yellow: what an operator may want to look at. Without colour if stdout is no terminal. */
function coloured(lines: readonly string[], entries: readonly AuditEntry[], titles = 1): string[] {
  return lines.map((line, n) => {
    const event = entries[n - titles]?.event
    if (event === undefined) return styleText('bold', line)
    if (event.endsWith('-refused')) return styleText('red', line)
    return /disowned|delayed|erased|dropped|reset/.test(event) ? styleText('yellow', line) : line
  })
}

function emptyText({ user, since }: Options): string {
  return `There are no entries${user === undefined ? '' : ` about ${user}`} ${since === undefined ? 'yet' : 'since then'}`
}

type NameOf = (userId: string) => Promise<string>

/** Usernames by id, each read once. */
function namesIn(store: Store): NameOf {
  const names = new Map<string, string>()
  return async (userId) => {
    const user = names.has(userId) ? undefined : await store.read(findStoredUser, userId)
    const name = names.get(userId) ?? user?.username ?? user?.externalId ?? userId
    names.set(userId, name)
    return name
  }
}
