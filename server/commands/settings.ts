// Commands have no options for secrets, which the process list would show.
import { isIPv6 } from 'node:net'
import { userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import type { Source } from '../audit/entry.ts'
import { CarillonError } from '../basics/errors.ts'
import { type Flags, readConfig } from '../config/read.ts'
import { type Config, type Setting, settings } from '../config/settings.ts'
import { unknownNames } from '../config/unknown-names.ts'
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

export function withSettings(command: Command, family = command.name()): Command {
  for (const subcommand of command.commands) withSettings(subcommand, family)
  if (command.commands.length > 0) return command
  command.option('--json', 'one JSON value on stdout, for machines')
  for (const { name, meaning, default: fallback } of usedBy(family)) {
    const otherwise = fallback === undefined ? '' : `; default ${fallback}`
    command.addOption(new Option(`--${flagOf(name)} <value>`, `${meaning} (${name}${otherwise})`))
  }
  return command
}

/** `tail` reads settings for each token. */
const warned = new WeakSet<Command>()

/** A misspelt name stops `serve`, which would run for long without the setting. */
export function configOf(command: Command, options?: SettingOptions): Config {
  const env = { ...process.env }
  if (command.name() !== 'serve') {
    const { misspelt, others } = unknownNames(env)
    for (const name of misspelt) delete env[name]
    if (misspelt.length + others.length > 0 && !warned.has(command))
      warn(noSettings([...misspelt, ...others]))
    warned.add(command)
  }
  try {
    return readConfig(env, flagsOf(command, options))
  } catch (error) {
    if (error instanceof CarillonError) throw new WrongUse(error.message)
    throw error
  }
}

export function noSettings(names: readonly string[]): string {
  return `${names.join(', ')}: no setting has this name (docs/config.md); enableServiceLinks: false ends those of Kubernetes`
}

type SettingOptions = Readonly<Record<string, Setting['name']>>

/** `carillon user factors list` has the settings of `user`. */
function optionsOf(command: Command): SettingOptions {
  if (command.parent?.parent) return optionsOf(command.parent)
  return Object.fromEntries(usedBy(command.name()).map(({ name }) => [flagOf(name), name]))
}

export function flagsOf(command: Command, options = optionsOf(command)): Flags {
  const flags = Object.entries(options).map(([option, name]) => {
    const value: string | undefined = command.getOptionValue(
      new Option(`--${option}`).attributeName(),
    )
    // All users of this machine can read options of processes (L5).
    const problem = `a password in --${option} can be seen in the list of processes`
    if (value !== undefined && hasPassword(value))
      throw new WrongUse(`${problem}; set ${name} in the environment, or ${name}_FILE`)
    return [name, value]
  })
  return Object.fromEntries(flags)
}

/** Undefined if the service takes any free port. */
export function directUrl({ host, port }: Pick<Config, 'host' | 'port'>): string | undefined {
  if (port === 0) return undefined
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const reachable = loopback[host] ?? host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

export type Place = { store: Store; config: Config; now: () => number; source: Source }

export async function withStore<Result>(
  command: Command,
  work: (place: Place) => Promise<Result>,
): Promise<Result> {
  const config = configOf(command)
  refuseMissingDatabase(config.database)
  const { store } = await openStore(config.database, { onNotice: ({ sentence }) => warn(sentence) })
  const source = {
    actor: 'operator',
    address: null,
    userAgent: null,
    requestId: null,
    by: systemUser(),
  }
  try {
    return await work({ store, config, now: store.clock ?? Date.now, source })
  } finally {
    await store.close()
  }
}

export function onStore<Given extends unknown[]>(
  work: (place: Place, ...given: Given) => Promise<void>,
): (...given: [...Given, Command]) => Promise<void> {
  return (...given) =>
    withStore(given.at(-1) as Command, (place) => work(place, ...(given as unknown as Given)))
}

/** A container's process id may have no name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
