import { Argument, Command } from 'commander'
import { record } from '../../audit/audit.store.ts'
import { type Facts, recorded } from '../../audit/entry.ts'
import { iso } from '../../basics/clock.ts'
import { refuseMissingDatabase } from '../../start/database-file.ts'
import { configOf, withSettings, withStore } from '../settings.ts'
import { type Output, print } from '../terminal/output.ts'

const help = `
Every process then serves reads, and responds to each write with 503. Nobody can sign in or out; who is signed in stays so.`

export function makeCommand(): Command {
  const command = new Command('maintenance')
    .addArgument(new Argument('[state]', 'default: only say which').choices(['on', 'off']))
    .description('Make the service read-only, and end that')
  return withSettings(command).addHelpText('after', help).action(maintenance)
}

async function maintenance(
  wanted: 'on' | 'off' | undefined,
  options: Output,
  command: Command,
): Promise<void> {
  const { allowWrites, openEndpoint, refuseWrites, stateOf } = await import(
    '../../store/transfer/endpoint/endpoint.ts'
  )
  const { database } = configOf(command)
  refuseMissingDatabase(database)
  await using endpoint = await openEndpoint(database)
  let state = await stateOf(endpoint, 'maintenance')
  if (wanted === 'on' && state === null) {
    await recordAct(command, 'maintenance-began')
    state = { startedAt: Date.now() }
    try {
      await refuseWrites(endpoint, 'maintenance', state)
    } catch (error) {
      await recordAct(command, 'maintenance-ended')
      throw error
    }
  }
  if (wanted === 'off' && state !== null) {
    await allowWrites(endpoint, 'maintenance')
    state = null
    await recordAct(command, 'maintenance-ended')
  }
  print(options, { maintenance: state }, () =>
    state === null
      ? 'The service accepts writes'
      : `The service can only be read since ${iso(state.startedAt)}: to end that, run carillon maintenance off`,
  )
}

function recordAct(command: Command, event: Facts['event']): Promise<void> {
  return withStore(command, async (place) => {
    await place.store.write(record, recorded(place, { event }).audit)
  })
}
