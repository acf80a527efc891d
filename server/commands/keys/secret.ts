import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { auditEntry } from '../../audit/entry.ts'
import { iso } from '../../basics/clock.ts'
import { conflict } from '../../basics/errors.ts'
import { Sealing, type Secrets } from '../../basics/secrets.ts'
import { day, duration } from '../../config/values.ts'
import {
  type Counts,
  countSealedOtherwise,
  type OtherTexts,
  sealAgain,
} from '../../factors/re-sealing.ts'
import { beginChange, endChange, secretsIn } from '../../tokens/sealing-secret.ts'
import { resealWebhooks, sealedWebhooks } from '../../webhooks/webhooks.store.ts'
import { configOf, type Place, withSettings, withStore } from '../settings.ts'
import { type Output, print, readOption, WrongUse } from '../terminal/output.ts'

const help = `
Everything that the secret before had sealed is sealed with the new one. Sessions, access tokens and second factors stay.
First set CARILLON_SECRET to the new secret and CARILLON_SECRET_PREVIOUS to the one before, on every node, and restart the nodes one
after another. On SQLite without CARILLON_SECRET, the command makes the new secret itself, also while the service runs.

Backups from before need the secret before. If the command made the new one, it leaves that beside it for --keep days, in carillon.secret.until-DATE. If the secret has leaked, --keep 0.`

export function makeCommand(): Command {
  const secret = new Command('secret').description('Change the secret of the service')
  secret
    .command('rotate')
    .description('Seal everything with the new secret; every user stays signed in')
    .option(
      '--keep <days>',
      'how long the secret before stays beside the new one, for older backups; 0 keeps none',
      '30',
    )
    .addHelpText('after', help)
    .action(rotate)
  return withSettings(secret)
}

const others: OtherTexts[] = [
  { purpose: 'webhooks', name: 'webhook', read: sealedWebhooks, reseal: resealWebhooks },
]

async function rotate(options: Output & { keep: string }, command: Command): Promise<void> {
  const keepMs = readOption('--keep', `${options.keep}d`, duration(0, 3_650 * day))
  const { database, secret: current, previousSecret: previous } = configOf(command)
  if (current === undefined && (database.engine === 'postgres' || previous !== undefined))
    throw new WrongUse(
      'Set CARILLON_SECRET to the new secret, and CARILLON_SECRET_PREVIOUS to the one before',
    )
  if (current !== undefined && previous === undefined)
    throw new WrongUse(
      'Set CARILLON_SECRET_PREVIOUS to the secret before, and CARILLON_SECRET to the new one',
    )
  await withStore(command, async (place) => {
    const { store, source } = place
    const isGenerated = current === undefined && database.engine === 'sqlite'
    if (isGenerated) await refuseUnopened(place)
    const secrets = isGenerated ? beginChange(database.path) : ({ current, previous } as Secrets)
    const at = place.now()
    const audit = (detail: Counts) => auditEntry(source, { event: 'secret-rotated', at, detail })
    const counts = await sealAgain(store, secrets, { audit, pause: () => sleep(2_000), others })
    const keptUntil = keepMs === 0 ? undefined : iso(at + keepMs).slice(0, 10)
    const kept = isGenerated ? endChange(database.path, keptUntil) : undefined
    print(options, { ...counts, isGenerated, kept }, () => report(counts, isGenerated, kept))
  })
}

async function refuseUnopened({ store, config }: Place): Promise<void> {
  const secrets = secretsIn(config)
  if (secrets === undefined)
    throw conflict('There is no secret beside the database yet', 'The first start makes one.')
  await countSealedOtherwise(store, new Sealing(secrets), others)
}

function report(
  { signingKeys, factors }: Counts,
  isGenerated: boolean,
  kept: string | undefined,
): string[] {
  const sealed = `Sealed with the new secret: signing keys ${signingKeys}, second factors ${factors}.`
  const done =
    signingKeys + factors === 0 ? 'Everything is sealed with the current secret.' : sealed
  const removed =
    'CARILLON_SECRET_PREVIOUS is no longer needed: remove it, and restart the nodes one after another.'
  const need = 'Backups from before need the secret before'
  if (!isGenerated) return [done, removed, `${need}: keep it as long as them.`]
  const place = `it is in ${kept}, which the service deletes after that day. Copy it to where you keep them.`
  const before = kept === undefined ? `${need}, which was not kept.` : `${need}: ${place}`
  return [done, 'The new secret is in the file beside the database. Back it up.', before]
}
