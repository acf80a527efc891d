import { Command } from 'commander'
import { iso } from '../../basics/clock.ts'
import { unavailable } from '../../basics/errors.ts'
import { newOrderedId } from '../../basics/ids.ts'
import { integer } from '../../config/values.ts'
import { type EventType, eventTypes } from '../../inbox/webhook-events.store.ts'
import { keysAndSealing } from '../../tokens/signing-keys.ts'
import { addTestEvent } from '../../webhooks/looks.store.ts'
import { findWebhook, listWebhooks } from '../../webhooks/webhooks.store.ts'
import { addWebhook, displayedWebhook, noWebhook, removeWebhook } from '../../webhooks/webhooks.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import {
  type Output,
  print,
  printList,
  readApplication,
  reading,
  WrongUse,
} from '../terminal/output.ts'
import { triedRow } from './tries.ts'

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
  unreadAfter?: number
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
      reading('--unread-after', integer(0, 43_200)),
    )
    .option(
      '--application <name>',
      'whose notifications; without it, those of keys without an application',
      readApplication,
    )
    .addHelpText('after', addHelp)
    .action(onStore(addOne))
  webhook
    .command('list')
    .description('List the webhooks, without their secrets')
    .action(onStore(listAll))
  webhook
    .command('test <id>')
    .description('Send an event to a webhook')
    .addHelpText('after', testHelp)
    .action(onStore(test))
  webhook
    .command('remove <id>')
    .description('Remove a webhook, and what waits for it')
    .action(onStore(removeOne))
  return withSettings(webhook)
}

async function addOne(place: Place, options: Added): Promise<void> {
  const { event: given = [], category: categories = null, url = null } = options
  const { application = '', unreadAfter = null } = options
  const unknown = given.find((name) => !(eventTypes as readonly string[]).includes(name))
  if (given.length === 0 || unknown !== undefined)
    throw new WrongUse(`--event takes one of ${eventTypes.join(', ')}`)
  const wanted = { url, events: given as EventType[], categories, unreadAfter }
  const { sealing } = await keysAndSealing(place)
  const making = { ...place, sealing, allowsPrivate: place.config.outboundPrivate }
  const { webhook, secret } = await addWebhook(making, application, wanted)
  print(options, { ...displayedWebhook(webhook), secret }, () => [
    `Added the webhook ${webhook.id}: ${webhook.events}; ${url === null ? 'its events wait to be read' : `to ${url}`}`,
    `secret: ${secret}`,
    'It is displayed once.',
  ])
}

async function listAll({ store }: Place, options: Output): Promise<void> {
  const found = await store.read(listWebhooks)
  const items = found.map((one) => ({
    ...displayedWebhook(one),
    application: one.application || null,
  }))
  printList(options, items, {
    columns: {
      id: 'id',
      application: 'application',
      url: ({ url }) => url ?? '(read)',
      events: 'events',
      'last success': ({ lastSuccessAt }) => lastSuccessAt && iso(lastSuccessAt),
      state: stateOf,
    },
    empty: 'There are no webhooks yet. Add one with: carillon webhook add',
  })
}

function stateOf({ attempts, failingSince, disabledAt }: ReturnType<typeof displayedWebhook>) {
  if (failingSince === null) return 'ok'
  const state = disabledAt === null ? 'failing since' : 'disabled at'
  return `${state} ${iso(disabledAt ?? failingSince)}: ${attempts[0]?.outcome}`
}

async function removeOne(place: Place, id: string, options: Output): Promise<void> {
  await removeWebhook(place, id, null)
  print(options, { id, removed: true }, () => `Removed ${id}`)
}

async function test({ store, now }: Place, id: string, options: Output): Promise<void> {
  const webhook = await store.read(findWebhook, id)
  if (webhook === undefined) throw noWebhook(id)
  const at = now()
  const rowId = newOrderedId(at)
  const isRead = webhook.url === null
  await store.write(addTestEvent, { id: rowId, webhook: { id, isRead: isRead ? 1 : 0 }, at })
  const waits = `The event waits to be read at GET /api/webhooks/${id}/events`
  if (isRead) return print(options, { sent: false, waits: true }, () => waits)
  const row = await triedRow(store, rowId)
  if (row === undefined) return print(options, { sent: true }, () => 'The request was accepted')
  if (row.tries === 0)
    throw unavailable(
      'No service sent the request within 30 s',
      'Start the service; the request waits for it.',
    )
  const failing = await store.read(findWebhook, id)
  const [last] = failing === undefined ? [] : displayedWebhook(failing).attempts
  throw unavailable(
    `The request was not accepted: ${last?.outcome}`,
    'It is sent again: carillon outbox list.',
  )
}
