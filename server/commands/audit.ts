import { Command } from 'commander'
import { listAudit } from '../audit/audit.store.ts'
import { iso } from '../basics/clock.ts'
import { withoutControls } from '../basics/control-characters.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { findUser } from '../users/find-user.ts'
import { findUser as findStoredUser } from '../users/users.store.ts'
import { type Place, withSettings, withStore } from './settings.ts'
import { lastUpTo, type Output, print, table } from './terminal/output.ts'
import { type PastTime, pastTime } from './terminal/past-time.ts'

type Options = Output & { user?: string; since?: PastTime; last: number }

export function makeCommand(): Command {
  const command = new Command('audit')
    .description(
      'Show who did what, when and from where: sign-ins, refusals, changes of users, keys and settings',
    )
    .option('--user <name>', 'only entries about the user with this name')
    .option(
      '--since <time>',
      'only entries since then: 30m, 2h, 7d, or a date such as 2026-11-22; replaces --last',
      pastTime,
    )
    .option('--last <count>', 'the newest entries, this many', lastUpTo(999_999), 50)
    .addHelpText('after', help)
  return withSettings(command).action(audit)
}

const help = `
docs/operations/audit-events.md lists the events.

Examples:
  npx carillon audit
  npx carillon audit --user ann --since 7d
  npx carillon audit --since 2026-11-22T08:00 --json`

async function audit(options: Options, command: Command): Promise<void> {
  await withStore(command, async (place) => {
    const entries = await entriesOf(place, options)
    const rows = options.json ? [] : await rowsOf(place.store, entries)
    print(options, entries, () => {
      if (rows.length > 0) return table(['time', 'event', 'user', 'by', 'address', 'details'], rows)
      const about = options.user === undefined ? '' : ` about ${options.user}`
      return `There are no entries${about} ${options.since === undefined ? 'yet' : 'since then'}`
    })
  })
}

async function entriesOf(
  { store, now }: Place,
  { user, since, last }: Options,
): Promise<AuditEntry[]> {
  const about =
    user === undefined ? {} : { userId: (await findUser({ store }, { username: user })).id }
  const filter = { ...about, since: since?.(now()) ?? 0 }
  const wanted = since === undefined ? last : Number.POSITIVE_INFINITY
  const entries: AuditEntry[] = []
  let isEnd = false
  while (!isEnd && entries.length < wanted) {
    const limit = Math.min(500, wanted - entries.length)
    const page = await store.read(listAudit, { ...filter, before: entries.at(-1)?.id, limit })
    entries.push(...page)
    isEnd = page.length === 0
  }
  return entries.toReversed()
}

async function rowsOf(store: Store, entries: readonly AuditEntry[]): Promise<string[][]> {
  const names = new Map<string, string>()
  for (const userId of new Set(entries.flatMap((entry) => entry.userId ?? []))) {
    const user = await store.read(findStoredUser, userId)
    names.set(userId, user?.username ?? user?.externalId ?? userId)
  }
  return entries.map(({ at, event, userId, nameHash, actor, address, detail, count }) => {
    const unknown = nameHash === null ? '-' : `unknown ${nameHash}`
    const about = userId === null ? unknown : names.get(userId)
    const facts = Object.entries(detail ?? {})
      .filter(([name]) => name !== 'settings')
      .map(([name, value]) => `${name}=${value}`)
    if (count > 1) facts.unshift(`${count} times`)
    const time = `${iso(at).slice(0, 19).replace('T', ' ')}Z`
    return [time, event, about ?? '-', actor, address ?? '-', facts.join(' ')].map(withoutControls)
  })
}
