// `carillon audit`: what the audit log says, as a table for people or as JSON for programs.
import { Command, InvalidArgumentError } from 'commander'
import { listAudit } from '../audit/audit.store.ts'
import { iso } from '../basics/clock.ts'
import { withoutControls } from '../basics/control-characters.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { findUser as findStoredUser } from '../users/users.store.ts'
import { findUser } from '../users/users.ts'
import { configOf, withSettings, withStore } from './settings.ts'
import { countUpTo, type Output, print, table } from './terminal/output.ts'

type Options = Output & { user?: string; since?: (now: number) => number; last: number }

const pageSize = 500
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
    .addHelpText('after', help)
  return withSettings(command, 'audit').action((options) => audit(command, options))
}

const help = `
docs/operations.md lists the events.

Examples:
  npx carillon audit
  npx carillon audit --user ann --since 7d
  npx carillon audit --since 2026-11-22T08:00 --json`

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
    const entries = await entriesOf(store, { ...options, userId })
    const rows = options.json ? [] : await rowsOf(namesIn(store), entries)
    print(options, entries, () => (rows.length === 0 ? emptyText(options) : table(headings, rows)))
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

const headings = ['time', 'event', 'user', 'by', 'address', 'details']

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
