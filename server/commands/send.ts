// `carillon send`: sends a notification by HTTP, as any producer does.
import type { DeliveryRequest } from 'carillon-client'
import { Command } from 'commander'
import { CarillonError } from '../basics/errors.ts'
import { configOf, withSettings } from './settings.ts'
import { type Output, print, WrongUse } from './terminal/output.ts'
import { requestService } from './terminal/service-request.ts'

type Recipients = { to?: string[]; externalId?: string[]; issuer?: string; refuseUnknown?: boolean }
type Content = { [Text in 'body' | 'link' | 'category' | 'data' | 'key']?: string } & { title: string; again?: boolean }
type Options = Output & Recipients & Content

export function sendCommand(): Command {
  const command = new Command('send')
    .description('Send a notification. The producer key is read from CARILLON_PRODUCER_KEY or its _FILE')
    .option('--to <name>', 'the username of a recipient; may be repeated', collect)
    .option('--external-id <id>', 'the id of a recipient in your application; may be repeated', collect)
    .option('--issuer <url>', 'the issuer of every --external-id; without it they are plain ids')
    .option('--refuse-unknown', 'send nothing if one recipient is unknown')
    .requiredOption('--title <text>', 'up to 200 characters')
    .option('--body <text>', 'up to 4,000 characters')
    .option('--link <url>', 'the target of a click: http, https or a path')
    .option('--category <name>', 'the category of the notification')
    .option('--data <json>', 'a JSON object for the application, up to 8 KiB')
    .option('--key <text>', 'a later notification with this key replaces the text of the earlier one')
    .option('--again', 'with --key: a notification that is replaced becomes unread and the newest')
  return withSettings(command).action(send)
}

function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

async function send(options: Options, command: Command): Promise<void> {
  const { to = [], externalId = [], issuer, title, body, link, category, data, key, again } = options
  const names = [...to, ...externalId]
  if (names.length === 0) throw new WrongUse('Name at least one recipient, with --to or --external-id')
  const { url, producerKey } = configOf(command)
  if (producerKey === undefined)
    throw new WrongUse('Set CARILLON_PRODUCER_KEY, or CARILLON_PRODUCER_KEY_FILE, to a key from: carillon key add NAME')
  // JSON leaves out what is undefined.
  const request = {
    recipients: [...to.map((username) => ({ username })), ...externalId.map((id) => ({ externalId: id, issuer }))],
    unknownRecipients: options.refuseUnknown && 'refuse',
    ...{ title, body, url: link, category, data: data === undefined ? data : readObject(data), key, again },
  } as DeliveryRequest
  const nameOf = (field: string) => names.find((_, n) => field === `recipients.${n}`) ?? field
  const { createProducer } = await import('carillon-client')
  const producer = createProducer({ baseUrl: url, key: producerKey })
  // Few attempts, because a user waits at the prompt. Each of them has the same idempotency key.
  const { deliveryId, results } = await requestService(url, () => producer.send(request, { attempts: 3 }), nameOf)
  const isUnknown = (i: number) => results[i]?.status === 'unknown_recipient'
  const unknown = names.filter((_, i) => isUnknown(i))
  print(options, { deliveryId, results }, () => names.filter((_, i) => !isUnknown(i)).map((name) => `Sent to ${name}`))
  if (unknown.length > 0) throw new CarillonError('NOT_FOUND', `There is no user ${unknown.join(', ')}`)
}

function readObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongUse('--data takes a JSON object, such as {"order":7}')
  }
}
