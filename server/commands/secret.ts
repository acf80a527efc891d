// `carillon secret`: changes the secret that seals what the store must not hold in the clear.
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { Config } from '../config/settings.ts'
import { CarillonError } from '../errors.ts'
import { auditEntry } from '../sign-in/audit/entry.ts'
import { type Counts, countSealedOtherwise, sealAgain } from '../sign-in/re-sealing.ts'
import { Sealing, type Secrets } from '../sign-in/sealing.ts'
import { secretsIn } from '../start/sealing-secret.ts'
import { beginChange, endChange } from '../start/secret-files.ts'
import type { Store } from '../store/store.ts'
import { configOf, operatorSource, withSettings, withStore } from './settings.ts'
import { type Output, print, WrongUse } from './terminal/output.ts'

/** Every node has learned of the new signing keys by then. */
const pauseMs = 2_000

const help = `
Everything that the secret before had sealed is sealed with the new one. Sessions, access tokens and second factors stay.
First set CARILLON_SECRET to the new secret and CARILLON_SECRET_PREVIOUS to the one before, on every node, and restart the nodes one
after another. On SQLite without CARILLON_SECRET, the command makes the new secret itself, also while the service runs.

Example:
  npx carillon secret rotate`

export function secretCommand(): Command {
  const secret = new Command('secret').description('Change the secret of the service')
  secret
    .command('rotate')
    .description('Seal everything with the new secret; every user stays signed in')
    .addHelpText('after', help)
    .action((options, command) => rotate(command, options))
  for (const command of secret.commands) withSettings(command, 'secret')
  return secret
}

async function rotate(command: Command, options: Output): Promise<void> {
  const config = configOf(command, 'secret')
  const { database, secret, previousSecret } = config
  if (secret === undefined && (database.engine === 'postgres' || previousSecret !== undefined))
    throw new WrongUse('Set CARILLON_SECRET to the new secret, and CARILLON_SECRET_PREVIOUS to the one before')
  if (secret !== undefined && previousSecret === undefined)
    throw new WrongUse('Set CARILLON_SECRET_PREVIOUS to the secret before, and CARILLON_SECRET to the new one')
  await withStore(config, async (store) => {
    const isGenerated = secret === undefined && database.engine === 'sqlite'
    if (isGenerated) await refuseUnopened(store, config)
    const secrets = isGenerated
      ? beginChange(database.path)
      : ({ current: secret, previous: previousSecret } as Secrets)
    const at = (store.clock ?? Date.now)()
    const audit = (detail: Counts) => auditEntry(operatorSource(), { event: 'secret-rotated', at, detail })
    const counts = await sealAgain(store, secrets, { audit, pause: () => sleep(pauseMs) })
    if (isGenerated) endChange(database.path)
    print(options, { ...counts, isGenerated }, () => report(counts, isGenerated))
  })
}

/** Before a new secret is made: the one that is there must open everything. */
async function refuseUnopened(store: Store, config: Config): Promise<void> {
  const secrets = secretsIn(config)
  if (secrets === undefined)
    throw new CarillonError('CONFLICT', 'There is no secret beside the database yet', {
      remedy: 'The first start makes one.',
    })
  await countSealedOtherwise(store, new Sealing(secrets))
}

function report({ signingKeys, factors }: Counts, isGenerated: boolean): string[] {
  const next = isGenerated
    ? 'The new secret is in the file beside the database. Back it up.'
    : 'CARILLON_SECRET_PREVIOUS is no longer needed: remove it, and restart the nodes one after another.'
  if (signingKeys + factors === 0) return ['Everything is sealed with the current secret.', next]
  return [`Sealed with the new secret: signing keys ${signingKeys}, second factors ${factors}.`, next]
}
