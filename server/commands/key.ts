import { Command } from 'commander'
import { iso } from '../basics/clock.ts'
import { day as dayMs, duration, readSwitch } from '../config/values.ts'
import { formatRate, readRate } from '../producers/key-rates.ts'
import { ProducerKeys, type Scope, scopes } from '../producers/producer-key.ts'
import { listProducers } from '../producers/producers.store.ts'
import { withSettings, withStore } from './settings.ts'
import {
  day,
  type Output,
  print,
  readApplication,
  readOption,
  table,
  WrongUse,
} from './terminal/output.ts'

export function makeCommand(): Command {
  const key = new Command('key').description('Add, list, rotate and revoke the keys of producers')
  key
    .command('add')
    .argument('<name>', 'the purpose of the key')
    .description('Add a producer key and display it once')
    .option(
      '--scope <scopes>',
      'comma-separated: send (deliveries), users (users and tokens for them), webhooks (events for the application)',
      'send',
    )
    .option(
      '--creates-users <on|off>',
      'off: its deliveries create no user for an external id that is unknown',
      'on',
    )
    .option('--application <name>', 'the key reaches the users of this application, and no others')
    .option(
      '--rate <rate>',
      'how many requests it may send, such as 20/s, 600/m or 5000/h; without this option any number',
    )
    .option('--expires <days>', 'such as 365d; without this option the key does not expire')
    .action(addOne)
  key.command('list').description('List the keys, without their secrets').action(listAll)
  key
    .command('rotate <id>')
    .description(
      'Give a key a new secret, displayed once; the one before is accepted until the overlap ends',
    )
    .option(
      '--overlap <duration>',
      'such as 30m or 7d; 0s refuses the secret before at once',
      '24h',
    )
    .addHelpText('after', '\nExample:\n  npx carillon key rotate 0123456789abcdef --overlap 48h')
    .action(rotateOne)
  key.command('revoke <id>').description('Revoke a key; takes effect at once').action(revokeOne)
  return withSettings(key)
}

type AddOptions = Output & {
  scope: string
  createsUsers: string
  application?: string
  expires?: string
  rate?: string
}

async function addOne(name: string, options: AddOptions, command: Command): Promise<void> {
  const application = readApplication(options.application)
  const expiresAt = readExpiry(options.expires, Date.now())
  const isOff = !readOption('--creates-users', options.createsUsers, readSwitch)
  const wanted = {
    name,
    application,
    scopes: readScopes(options.scope),
    ...(isOff && { createsUsers: false }),
    expiresAt,
  }
  const rate = options.rate === undefined ? null : readOption('--rate', options.rate, readRate)
  const shownRate = rate && formatRate(rate)
  const { id, key } = await withStore(command, (place) =>
    new ProducerKeys(place).issue({ ...wanted, rate }),
  )
  const atMost = shownRate ? `; at most ${shownRate}` : ''
  const limits = `${wanted.scopes.join(', ')}${isOff ? '; creates no users' : ''}${atMost}; expires ${day(expiresAt)}`
  print(options, { id, ...wanted, rate: shownRate, key }, () => [
    `Added the key ${id} for ${name} (${application === undefined ? '' : `application ${application}; `}${limits})`,
    `key: ${key}`,
    'It is displayed once.',
  ])
}

async function rotateOne(
  id: string,
  options: Output & { overlap: string },
  command: Command,
): Promise<void> {
  const overlapMs = readOption('--overlap', options.overlap, duration(0, 90 * dayMs))
  const { key, previousUntil } = await withStore(command, (place) =>
    new ProducerKeys(place).rotate(id, overlapMs),
  )
  print(options, { id, key, previousUntil }, () => [
    `Rotated ${id}; the secret before is accepted until ${iso(previousUntil)}`,
    `key: ${key}`,
    'It is displayed once.',
  ])
}

async function revokeOne(id: string, options: Output, command: Command): Promise<void> {
  await withStore(command, (place) => new ProducerKeys(place).revoke(id))
  print(options, { id, revoked: true }, () => `Revoked ${id}`)
}

async function listAll(options: Output, command: Command): Promise<void> {
  const producers = await withStore(command, ({ store }) => store.read(listProducers))
  const items = producers.map(
    ({ secretHash: _, previousSecretHash: __, application, rate, ...rest }) => {
      return { ...rest, application: application || null, rate: rate && formatRate(rate) }
    },
  )
  print(options, items, () => {
    if (items.length === 0) return 'There are no keys yet. Add one with: carillon key add NAME'
    const rows = items.map(
      ({ id, name, application, scopes: allowed, createsUsers, rate, ...at }) => {
        const days = [at.createdAt, at.expiresAt, at.lastUsedAt, at.revokedAt].map(day)
        return [
          id,
          name,
          application ?? '-',
          allowed.join(','),
          createsUsers ? 'on' : 'off',
          rate ?? '-',
          ...days,
        ]
      },
    )
    return table(
      [
        'id',
        'name',
        'application',
        'scopes',
        'creates users',
        'rate',
        'created',
        'expires',
        'last used',
        'revoked',
      ],
      rows,
    )
  })
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((scope) => scope.trim())
  const unknown = wanted.find((scope) => !(scopes as readonly string[]).includes(scope))
  if (unknown !== undefined)
    throw new WrongUse(`--scope takes ${scopes.join(', ')}, not "${unknown}"`)
  return [...new Set(wanted)] as Scope[]
}

function readExpiry(text: string | undefined, now: number): number | null {
  return text === undefined
    ? null
    : now + readOption('--expires', text, duration(dayMs, 99_999 * dayMs))
}
