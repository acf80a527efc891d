import { Command } from 'commander'
import { withoutControls } from '../basics/control-characters.ts'
import { notFound } from '../basics/errors.ts'
import { type Explained, explainNotification } from '../inbox/examined/explain.store.ts'
import { findUser } from '../users/users.ts'
import { withSettings } from './settings.ts'
import { print, WrongUse } from './terminal/output.ts'
import { type KeyOptions, keyOf, named, nameOf, withUsers } from './user/user-key.ts'

const help = `
The sender's response has the id of the notification. Title and body are not displayed.

Example:
  npx carillon explain --external-id customer-42 019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70 --json`

export function makeCommand(): Command {
  const command = named(new Command('explain'))
    .argument(
      '<names...>',
      'the username, unless an option names the user; the id of the notification',
    )
    .description(
      'Say what happened to one notification: sent, seen, read, archived, snoozed, muted, removed',
    )
    .addHelpText('after', help)
  return withSettings(command).action(explain)
}

function explain(names: readonly string[], options: KeyOptions, command: Command): Promise<void> {
  const [last = '', ...others] = names.toReversed()
  const id = last.toLowerCase()
  if (others.length > 1) throw new WrongUse('Give one username and the id of one notification')
  const key = keyOf(others[0], options)
  return withUsers(command, async (users) => {
    const user = await findUser(users, key)
    const found = await users.store.read(explainNotification, { userId: user.id, id })
    const remedy =
      'A removal is known for 30 days, if it is among the last 10,000 changes of the inbox.'
    if (found === undefined) throw notFound(`${nameOf(user)} has no such notification`, remedy)
    const facts =
      'reason' in found ? [['removed', `${found.removedAt} (${found.reason})`]] : factsOf(found)
    const lines = facts.map(([name = '', fact]) => withoutControls(`${name.padEnd(8)}  ${fact}`))
    print(options, { id, userId: user.id, ...found }, () => [`${id} of ${nameOf(user)}`, ...lines])
  })
}

function factsOf(found: Explained): string[][] {
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
  const isMuted = archivedAt !== null && (archivedAt === sentAt || archivedAt === replacedAt)
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
