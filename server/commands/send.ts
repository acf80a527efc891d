// `carillon send`: sends a notification through HTTP, as any producer does.
import { randomUUID } from 'node:crypto'
import { Command } from 'commander'
import { CarillonError } from '../errors.ts'
import { type Output, print, WrongUse } from './output.ts'
import { configOf, withSettings } from './settings.ts'

type Options = Output & {
  to: string[]
  title: string
  body?: string
  link?: string
  category?: string
  data?: string
  key?: string
}
type Outcome = { deliveryId: string; results: { userId: string | null; id: string | null; status: string }[] }

export function sendCommand(): Command {
  const command = new Command('send')
    .description('Send a notification. The producer key is read from CARILLON_PRODUCER_KEY or its _FILE')
    .requiredOption('--to <name>', 'the username of a recipient; may be repeated', collect)
    .requiredOption('--title <text>', 'up to 200 characters')
    .option('--body <text>', 'up to 4,000 characters')
    .option('--link <url>', 'where it leads: http, https or a path')
    .option('--category <name>', 'what kind it is')
    .option('--data <json>', 'an object for the application, up to 8 KiB')
    .option('--key <text>', 'a later notification with this key replaces the text of the earlier')
  return withSettings(command, 'send').action((options) => send(command, options))
}

function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

async function send(command: Command, options: Options): Promise<void> {
  const { url, producerKey } = configOf(command, 'send')
  if (producerKey === undefined)
    throw new WrongUse('Set CARILLON_PRODUCER_KEY, or CARILLON_PRODUCER_KEY_FILE, to a key from: carillon key add NAME')
  const { to, title, body, link, category, data, key } = options
  const request = {
    recipients: to.map((username) => ({ username })),
    title,
    ...(body !== undefined && { body }),
    ...(link !== undefined && { url: link }),
    ...(category !== undefined && { category }),
    ...(data !== undefined && { data: readObject(data) }),
    ...(key !== undefined && { key }),
  }
  const { deliveryId, results } = await post(`${url}/api/notifications`, request, producerKey)
  const unknown = to.filter((_, i) => results[i]?.status === 'unknown_recipient')
  print(options, { deliveryId, results }, () =>
    to.filter((name) => !unknown.includes(name)).map((name) => `Sent to ${name}`),
  )
  if (unknown.length > 0) throw new CarillonError('NOT_FOUND', `There is no user ${unknown.join(', ')}`)
}

function readObject(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongUse('--data takes a JSON object, such as {"order":7}')
  }
}

async function post(url: string, body: unknown, producerKey: string): Promise<Outcome> {
  const headers = {
    authorization: `Bearer ${producerKey}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch((cause: unknown) => {
    throw new CarillonError('UNAVAILABLE', `Nothing answers at ${url}. Is the service running?`, { cause })
  })
  const answer = (await response.json().catch(() => ({}))) as Partial<Refusal> & { data?: Outcome }
  if (answer.data !== undefined) return answer.data
  throw new CarillonError('INVALID_REQUEST', refusalText(answer.error, response.status))
}

type Refusal = { error: { message: string; details?: { field: string; reason: string }[] } }

function refusalText(error: Refusal['error'] | undefined, status: number): string {
  if (error === undefined) return `The service answered ${status}, and not as Carillon does`
  const details = error.details?.map(({ field, reason }) => `\n  ${field} ${reason}`) ?? []
  return `The service refused it: ${error.message}${details.join('')}`
}
