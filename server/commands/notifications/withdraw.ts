import { Command } from 'commander'
import { record } from '../../audit/audit.store.ts'
import { recorded } from '../../audit/entry.ts'
import { notFound } from '../../basics/errors.ts'
import { endingOf, firstIdAt, isIdShaped, madeAt } from '../../basics/ids.ts'
import { inboxesOf } from '../../delivery/by-key.store.ts'
import { withdrawByKey } from '../../delivery/by-key.ts'
import { findSent, type Sent, withdrawSent } from '../../delivery/withdraw.store.ts'
import { maxAtOnce } from '../../inbox/retention.store.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { counted, type Output, print, readApplication, WrongUse } from '../terminal/output.ts'
import { type PastTime, pastTime } from '../terminal/past-time.ts'
import { confirm } from '../terminal/prompts.ts'

const help = `
The response of a delivery has its deliveryId. What was sent again later stays. Open inboxes show it at once; mails and pushes stay.

Examples:
  npx carillon withdraw --dry-run 019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70
  npx carillon withdraw --key order-42 --application shop
  npx carillon withdraw --producer shop --since 2026-11-22T08:00Z --until 2026-11-22T08:05Z --yes`

/** More are withdrawn, too. */
const maxCounted = 1_000_000

type Options = Output & {
  key?: string
  application?: string
  producer?: string
  since?: PastTime
  until?: PastTime
  dryRun?: true
  yes?: boolean
}

const howToName = 'Give one deliveryId, or --key, or --producer and --since'

export function makeCommand(): Command {
  const command = new Command('withdraw')
    .argument('[delivery]', 'the deliveryId of a delivery')
    .option('--key <key>', 'in place of a delivery: what has this notification key')
    .option(
      '--application <name>',
      'with --key: of the keys of this application; without it, of those of none',
      readApplication,
    )
    .option(
      '--producer <name>',
      'in place of a delivery: the producer of this id, or all of this name',
    )
    .option(
      '--since <time>',
      'with --producer: what it sent since then, such as 30m or a date',
      pastTime,
    )
    .option('--until <time>', 'with --producer: and up to then; default: now', pastTime)
    .option('--dry-run', 'only count')
    .option('--yes', 'do not ask')
    .description('Take back what was sent, by delivery, by key, or by producer and time')
    .addHelpText('after', help)
  return withSettings(command).action(onStore(withdraw))
}

async function withdraw(place: Place, delivery: string | undefined, options: Options) {
  const { store, now } = place
  if ((options.key ?? options.application) !== undefined)
    return withdrawKeyed(place, delivery, options)
  const sent =
    delivery === undefined ? sentBy(options, now()) : sentAs(delivery.toLowerCase(), options)
  const all = await store.read(findSent, sent, maxCounted)
  if (all.length === 0) throw notFound('No inbox has what was sent then')
  if (all.some(({ id }) => id === delivery?.toLowerCase()))
    throw new WrongUse('This is the id of one notification. A deliveryId takes it back from all')
  const found = {
    notifications: all.length,
    users: new Set(all.map(({ user }) => user)).size,
  }
  const what = `${found.notifications} notifications of ${found.users} users`
  if (options.dryRun) return print(options, found, () => `${what} would be withdrawn`)
  await confirm(`Withdraw ${what}?`, options)
  const detail = { delivery, producer: options.producer, ...found }
  const { audit } = recorded(place, { event: 'notifications-withdrawn', detail })
  await store.write(record, audit)
  let left = all
  while (left.length > 0) {
    for (let from = 0; from < left.length; from += maxAtOnce) {
      const some = left.slice(from, from + maxAtOnce)
      await store.write(withdrawSent, { ...sent, some, at: now() })
    }
    left = await store.read(findSent, sent, maxCounted)
  }
  print(options, found, () => `Withdrew ${what}`)
}

async function withdrawKeyed(place: Place, delivery: string | undefined, options: Options) {
  const { store, now } = place
  const { key = '', application = '', producer, since, until } = options
  if (!key || (delivery ?? producer ?? since ?? until) !== undefined) throw new WrongUse(howToName)
  const keyed = { key, application }
  const { inboxes } = await store.read(inboxesOf, keyed)
  if (inboxes === 0) throw notFound('No inbox has a notification with this key')
  const found = counted(inboxes, 'notification')
  if (options.dryRun) return print(options, { inboxes }, () => `${found} would be withdrawn`)
  await confirm(`Withdraw ${found}?`, options)
  const withdrawn = await withdrawByKey({ store, wall: now, imageHosts: [] }, keyed, place)
  const done = withdrawn.isDone ? 'Withdrew' : 'The service withdraws'
  print(options, withdrawn, () => `${done} ${found}`)
}

function sentBy({ producer, since, until }: Options, now: number): Sent {
  if (!producer || since === undefined) throw new WrongUse(howToName)
  const sentUntil = until?.(now) ?? now
  const range = { fromId: firstIdAt(since(now)), beforeId: firstIdAt(sentUntil + 1) }
  return { ...range, ending: '', producer, sentUntil }
}

/** The node read its clock again after the delivery got its id. */
const laterMs = 1_000

function sentAs(delivery: string, { producer, since, until }: Options): Sent {
  if ((producer ?? since ?? until) !== undefined || !isIdShaped(delivery))
    throw new WrongUse(howToName)
  const at = madeAt(delivery)
  const range = { fromId: firstIdAt(at), beforeId: firstIdAt(at + 1) }
  return { ...range, ending: endingOf(delivery), producer: '', sentUntil: at + laterMs }
}
