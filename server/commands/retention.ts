import { Command } from 'commander'
import { iso } from '../basics/clock.ts'
import { withoutControls } from '../basics/control-characters.ts'
import { duration, maxLifetime, second } from '../config/values.ts'
import { countOld } from '../inbox/retention.store.ts'
import { findUser } from '../users/users.store.ts'
import { withSettings, withStore } from './settings.ts'
import { type Output, print, readOption, table } from './terminal/output.ts'

type Options = Output & { dryRun: string }

const help = `
It removes nothing: CARILLON_RETENTION and CARILLON_RETENTION_UNREAD do.

Example:
  npx carillon retention --dry-run 90d --retention-unread 365d --json`

export function makeCommand(): Command {
  const command = new Command('retention')
    .description('Count what a retention would remove, by age and user')
    .requiredOption('--dry-run <time>', 'the CARILLON_RETENTION to try, such as 90d')
    .addHelpText('after', help)
  return withSettings(command).action(retention)
}

function retention(options: Options, command: Command): Promise<void> {
  const readMs = readOption('--dry-run', options.dryRun, duration(second, 10 * maxLifetime))
  return withStore(command, async ({ store, config, now }) => {
    const at = now()
    const readBefore = iso(at - readMs)
    const unreadBefore = iso(at - (config.retentionUnreadMs ?? readMs))
    const removed = await store.read(countOld, { readBefore, unreadBefore })
    const names = new Map<string, string>()
    for (const { userId } of removed) {
      if (names.has(userId)) continue
      const user = await store.read(findUser, userId)
      names.set(userId, user?.username ?? user?.externalId ?? userId)
    }
    const total = removed.reduce((sum, { read, unread }) => sum + read + unread, 0)
    print(options, { readBefore, unreadBefore, total, removed }, () => {
      const rows = removed.map(({ userId, lastSentIn, read, unread }) =>
        [lastSentIn, names.get(userId) ?? userId, `${read}`, `${unread}`].map(withoutControls),
      )
      const lines = rows.length === 0 ? [] : table(['last sent', 'user', 'read', 'unread'], rows)
      return [...lines, `${total} notifications of ${names.size} users would be removed`]
    })
  })
}
