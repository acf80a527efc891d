import type { DeliveryRequest, NotificationChange } from 'carillon-client'
import { Command, Option } from 'commander'
import { notFound } from '../../basics/errors.ts'
import { configOf, withSettings } from '../settings.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { requestService } from '../terminal/service-request.ts'

type Text =
  | 'link'
  | 'key'
  | 'actor'
  | 'actorImage'
  | 'icon'
  | 'expires'
  | 'issuer'
  | 'update'
  | 'resolve'
  | 'withdraw'
type Options = Output &
  Partial<Record<Text, string>> &
  Pick<NotificationChange, 'category' | 'format' | 'priority'> & {
    to?: string[]
    userId?: string[]
    externalId?: string[]
    refuseUnknown?: boolean
    title?: string
    body?: string
    data?: string
    action?: string[]
    renotify?: boolean
  }

const ofDelivery = ['to', 'userId', 'externalId', 'refuseUnknown', 'key', 'renotify']
const ofContent = [
  'title',
  'body',
  'format',
  'link',
  'category',
  'data',
  'actor',
  'actorImage',
  'icon',
  'action',
  'expires',
  'priority',
]

export function makeCommand(): Command {
  const update = new Option(
    '--update <key>',
    'change what is given, in all inboxes that have a notification with this key',
  )
  const resolve = new Option('--resolve <key>', 'mark it as read and archive it, in all of them')
  const withdraw = new Option('--withdraw <key>', 'remove it from all of them')
  const command = new Command('send')
    .description(
      'Send a notification. The producer key is read from CARILLON_PRODUCER_KEY or its _FILE',
    )
    .option('--to <name...>', 'the username of a recipient; may be repeated')
    .option('--user-id <id...>', "Carillon's id of a recipient; may be repeated")
    .option('--external-id <id...>', 'the id of a recipient in your application; may be repeated')
    .option('--issuer <url>', 'the issuer of every --external-id; without it they are plain ids')
    .option('--refuse-unknown', 'send nothing if one recipient is unknown')
    .option('--title <text>', 'up to 200 characters, or a JSON object with one for each language')
    .option('--body <text>', 'up to 4,000 characters, or a JSON object with one for each language')
    .option('--format <name>', 'of the body: text or markdown')
    .option('--link <url>', 'the target of a click: http, https or a path')
    .option('--category <name>', 'the category of the notification')
    .option('--data <json>', 'a JSON object for the application, up to 8 KiB')
    .option('--actor <name>', 'who did it')
    .option('--actor-image <url>', 'the picture of the actor')
    .option('--icon <name>', 'a name such as bell, or the URL of a picture')
    .option(
      '--action <json...>',
      'a button, such as {"label":"Pay","url":"/pay"}; may be repeated once',
    )
    .option('--priority <name>', 'low, normal or high')
    .option('--expires <time>', 'when it is removed, such as 2030-12-31T00:00:00Z')
    .option(
      '--key <text>',
      'a later notification with this key replaces the text of the earlier one',
    )
    .option(
      '--renotify',
      'with --key: a notification that is replaced becomes unread and the newest',
    )
    .addOption(update.conflicts(ofDelivery))
    .addOption(resolve.conflicts([...ofDelivery, ...ofContent, 'update']))
    .addOption(withdraw.conflicts([...ofDelivery, ...ofContent, 'update', 'resolve']))
  return withSettings(command).action(send)
}

async function send(options: Options, command: Command): Promise<void> {
  const { to = [], userId = [], externalId = [], issuer, update, resolve, withdraw } = options
  const names = [...to, ...userId, ...externalId]
  const key = update ?? resolve ?? withdraw
  if (key === undefined && names.length === 0)
    throw new WrongUse(
      'Name recipients with --to, --user-id or --external-id, or give one of --update, --resolve and --withdraw',
    )
  if (key === undefined && options.title === undefined) throw new WrongUse('Give a --title')
  if (issuer !== undefined && externalId.length === 0)
    throw new WrongUse('--issuer needs --external-id')
  const content = contentOf(options)
  const { url, producerKey } = configOf(command)
  if (producerKey === undefined)
    throw new WrongUse(
      'Set CARILLON_PRODUCER_KEY, or CARILLON_PRODUCER_KEY_FILE, to a key from: carillon key add NAME',
    )
  const { createProducer } = await import('carillon-client')
  const producer = createProducer({ baseUrl: url, key: producerKey })
  if (key !== undefined) {
    const changed = await requestService(url, () => {
      if (resolve !== undefined) return producer.resolveByKey(key)
      return withdraw === undefined ? producer.updateByKey(key, content) : producer.removeByKey(key)
    })
    return print(options, changed, () => `Changed in ${changed.inboxes} inboxes`)
  }
  const request = {
    ...content,
    recipients: [
      ...to.map((username) => ({ username })),
      ...userId.map((id) => ({ userId: id })),
      ...externalId.map((id) => ({ externalId: id, issuer })),
    ],
    unknownRecipients: options.refuseUnknown && 'refuse',
    key: options.key,
    renotify: options.renotify,
  } as DeliveryRequest
  const nameOf = (field: string) => names.find((_, n) => field === `recipients.${n}`) ?? field
  // A user waits at the prompt. All attempts share the idempotency key.
  const { deliveryId, results } = await requestService(
    url,
    () => producer.send(request, { attempts: 3 }),
    nameOf,
  )
  const isUnknown = (i: number) => results[i]?.status === 'unknown_recipient'
  const unknown = names.filter((_, i) => isUnknown(i))
  print(options, { deliveryId, results }, () =>
    names.filter((_, i) => !isUnknown(i)).map((name) => `Sent to ${name}`),
  )
  if (unknown.length > 0) throw notFound(`There is no user ${unknown.join(', ')}`)
}

function contentOf(options: Options): NotificationChange {
  const {
    title,
    body,
    link,
    category,
    data,
    actor,
    actorImage,
    icon,
    action,
    format,
    expires,
    priority,
  } = options
  return {
    title: title?.startsWith('{') ? readObject('--title', title) : title,
    body: body?.startsWith('{') ? readObject('--body', body) : body,
    url: link,
    category,
    data: data && readObject('--data', data),
    actor: (actor ?? actorImage) && { name: actor, imageUrl: actorImage },
    icon: icon && /[/.:]/.test(icon) ? { imageUrl: icon } : icon,
    actions: action?.map((one) => readObject('--action', one)),
    format,
    expiresAt: expires,
    priority,
  } as NotificationChange
}

function readObject(option: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongUse(`${option} takes a JSON object, such as {"order":7}`)
  }
}
