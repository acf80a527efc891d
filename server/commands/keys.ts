// `carillon keys`: list, rotate, drop the keys that sign access tokens. The keys of producers: key.ts.
import { Command } from 'commander'
import { auditEntry } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { CarillonError, conflict } from '../basics/errors.ts'
import type { Config } from '../config/settings.ts'
import { sealingSecrets } from '../start/sealing-secret.ts'
import type { Store } from '../store/store.ts'
import { makeSigningKey, sealingOf } from '../tokens/key-material.ts'
import { lastOf, publishedAheadMs, type Scheduled, scheduleOf } from '../tokens/key-schedule.ts'
import { dropSigningKey, signingKeys } from '../tokens/signing-keys.store.ts'
import { publishKey } from '../tokens/signing-keys.ts'
import { configOf, operatorSource, withSettings, withStore } from './settings.ts'
import { type Output, print, readDuration, table } from './terminal/output.ts'

const dayMs = 86_400_000

const examples = {
  list: `
Example:
  npx carillon keys list --json`,
  rotate: `
The next key is in the key set at once. Nodes sign with it once every cache of the key set has it, and accept tokens of the
key before until the last of them has expired. No token is refused.

Example:
  npx carillon keys rotate`,
  drop: `
For a key that was stolen: every token of it is refused on every node within a second, so its users sign in again (sessions
stay). Nodes sign with a new key at once.

Example:
  npx carillon keys drop u0fTyPzS6TjBbl-9hRJhNXyU1BzS1DlSbnsQwDnLmQ0`,
}

export function keysCommand(): Command {
  const keys = new Command('keys').description('List, rotate and drop the keys that sign access tokens')
  keys
    .command('list')
    .description('List the signing keys, and which of them signs')
    .addHelpText('after', examples.list)
    .action((options, command) => withKeys(command, ({ store }) => listAll(store, options)))
  keys
    .command('rotate')
    .description('Publish the next signing key; no token is refused')
    .option('--after <duration>', 'how long it is published before nodes sign with it', `${publishedAheadMs / 60_000}m`)
    .addHelpText('after', examples.rotate)
    .action((options, command) => rotate(command, options))
  keys
    .command('drop <kid>')
    .description('Refuse every token of a stolen key at once, and sign with a new one')
    .addHelpText('after', examples.drop)
    .action((kid, options, command) => withKeys(command, (place) => drop(place, kid, options)))
  for (const command of keys.commands) withSettings(command, 'keys')
  return keys
}

type Place = { store: Store; config: Config; now: () => number }

function withKeys(command: Command, work: (place: Place) => Promise<void>): Promise<void> {
  const config = configOf(command, 'keys')
  return withStore(config, (store) => work({ store, config, now: store.clock ?? Date.now }))
}

async function listAll(store: Store, options: Output): Promise<void> {
  const keys = scheduleOf(await store.read(signingKeys), (store.clock ?? Date.now)())
  const rows = keys.map((key) => Object.values(displayed(key)).map((cell) => cell ?? '-'))
  print(options, keys.map(displayed), () => {
    if (rows.length === 0) return 'There are no signing keys yet. The first start makes one.'
    return table(['kid', 'state', 'created', 'signs from', 'accepted until'], rows)
  })
}

function displayed({ key: { kid, createdAt, startsAt }, state, until }: Scheduled) {
  const acceptedUntil = until === null ? null : iso(until)
  return { kid, state, createdAt: iso(createdAt), startsAt: iso(startsAt), acceptedUntil }
}

async function rotate(command: Command, options: Output & { after: string }): Promise<void> {
  const aheadMs = readDuration('--after', options.after, { min: 0, max: 30 * dayMs })
  await withKeys(command, async (place) => {
    const { store, now } = place
    const { keys, sealing } = await openKeys(place)
    const at = now()
    const startsAt = at + aheadMs
    const after = lastOf(keys)?.kid ?? null
    const kid = await publishKey({ store, sealing }, { at, startsAt, after, source: operatorSource() })
    if (kid === undefined)
      throw conflict('Another key was added at the same moment', 'Look at it with: carillon keys list')
    print(options, { kid, startsAt: iso(startsAt) }, () => [
      `Published the signing key ${kid}`,
      `Nodes sign with it from ${iso(startsAt)}; tokens of the key before are accepted until they expire.`,
    ])
  })
}

async function drop(place: Place, kid: string, options: Output): Promise<void> {
  const { store, now } = place
  const { keys, sealing } = await openKeys(place)
  const at = now()
  const known = keys.filter(({ retiredAt }) => retiredAt === null)
  const key = await makeSigningKey(sealing, { createdAt: at, startsAt: at })
  const detail = { kid, replacedBy: key.kid }
  const audit = [auditEntry(operatorSource(), { event: 'signing-key-dropped', at, detail })]
  const isKnown = known.some((one) => one.kid === kid)
  if (!isKnown || (await store.write(dropSigningKey, { kid, key, audit })) === 'absent')
    throw new CarillonError('NOT_FOUND', `There is no signing key ${kid} in use`, {
      remedy: `There ${known.length === 1 ? 'is' : 'are'} ${known.map((one) => one.kid).join(', ')}.`,
    })
  print(options, { kid, dropped: true, replacedBy: key.kid }, () => [
    `Dropped the signing key ${kid}; its tokens are refused`,
    `Nodes sign with ${key.kid} now.`,
  ])
}

/** Throws CONFLICT before the first start, and UNAVAILABLE if the secret does not open the keys: no node could open a new one. */
async function openKeys({ store, config }: Place) {
  const keys = await store.read(signingKeys)
  if (keys.length === 0) throw conflict('There are no signing keys yet', 'The first start makes one.')
  return { keys, sealing: await sealingOf(await sealingSecrets(config, store), keys) }
}
