import { Command } from 'commander'
import { listAudit } from '../../audit/audit.store.ts'
import { iso } from '../../basics/clock.ts'
import type { AuditEntry } from '../../store/events.ts'
import { namesOf } from '../../users/display-user.ts'
import { findUser } from '../../users/find-user.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { lastUpTo, type Output, printList } from '../terminal/output.ts'
import { type PastTime, pastTime } from '../terminal/past-time.ts'

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
  return withSettings(command).action(onStore(audit))
}

const help = `
docs/operations/audit-events.md lists the events.

Examples:
  npx carillon audit
  npx carillon audit --user ann --since 7d
  npx carillon audit --since 2026-11-22T08:00 --json`

async function audit(place: Place, options: Options): Promise<void> {
  const entries = await entriesOf(place, options)
  const { json, user, since } = options
  const ids = entries.flatMap(({ userId }) => userId ?? [])
  const names = await namesOf(place.store, json ? [] : ids)
  const about = user === undefined ? '' : ` about ${user}`
  printList(options, entries, {
    columns: {
      time: ({ at }) => `${iso(at).slice(0, 19).replace('T', ' ')}Z`,
      event: ({ event }) => event,
      user: ({ userId, nameHash }) =>
        names.get(userId ?? '') ?? userId ?? (nameHash && `unknown ${nameHash}`),
      by: 'actor',
      address: 'address',
      details: factsOf,
    },
    empty: `There are no entries${about} ${since === undefined ? 'yet' : 'since then'}`,
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

function factsOf({ detail, count }: AuditEntry): string {
  const facts = Object.entries(detail ?? {})
    .filter(([name]) => name !== 'settings')
    .map(([name, value]) => `${name}=${value}`)
  return [...(count > 1 ? [`${count} times`] : []), ...facts].join(' ')
}
