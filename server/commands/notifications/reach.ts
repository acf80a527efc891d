// Reads real inboxes, but sends and writes nothing.
import { Command, Option } from 'commander'
import { iso, isoOrNull } from '../../basics/clock.ts'
import { withoutControls } from '../../basics/control-characters.ts'
import type { MailRule } from '../../inbox/mail-rules.ts'
import { mailWayOf } from '../../inbox/reminders.store.ts'
import { rulesOf } from '../../preferences/preferences.store.ts'
import { arrivedSince, countUsers } from '../../reach/unread/rehearsal.store.ts'
import { mailTimes, type Rehearsed, rehearse } from '../../reach/unread/rehearsal.ts'
import type { Store } from '../../store/store.ts'
import { findUser } from '../../users/find-user.ts'
import { listUsers, type User } from '../../users/users.store.ts'
import { withSettings } from '../settings.ts'
import { counted, type Output, print, table, WrongUse } from '../terminal/output.ts'
import { type PastTime, pastTime } from '../terminal/past-time.ts'
import { progress } from '../terminal/progress.ts'
import { type KeyOptions, keyOf, nameOf, ofApplication, withUsers } from '../user/user-key.ts'

type Options = KeyOptions & {
  all?: true
  user?: string
  application?: string
  last: PastTime
  digest?: MailRule
}

const help = `
The rules are those of now: of readers, of categories, and --mail-unread or --digest in place of CARILLON_MAIL_UNREAD.
Nothing is sent or changed. Notifications that were removed are not counted, and titles are not displayed.

Examples:
  npx carillon reach --user ann --last 7d --mail-unread 15m
  npx carillon reach --all --last 30d --digest daily --json`

const digestOption = new Option('--digest <rule>', 'in place of --mail-unread').choices([
  'hourly',
  'daily',
  'weekly',
])
const usersInPage = 1_000
const maxListed = 20
const barWidth = 40
const whyUnreached = 'without a verified address, refused by the mail server, or disabled'

export function makeCommand(): Command {
  const command = new Command('reach')
    .description('Say which mails would have been sent about what was unread')
    .option('--all', 'all users, as a table and by the hour of the day')
    .option('--user <name>', 'the user with this username, each notification as a line')
    .option('--external-id <id>', 'the user with this id in your application')
    .option(...ofApplication)
    .option('--id <id>', 'the user with this id of Carillon')
    .requiredOption('--last <time>', 'how far to look back: 2h, 7d, or a date', pastTime)
    .addOption(digestOption)
    .addHelpText('after', help)
  return withSettings(command).action(reach)
}

type Place = { store: Store; since: string; at: number; mailUnread: MailRule }

function reach(options: Options, command: Command): Promise<void> {
  const { all, user, externalId, id, digest } = options
  const isOne = [user, externalId, id].some((name) => name !== undefined)
  if ((all === true) === isOne) throw new WrongUse('name one user, or write --all')
  if (all && options.application !== undefined)
    throw new WrongUse('--application is for --external-id, not for --all')
  return withUsers(command, async (users) => {
    const at = users.now()
    const mailUnread = digest ?? users.config.mailUnread
    const place = { store: users.store, since: iso(options.last(at)), at, mailUnread }
    if (all) return printAll(place, options)
    const found = await findUser(users, keyOf(user, options))
    const reached = await isReached(found, place)
    printOne(found, await rehearsed(found, place), { ...options, place, reached })
  })
}

async function rehearsed(
  user: User,
  { store, since, at, mailUnread }: Place,
): Promise<Rehearsed[]> {
  const arrived = await store.read(arrivedSince, { userId: user.id, since })
  return rehearse(arrived, await store.read(rulesOf, user, mailUnread), at)
}

async function isReached({ id, disabledAt }: User, { store }: Place): Promise<boolean> {
  return disabledAt === null && (await store.read(mailWayOf, id)) === 'on'
}

function printOne(
  user: User,
  items: readonly Rehearsed[],
  { place, reached, ...options }: Output & { place: Place; reached: boolean },
): void {
  const { since, mailUnread } = place
  const mails = mailTimes(items).length
  const displayed = items.map(({ dueAt, ...one }) => ({
    ...one,
    dueAt: isoOrNull(dueAt),
  }))
  print(options, { userId: user.id, since, mailUnread, reached, mails, items: displayed }, () => {
    const rows = table(displayed, {
      sent: 'sentAt',
      notification: 'id',
      category: 'category',
      'mail due': 'dueAt',
      outcome: 'fate',
    })
    const lines = displayed.length === 0 ? [] : rows
    const end = `${counted(mails, 'mail')} to ${withoutControls(nameOf(user))}, of ${counted(items.length, 'notification')}`
    const note = reached
      ? []
      : [
          'None would have left: the user is disabled, has no verified address, or the mail server refuses it.',
        ]
    return [...lines, end, ...note]
  })
}

type Sum = { userId: string; name: string; mails: number; notifications: number }

async function printAll(place: Place, options: Output): Promise<void> {
  const { store, since, mailUnread } = place
  const total = await store.read(countUsers)
  const advance = progress(options)('read', { total })
  const sums: Sum[] = []
  const hours = Array.from({ length: 24 }, () => 0)
  let unreached = 0
  let after = ''
  let hasMore = true
  while (hasMore) {
    const page = await store.read(listUsers, { after, limit: usersInPage })
    for (const user of page) {
      if (await isReached(user, place)) addUp(user, await rehearsed(user, place), { sums, hours })
      else unreached++
      advance(1)
    }
    after = page.at(-1)?.id ?? ''
    hasMore = page.length === usersInPage
  }
  sums.sort((one, other) => other.mails - one.mails)
  const mails = sums.reduce((sum, one) => sum + one.mails, 0)
  const value = { since, mailUnread, users: total, unreached, mails, hours, byUser: sums }
  print(options, value, () => {
    const rows = sums.slice(0, maxListed)
    const columns = { user: 'name', mails: 'mails', notifications: 'notifications' } as const
    const lines = rows.length === 0 ? [] : [...table(rows, columns), '']
    const rest = sums.length - rows.length
    const more = rest > 0 ? [`and ${counted(rest, 'user')} with fewer`, ''] : []
    const end =
      mails === 0
        ? 'No mail would have left'
        : `${counted(mails, 'mail')} to ${sums.length} of ${counted(total, 'user')} since ${since}`
    const unmailed = `No mail reaches ${counted(unreached, 'user')}: ${whyUnreached}`
    return [
      ...lines,
      ...more,
      ...(mails > 0 ? ['mails by the hour of the day (UTC)', ...chartOf(hours), ''] : []),
      end,
      ...(unreached > 0 ? [unmailed] : []),
    ]
  })
}

/** Users without mails have no row. */
function addUp(
  user: User,
  items: readonly Rehearsed[],
  { sums, hours }: { sums: Sum[]; hours: number[] },
): void {
  const times = mailTimes(items)
  if (times.length === 0) return
  for (const time of times) {
    const hour = new Date(time).getUTCHours()
    hours[hour] = (hours[hour] ?? 0) + 1
  }
  const notifications = items.filter(({ fate }) => fate === 'mailed').length
  sums.push({
    userId: user.id,
    name: withoutControls(nameOf(user)),
    mails: times.length,
    notifications,
  })
}

function chartOf(hours: readonly number[]): string[] {
  const most = Math.max(...hours)
  return hours.map((count, hour) => {
    const bar = '█'.repeat(Math.ceil((count / most) * barWidth))
    return `${String(hour).padStart(2, '0')}  ${bar}${count > 0 ? ` ${count}` : ''}`.trimEnd()
  })
}
