// The settings of a command: it has an option for each setting that it uses, except secrets, which the process list would show.
import { isIPv6 } from 'node:net'
import { userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import type { Source } from '../audit/entry.ts'
import { CarillonError } from '../basics/errors.ts'
import { type Flags, readConfig, readSettings } from '../config/read.ts'
import { type Config, type Setting, settings } from '../config/settings.ts'
import { hasPassword } from '../config/url-passwords.ts'
import { openStore } from '../open-store.ts'
import { refuseMissingDatabase } from '../start/database-file.ts'
import type { Store } from '../store/store.ts'
import { WrongUse, warn } from './terminal/output.ts'

function usedBy(command: string): Setting[] {
  return settings.filter(({ secret, commands }) => secret !== true && commands.includes(command))
}

function flagOf(name: string): string {
  return name.slice('CARILLON_'.length).toLowerCase().replaceAll('_', '-')
}

/** Adds `--port` for CARILLON_PORT, and so on, and `--json`. `family` is the command's name in the table of settings, also for its subcommands. */
export function withSettings(command: Command, family: string): Command {
  command.option('--json', 'one JSON value on stdout, for machines')
  for (const { name, meaning, default: fallback } of usedBy(family)) {
    const otherwise = fallback === undefined ? '' : `; default ${fallback}`
    command.addOption(new Option(`--${flagOf(name)} <value>`, `${meaning} (${name}${otherwise})`))
  }
  return command
}

/** Option, else environment, else default. Throws WrongUse with every fault. */
export function configOf(command: Command, family: string): Config {
  return configWith(givenOptions(command, family))
}

/** Reads the settings for doctor: the faults are findings, and `config` is absent only if a setting could not be read. */
export function configAndFaults(command: Command, family: string): ReturnType<typeof readSettings> {
  return readSettings(process.env, flagsOf(givenOptions(command, family)))
}

export type GivenOption = { option: string; name: Setting['name']; value: string | undefined }

/** Does what `configOf` does, for a command whose options have other names than their settings. */
export function configWith(options: readonly GivenOption[]): Config {
  try {
    return readConfig(process.env, flagsOf(options))
  } catch (error) {
    if (error instanceof CarillonError) throw new WrongUse(error.message)
    throw error
  }
}

function givenOptions(command: Command, family: string): GivenOption[] {
  return usedBy(family).map(({ name }) => {
    const option = flagOf(name)
    return { option, name, value: command.getOptionValue(new Option(`--${option}`).attributeName()) }
  })
}

function flagsOf(options: readonly GivenOption[]): Flags {
  // Every user of this machine can read the options of every process (L5).
  for (const { option, name, value } of options)
    if (value !== undefined && hasPassword(value))
      throw new WrongUse(
        `a password in --${option} can be seen in the list of processes; set ${name} in the environment, or ${name}_FILE`,
      )
  return Object.fromEntries(options.map(({ name, value }) => [name, value]))
}

/** The URL on which the service listens; undefined if it takes any free port. */
export function directUrl({ host, port }: Config): string | undefined {
  if (port === 0) return undefined
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

/** Who runs a command, for the audit log: an operator, and the user of the operating system. */
export function operatorSource(): Source {
  return { actor: 'operator', address: null, userAgent: null, requestId: null, by: systemUser() }
}

/** In a container the id of the process may have no name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Opens the store for `work` and closes it afterwards, also after a failure. */
export async function withStore<Result>(config: Config, work: (store: Store) => Promise<Result>): Promise<Result> {
  refuseMissingDatabase(config.database)
  const { store, notice } = await openStore(config.database)
  if (notice !== undefined) warn(notice)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
