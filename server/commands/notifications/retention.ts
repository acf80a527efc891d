import { Command } from 'commander'
import { iso } from '../../basics/clock.ts'
import { duration, maxLifetime, second } from '../../config/values.ts'
import { countOld } from '../../inbox/retention.store.ts'
import { namesOf } from '../../users/display-user.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { type Output, print, reading, table } from '../terminal/output.ts'

type Options = Output & { dryRun: number }

const help = `
It removes nothing: CARILLON_RETENTION and CARILLON_RETENTION_UNREAD do.

Example:
  npx carillon retention --dry-run 90d --retention-unread 365d --json`

export function makeCommand(): Command {
  const command = new Command('retention')
    .description('Count what a retention would remove, by age and user')
    .requiredOption(
      '--dry-run <time>',
      'the CARILLON_RETENTION to try, such as 90d',
      reading('--dry-run', duration(second, 10 * maxLifetime)),
    )
    .addHelpText('after', help)
  return withSettings(command).action(onStore(retention))
}

async function retention({ store, config, now }: Place, options: Options): Promise<void> {
  const at = now()
  const readBefore = iso(at - options.dryRun)
  const unreadBefore = iso(at - (config.retentionUnreadMs ?? options.dryRun))
  const removed = await store.read(countOld, { readBefore, unreadBefore })
  const ids = new Set(removed.map(({ userId }) => userId))
  const names = await namesOf(store, ids)
  const total = removed.reduce((sum, { read, unread }) => sum + read + unread, 0)
  print(options, { readBefore, unreadBefore, total, removed }, () => {
    const rows = table(removed, {
      'last sent': 'lastSentIn',
      user: ({ userId }) => names.get(userId) ?? userId,
      read: 'read',
      unread: 'unread',
    })
    const end = `${total} notifications of ${ids.size} users would be removed`
    return removed.length === 0 ? end : [...rows, end]
  })
}
