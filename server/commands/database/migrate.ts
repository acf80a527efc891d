import { Command } from 'commander'
import { openStore } from '../../open-store.ts'
import { refuseLostDatabase } from '../../start/database-file.ts'
import { configOf, withSettings } from '../settings.ts'
import { print, warn } from '../terminal/output.ts'
import { interruptible } from '../terminal/progress.ts'

export function makeCommand(): Command {
  const command = new Command('migrate').description("Bring the store to this program's schema")
  return withSettings(command).action(async (options) => {
    const { database, databasePartitions: partitions } = configOf(command)
    refuseLostDatabase(database)
    const state = () => 'No row is lost, and the next start continues.'
    const { store, migrations } = await interruptible(state, () =>
      openStore(database, { partitions, onNotice: ({ sentence }) => warn(sentence) }),
    )
    await store.close()
    print(options, { applied: migrations }, () =>
      migrations.length === 0
        ? 'The store is up to date'
        : migrations.map((name) => `Applied ${name}`),
    )
  })
}
