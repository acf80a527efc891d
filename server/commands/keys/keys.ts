import { Command } from 'commander'
import { auditEntry } from '../../audit/entry.ts'
import { iso, isoOrNull } from '../../basics/clock.ts'
import { conflict, notFound } from '../../basics/errors.ts'
import { day, duration } from '../../config/values.ts'
import { makeSigningKey } from '../../tokens/key-material.ts'
import { lastOf, publishedAheadMs, scheduleOf } from '../../tokens/key-schedule.ts'
import { dropSigningKey, signingKeys } from '../../tokens/signing-keys.store.ts'
import { keysAndSealing, publishKey } from '../../tokens/signing-keys.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { type Output, print, printList, reading } from '../terminal/output.ts'

const help = {
  rotate: `
The next key is in the key set at once. Nodes sign with it once every cache of the key set has it, and accept tokens of the
key before until the last of them has expired. No token is refused.`,
  drop: `
For a key that was stolen: every token of it is refused on every node within a second, so its users sign in again (sessions
stay). Nodes sign with a new key at once.`,
}

export function makeCommand(): Command {
  const keys = new Command('keys').description(
    'List, rotate and drop the keys that sign access tokens',
  )
  keys
    .command('list')
    .description('List the signing keys, and which of them signs')
    .action(onStore(listAll))
  keys
    .command('rotate')
    .description('Publish the next signing key; no token is refused')
    .option(
      '--after <duration>',
      `how long it is published before nodes sign with it; default: ${publishedAheadMs / 60_000}m`,
      reading('--after', duration(0, 30 * day)),
    )
    .addHelpText('after', help.rotate)
    .action(onStore(rotate))
  keys
    .command('drop <kid>')
    .description('Refuse every token of a stolen key at once, and sign with a new one')
    .addHelpText('after', help.drop)
    .action(onStore(drop))
  return withSettings(keys)
}

async function listAll({ store, now }: Place, options: Output): Promise<void> {
  const keys = scheduleOf(await store.read(signingKeys), now())
  const items = keys.map(({ key: { kid, createdAt, startsAt }, state, until }) => {
    return {
      kid,
      state,
      createdAt: iso(createdAt),
      startsAt: iso(startsAt),
      acceptedUntil: isoOrNull(until),
    }
  })
  const columns = {
    kid: 'kid',
    state: 'state',
    created: 'createdAt',
    'signs from': 'startsAt',
    'accepted until': 'acceptedUntil',
  } as const
  const empty = 'There are no signing keys yet. The first start makes one.'
  printList(options, items, { columns, empty })
}

async function rotate(place: Place, options: Output & { after?: number }): Promise<void> {
  const { store, source, keys, sealing, at } = await openKeys(place)
  const startsAt = at + (options.after ?? publishedAheadMs)
  const next = { at, startsAt, after: lastOf(keys)?.kid ?? null, source }
  const kid = await publishKey({ store, sealing }, next)
  if (kid === undefined)
    throw conflict(
      'Another key was added at the same moment',
      'Look at it with: carillon keys list',
    )
  print(options, { kid, startsAt: iso(startsAt) }, () => [
    `Published the signing key ${kid}`,
    `Nodes sign with it from ${iso(startsAt)}; tokens of the key before are accepted until they expire.`,
  ])
}

async function drop(place: Place, kid: string, options: Output): Promise<void> {
  const { store, source, keys, sealing, at } = await openKeys(place)
  const known = keys.filter(({ retiredAt }) => retiredAt === null).map((one) => one.kid)
  const key = await makeSigningKey(sealing, { createdAt: at, startsAt: at })
  const detail = { kid, replacedBy: key.kid }
  const audit = [auditEntry(source, { event: 'signing-key-dropped', at, detail })]
  if (!known.includes(kid) || (await store.write(dropSigningKey, { kid, key, audit })) === 'absent')
    throw notFound(`There is no signing key ${kid} in use`, `In use: ${known.join(', ')}.`)
  print(options, { kid, dropped: true, replacedBy: key.kid }, () => [
    `Dropped the signing key ${kid}; its tokens are refused`,
    `Nodes sign with ${key.kid} now.`,
  ])
}

async function openKeys(place: Place) {
  return { ...place, ...(await keysAndSealing(place)), at: place.now() }
}
