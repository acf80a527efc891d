// The settings of a command: an option for each that it uses, unless it is a secret, which the process list would show.
import { type Command, Option } from 'commander'
import { type Flags, readConfig } from '../config/read.ts'
import { type Config, settings } from '../config/settings.ts'
import { refuseMissingDatabase } from '../database-file.ts'
import { CarillonError, type Fault } from '../errors.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { WrongUse } from './output.ts'

type Setting = { name: string; meaning: string; secret?: true; default?: string; commands?: readonly string[] }
const all = settings as readonly Setting[]

function usedBy(command: string): Setting[] {
  return all.filter(({ secret, commands }) => secret !== true && (commands === undefined || commands.includes(command)))
}

function flagOf(name: string): string {
  return name.slice('CARILLON_'.length).toLowerCase().replaceAll('_', '-')
}

/** Adds `--port` for CARILLON_PORT, and so on, and `--json`. `family` is the command's name in the table of settings. */
export function withSettings(command: Command, family: string): Command {
  command.option('--json', 'one JSON value on stdout, for machines')
  for (const { name, meaning, default: fallback } of usedBy(family)) {
    const otherwise = fallback === undefined ? '' : `; default ${fallback}`
    command.addOption(new Option(`--${flagOf(name)} <value>`, `${meaning} (${name}${otherwise})`))
  }
  return command
}

/** Option, else environment, else default; every fault at once. */
export function configOf(command: Command, family: string): Config {
  const { config, faults, message } = configOrFaults(command, family)
  if (faults !== undefined) throw new WrongUse(message)
  return config
}

type Found =
  | { config: Config; faults?: undefined; message?: undefined }
  | { config?: undefined; faults: readonly Fault[]; message: string }

/** As `configOf`, for who has more to say than the faults. */
export function configOrFaults(command: Command, family: string): Found {
  const given = command.opts<Record<string, string | undefined>>()
  const flags = usedBy(family).map(({ name }) => {
    const option = flagOf(name).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    return [name, given[option]] as const
  })
  refuseShownPassword(flags)
  try {
    return { config: readConfig(process.env, Object.fromEntries(flags) as Flags) }
  } catch (error) {
    if (error instanceof CarillonError && error.details) return { faults: error.details, message: error.message }
    throw error
  }
}

/** Whoever is on this machine reads the options of every process. */
function refuseShownPassword(flags: readonly (readonly [name: string, value: string | undefined])[]): void {
  for (const [name, value = ''] of flags) {
    const { password, searchParams } = URL.parse(value) ?? {}
    if (!password && !searchParams?.has('password')) continue
    throw new WrongUse(
      `a password in --${flagOf(name)} can be seen in the list of processes; set ${name} in the environment, or ${name}_FILE`,
    )
  }
}

/** As `configOf`, for a command whose options have other names than their settings. */
export function configWith(flags: Flags): Config {
  try {
    return readConfig(process.env, flags)
  } catch (error) {
    if (error instanceof CarillonError) throw new WrongUse(error.message)
    throw error
  }
}

/** Opens the store for one piece of work and closes it whatever becomes of that. */
export async function withStore<Result>(config: Config, work: (store: Store) => Promise<Result>): Promise<Result> {
  refuseMissingDatabase(config.databaseUrl)
  const { store } = await openStore(config.databaseUrl)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
