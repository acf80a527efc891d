import { Command } from 'commander'
import { iso } from '../../basics/clock.ts'
import { day as dayMs, duration, invalid, readSwitch } from '../../config/values.ts'
import { formatRate, readRate } from '../../producers/key-rates.ts'
import { displayedKey, ProducerKeys, type Scope, scopes } from '../../producers/producer-key.ts'
import { type KeyRate, listProducers } from '../../producers/producers.store.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { day, type Output, print, printList, readApplication, reading } from '../terminal/output.ts'

export function makeCommand(): Command {
  const key = new Command('key').description('Add, list, rotate and revoke the keys of producers')
  key
    .command('add')
    .argument('<name>', 'the purpose of the key')
    .description('Add a producer key and display it once')
    .option(
      '--scope <scopes>',
      'comma-separated: send (deliveries), users (users and tokens for them), webhooks (events for the application); default: send',
      reading('--scope', readScopes),
    )
    .option(
      '--creates-users <on|off>',
      'off: its deliveries create no user for an external id that is unknown; default: on',
      reading('--creates-users', readSwitch),
    )
    .option(
      '--application <name>',
      'the key reaches the users of this application, and no others',
      readApplication,
    )
    .option(
      '--rate <rate>',
      'how many requests it may send, such as 20/s, 600/m or 5000/h; without this option any number',
      reading('--rate', readRate),
    )
    .option(
      '--expires <days>',
      'such as 365d; without this option the key does not expire',
      reading('--expires', duration(dayMs, 99_999 * dayMs)),
    )
    .action(onStore(addOne))
  key.command('list').description('List the keys, without their secrets').action(onStore(listAll))
  key
    .command('rotate <id>')
    .description(
      'Give a key a new secret, displayed once; the one before is accepted until the overlap ends',
    )
    .option(
      '--overlap <duration>',
      'such as 30m or 7d; 0s refuses the secret before at once; default: 24h',
      reading('--overlap', duration(0, 90 * dayMs)),
    )
    .addHelpText('after', '\nExample:\n  npx carillon key rotate 0123456789abcdef --overlap 48h')
    .action(onStore(rotateOne))
  key
    .command('revoke <id>')
    .description('Revoke a key; takes effect at once')
    .action(onStore(revokeOne))
  return withSettings(key)
}

type AddOptions = Output & {
  scope?: Scope[]
  createsUsers?: boolean
  application?: string
  /** Milliseconds. */
  expires?: number
  rate?: KeyRate
}

async function addOne(place: Place, name: string, options: AddOptions): Promise<void> {
  const { scope = ['send'], createsUsers = true, application, expires, rate = null } = options
  const expiresAt = expires === undefined ? null : place.now() + expires
  const wanted = {
    name,
    application,
    scopes: scope,
    ...(!createsUsers && { createsUsers }),
    expiresAt,
  }
  const { id, key } = await new ProducerKeys(place).issue({ ...wanted, rate })
  const shownRate = rate && formatRate(rate)
  const atMost = shownRate ? `; at most ${shownRate}` : ''
  const limits = `${scope.join(', ')}${createsUsers ? '' : '; creates no users'}${atMost}; expires ${day(expiresAt)}`
  print(options, { id, ...wanted, rate: shownRate, key }, () => [
    `Added the key ${id} for ${name} (${application === undefined ? '' : `application ${application}; `}${limits})`,
    ...once(key),
  ])
}

async function rotateOne(
  place: Place,
  id: string,
  options: Output & { overlap?: number },
): Promise<void> {
  const { overlap = dayMs } = options
  const { key, previousUntil } = await new ProducerKeys(place).rotate(id, overlap)
  print(options, { id, key, previousUntil }, () => [
    `Rotated ${id}; the secret before is accepted until ${iso(previousUntil)}`,
    ...once(key),
  ])
}

function once(key: string): string[] {
  return [`key: ${key}`, 'It is displayed once.']
}

async function revokeOne(place: Place, id: string, options: Output): Promise<void> {
  await new ProducerKeys(place).revoke(id)
  print(options, { id, revoked: true }, () => `Revoked ${id}`)
}

async function listAll({ store }: Place, options: Output): Promise<void> {
  const items = (await store.read(listProducers)).map(displayedKey)
  const on = (field: 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt') => {
    return (one: (typeof items)[number]) => day(one[field])
  }
  printList(options, items, {
    columns: {
      id: 'id',
      name: 'name',
      application: 'application',
      scopes: 'scopes',
      'creates users': ({ createsUsers }) => (createsUsers ? 'on' : 'off'),
      rate: 'rate',
      created: on('createdAt'),
      expires: on('expiresAt'),
      'last used': on('lastUsedAt'),
      revoked: on('revokedAt'),
    },
    empty: 'There are no keys yet. Add one with: carillon key add NAME',
  })
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((scope) => scope.trim())
  const isKnown = wanted.every((scope) => (scopes as readonly string[]).includes(scope))
  return isKnown ? ([...new Set(wanted)] as Scope[]) : invalid(`write ${scopes.join(', ')}`)
}
