import { Command } from 'commander'
import { withoutControls } from '../../basics/control-characters.ts'
import { notFound } from '../../basics/errors.ts'
import { isIdShaped } from '../../basics/ids.ts'
import {
  type Explained,
  explainNotification,
  isMutedOnArrival,
  type Removal,
  sentTo,
} from '../../inbox/examined/explain.store.ts'
import { ownerOf } from '../../operator/sent.store.ts'
import { findUser, type UserKey } from '../../users/find-user.ts'
import type { User } from '../../users/users.store.ts'
import { withSettings } from '../settings.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { type PastTime, pastTime } from '../terminal/past-time.ts'
import { type KeyOptions, keyOf, named, nameOf, type Users, withUsers } from '../user/user-key.ts'

const help = `
Title and body are not displayed.

Examples:
  npx carillon explain --external-id customer-42 019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70 --json
  npx carillon explain 019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70
  npx carillon explain ann --key order-42
  npx carillon explain ann --since 2h --producer shop`

type Options = KeyOptions & { key?: string; since?: PastTime; producer?: string }

type Facts = Explained | Removal

const maxFound = 50
const removals =
  'A removal is known for 30 days, if it is among the last 10,000 changes of the inbox.'

export function makeCommand(): Command {
  const command = named(new Command('explain'))
    .argument(
      '[names...]',
      'the username, unless an option names the user; the id of the notification, unless --key or --since finds it; an id alone finds its user',
    )
    .option('--key <key>', 'the newest 50 that were sent to the user with this notification key')
    .option(
      '--since <time>',
      'the newest 50 that were sent since then: 30m, 2h, 7d, or a date',
      pastTime,
    )
    .option('--producer <name>', 'with --key or --since: by the producer of this name or id')
    .description(
      'Say what happened to a notification: sent, seen, read, archived, snoozed, muted, removed',
    )
    .addHelpText('after', help)
  return withSettings(command).action(explain)
}

function explain(names: readonly string[], options: Options, command: Command): Promise<void> {
  const isSearch = options.key !== undefined || options.since !== undefined
  if (!isSearch && (names.length === 0 || options.producer !== undefined))
    throw new WrongUse('Name the notification by its id, or find it by --key or --since')
  const [id, ...others] = isSearch ? [undefined, ...names] : names.toReversed()
  if (others.length > 1) throw new WrongUse('Give one username and the id of one notification')
  const isNamed = (options.externalId ?? options.id) !== undefined
  const isAlone = !isSearch && !isNamed && isIdShaped(names.join())
  const key = isAlone ? undefined : keyOf(others[0], options)
  return withUsers(command, async (users) => {
    const user = await findUser(users, key ?? (await ownerKeyOf(users, id ?? '')))
    if (id === undefined) await explainFound(users, user, options)
    else await explainOne(users, user, { ...options, id: id.toLowerCase() })
  })
}

async function ownerKeyOf({ store }: Users, text: string): Promise<UserKey> {
  const id = await store.read(ownerOf, text.toLowerCase())
  if (id !== undefined) return { id }
  throw notFound('No inbox has this notification', 'If it was removed, name the user, too.')
}

async function explainOne(
  { store }: Users,
  user: User,
  { id, ...options }: Output & { id: string },
): Promise<void> {
  const found = await store.read(explainNotification, { userId: user.id, id })
  if (found === undefined) throw notFound(`${nameOf(user)} has no such notification`, removals)
  const lines = factsOf(found).map(([name = '', fact]) =>
    withoutControls(`${name.padEnd(8)}  ${fact}`),
  )
  print(options, { id, userId: user.id, ...found }, () => [`${id} of ${nameOf(user)}`, ...lines])
}

async function explainFound({ store, now }: Users, user: User, options: Options): Promise<void> {
  const { key = '', producer = '' } = options
  const since = options.since?.(now()) ?? 0
  const wanted = { userId: user.id, key, producer, since, limit: maxFound }
  const all: ({ id: string } & Facts)[] = []
  for (const id of await store.read(sentTo, wanted)) {
    const found = await store.read(explainNotification, { userId: user.id, id })
    if (found !== undefined) all.push({ id, ...found })
  }
  if (all.length === 0)
    throw notFound(
      `Nothing that was sent to ${nameOf(user)} fits`,
      `--key finds nothing that was removed. ${removals}`,
    )
  print(options, all, () => all.map(sentenceOf))
}

function sentenceOf({ id, ...found }: { id: string } & Facts): string {
  const clauses = factsOf(found).flatMap(([name = '', fact = '']) => {
    if (fact === 'yes') return [name]
    if (fact === 'no') return name === 'seen' || name === 'read' ? [`not ${name}`] : []
    return [`${name} ${fact}`]
  })
  return withoutControls(`${id}: ${clauses.join('; ')}`)
}

function factsOf(found: Facts): string[][] {
  if ('reason' in found) return [['removed', `${found.removedAt} (${found.reason})`]]
  const {
    sentAt,
    senderId,
    senderName,
    replacedAt,
    count,
    readAt,
    archivedAt,
    snoozedUntil,
    bulk,
  } = found
  const isMuted = isMutedOnArrival(found)
  const readTogether = bulk === 'read' ? ' by a read-all' : ''
  const read = isMuted ? ' on arrival' : readTogether
  const archivedTogether = bulk === 'archive' ? ' by an archive-read' : ''
  const archived = isMuted ? ' on arrival: muted' : archivedTogether
  return [
    [
      'sent',
      `${sentAt}; last sent by ${senderId === null ? 'the service itself' : `${senderName} (${senderId})`}`,
    ],
    [
      'replaced',
      replacedAt === null
        ? 'no'
        : `${replacedAt}; times that it became the newest again: ${count - 1}`,
    ],
    ['seen', found.seq <= found.seenThrough ? 'yes' : 'no'],
    ['read', readAt === null ? 'no' : readAt + read],
    ['archived', archivedAt === null ? 'no' : archivedAt + archived],
    ['snoozed', snoozedUntil === null ? 'no' : `until ${snoozedUntil}`],
    ['expires', found.expiresAt ?? 'no'],
  ]
}
