import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { iso } from '../basics/clock.ts'
import { withoutControls } from '../basics/control-characters.ts'
import { CarillonError, unavailable } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import { integer } from '../config/values.ts'
import { type EventType, eventTypes } from '../inbox/webhook-events.store.ts'
import { listOutbox } from '../reach/outbox.store.ts'
import { keysAndSealing } from '../tokens/signing-keys.ts'
import { addTestEvent } from '../webhooks/looks.store.ts'
import { findWebhook, listWebhooks } from '../webhooks/webhooks.store.ts'
import { addWebhook, displayedWebhook, noWebhook, removeWebhook } from '../webhooks/webhooks.ts'
import { type Place, withSettings, withStore } from './settings.ts'
import {
  type Output,
  print,
  readApplication,
  readOption,
  table,
  WrongUse,
} from './terminal/output.ts'

const maxWaitMs = 30_000
const pollMs = 250

const addHelp = `
Events: ${eventTypes.join(', ')}.

Examples:
  npx carillon webhook add --event notification.unread --url https://shop.example/carillon --application shop
  npx carillon webhook add --event notification.read --event user.erased   # without --url, a backend reads them`
const testHelp = `
The running service sends a request with the event webhook.test: the command only adds it to what waits. A webhook that was disabled is enabled if
the request is accepted.`

type Added = Output & {
  event?: string[]
  category?: string[]
  url?: string
  application?: string
  unreadAfter?: string
}

export function makeCommand(): Command {
  const webhook = new Command('webhook').description('Add, list, test and remove webhooks')
  const several = (value: string, before: string[] = []) => [...before, value]
  webhook
    .command('add')
    .description('Add a webhook and display its secret once')
    .option('--url <url>', 'where requests go; without it, the events wait to be read')
    .option('--event <event>', 'which events; repeat it for several', several)
    .option('--category <category>', 'only about this category; repeat it for several', several)
    .option(
      '--unread-after <minutes>',
      'when notification.unread is sent, for all webhooks of the application; 15 without it',
    )
    .option(
      '--application <name>',
      'whose notifications; without it, those of keys without an application',
    )
    .addHelpText('after', addHelp)
    .action(addOne)
  webhook.command('list').description('List the webhooks, without their secrets').action(listAll)
  webhook
    .command('test <id>')
    .description('Send an event to a webhook')
    .addHelpText('after', testHelp)
    .action(test)
  webhook
    .command('remove <id>')
    .description('Remove a webhook, and what waits for it')
    .action(removeOne)
  return withSettings(webhook)
}

async function addOne(options: Added, command: Command): Promise<void> {
  const { event: given = [], category: categories = null, url = null } = options
  const unknown = given.find((name) => !(eventTypes as readonly string[]).includes(name))
  if (given.length === 0 || unknown !== undefined)
    throw new WrongUse(`--event takes one of ${eventTypes.join(', ')}`)
  const application = readApplication(options.application) ?? ''
  const minutes = options.unreadAfter
  const unreadAfter =
    minutes === undefined ? null : readOption('--unread-after', minutes, integer(0, 43_200))
  const wanted = { url, events: given as EventType[], categories, unreadAfter }
  const { webhook, secret } = await withStore(command, async (place) => {
    const { sealing } = await keysAndSealing(place)
    return addWebhook(
      { ...place, sealing, allowsPrivate: place.config.outboundPrivate },
      application,
      wanted,
    )
  })
  print(options, { ...displayedWebhook(webhook), secret }, () => [
    `Added the webhook ${webhook.id}: ${webhook.events}; ${url === null ? 'its events wait to be read' : `to ${url}`}`,
    `secret: ${secret}`,
    'It is displayed once.',
  ])
}

async function listAll(options: Output, command: Command): Promise<void> {
  const found = await withStore(command, ({ store }) => store.read(listWebhooks))
  const items = found.map((one) => ({
    ...displayedWebhook(one),
    application: one.application || null,
  }))
  print(options, items, () => {
    if (items.length === 0) return 'There are no webhooks yet. Add one with: carillon webhook add'
    const rows = items.map(
      ({ id, application, url, events, lastSuccessAt, failingSince, disabledAt, attempts }) => {
        const last = attempts[0]?.outcome
        const failing = failingSince === null ? 'ok' : `failing since ${iso(failingSince)}: ${last}`
        const state = disabledAt === null ? failing : `disabled at ${iso(disabledAt)}: ${last}`
        return [
          id,
          application ?? '-',
          withoutControls(url ?? '(read)'),
          events.join(),
          lastSuccessAt === null ? '-' : iso(lastSuccessAt),
          state,
        ]
      },
    )
    return table(['id', 'application', 'url', 'events', 'last success', 'state'], rows)
  })
}

async function removeOne(id: string, options: Output, command: Command): Promise<void> {
  await withStore(command, (place) => removeWebhook(place, id, null))
  print(options, { id, removed: true }, () => `Removed ${id}`)
}

async function test(id: string, options: Output, command: Command): Promise<void> {
  const outcome = await withStore(command, (place) => send(place, id))
  if (outcome === 'waits') {
    print(
      options,
      { sent: false, waits: true },
      () => `The event waits to be read at GET /api/webhooks/${id}/events`,
    )
    return
  }
  if (outcome instanceof CarillonError) throw outcome
  print(options, { sent: true }, () => 'The request was accepted')
}

async function send(
  { store, now }: Place,
  id: string,
): Promise<'accepted' | 'waits' | CarillonError> {
  const webhook = await store.read(findWebhook, id)
  if (webhook === undefined) throw noWebhook(id)
  const at = now()
  const rowId = newOrderedId(at)
  await store.write(addTestEvent, {
    id: rowId,
    webhook: { id, isRead: webhook.url === null ? 1 : 0 },
    at,
  })
  if (webhook.url === null) return 'waits'
  for (let waitedMs = 0; waitedMs < maxWaitMs; waitedMs += pollMs) {
    await sleep(pollMs)
    const [row] = await store.read(listOutbox, { id: rowId, limit: 1 })
    if (row === undefined) return 'accepted'
    if (row.tries === 0) continue
    const failing = await store.read(findWebhook, id)
    const [last] = failing === undefined ? [] : displayedWebhook(failing).attempts
    return unavailable(
      `The request was not accepted: ${last?.outcome}`,
      'It is sent again: carillon outbox list.',
    )
  }
  return unavailable(
    'No service sent the request within 30 s',
    'Start the service; the request waits for it.',
  )
}
