// `carillon key`: add, list, revoke the keys of producers.
import { Command } from 'commander'
import { ProducerKeys, type Scope, scopes } from '../sign-in/producer-key.ts'
import type { Producer, Store } from '../store/store.ts'
import { configOf, withSettings, withStore } from './settings.ts'
import { day, type Output, print, table, WrongUse } from './terminal/output.ts'

const dayMs = 86_400_000

export function keyCommand(): Command {
  const add = withSettings(
    new Command('add')
      .argument('<name>', 'what the key is for')
      .description('Make a producer key and show it once')
      .option('--scope <scopes>', `comma-separated: ${scopes.join(', ')}`, 'send')
      .option('--expires <days>', 'such as 365d; without it the key does not expire'),
    'key',
  )
  add.action((name, options) => addOne(add, name, options))
  const list = withSettings(new Command('list').description('List the keys, without their secrets'), 'key')
  list.action((options) => withKeys(list, ({ store }) => listAll(store, options)))
  const revoke = withSettings(new Command('revoke').argument('<id>').description('Revoke a key, at once'), 'key')
  revoke.action((id, options) => withKeys(revoke, ({ keys }) => revokeOne(keys, id, options)))
  const key = new Command('key').description('Make, list and revoke the keys that producers send with')
  for (const command of [add, list, revoke]) key.addCommand(command)
  return key
}

function withKeys(command: Command, work: (parts: { store: Store; keys: ProducerKeys }) => Promise<void>) {
  return withStore(configOf(command, 'key'), (store) =>
    work({ store, keys: new ProducerKeys({ store, now: Date.now }) }),
  )
}

async function addOne(
  command: Command,
  name: string,
  options: Output & { scope: string; expires?: string },
): Promise<void> {
  const wanted = { name, scopes: readScopes(options.scope), expiresAt: readExpiry(options.expires, Date.now()) }
  await withKeys(command, async ({ keys }) => {
    const { id, key } = await keys.issue(wanted)
    print(options, { id, ...wanted, key }, () => [
      `Made the key ${id} for ${name} (${wanted.scopes.join(', ')}; expires ${day(wanted.expiresAt)})`,
      `key: ${key}`,
      'It is displayed once.',
    ])
  })
}

async function revokeOne(keys: ProducerKeys, id: string, options: Output): Promise<void> {
  await keys.revoke(id)
  print(options, { id, revoked: true }, () => `Revoked ${id}`)
}

async function listAll(store: Store, options: Output): Promise<void> {
  const producers = await store.listProducers()
  const rows = producers.map((producer) => [
    producer.id,
    producer.name,
    producer.scopes.join(','),
    day(producer.createdAt),
    day(producer.expiresAt),
    day(producer.lastUsedAt),
    day(producer.revokedAt),
  ])
  print(options, producers.map(withoutHash), () =>
    producers.length === 0
      ? 'There are no keys yet. Make one with: carillon key add NAME'
      : table(['id', 'name', 'scopes', 'created', 'expires', 'last used', 'revoked'], rows),
  )
}

function withoutHash({ secretHash: _, ...shown }: Producer): Omit<Producer, 'secretHash'> {
  return shown
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((part) => part.trim())
  const unknown = wanted.find((scope) => !(scopes as readonly string[]).includes(scope))
  if (unknown !== undefined) throw new WrongUse(`--scope takes ${scopes.join(', ')}; it does not know "${unknown}"`)
  return [...new Set(wanted)] as Scope[]
}

function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1]
  if (days === undefined) throw new WrongUse('--expires takes a number of days, such as 365d')
  return now + Number(days) * dayMs
}
