// Reads each setting from an option, else the environment, else its default.
import { readFileSync } from 'node:fs'
import { CarillonError } from '../basics/errors.ts'
import { exposures } from './exposure.ts'
import { type Config, type Setting, settings } from './settings.ts'
import { unknownNames } from './unknown-names.ts'
import { maskPasswords } from './url-passwords.ts'
import { type Environment, invalid, type SettingFault } from './values.ts'

export type Flags = { readonly [N in Setting['name']]?: string | undefined }

/** Throws INVALID_REQUEST with all faults; none has a secret. */
export function readConfig(env: Environment, flags: Flags = {}): Config {
  const { config, faults } = readSettings(env, flags)
  if (config === undefined || faults.length > 0) throw allFaults(faults)
  return config
}

/** `ignored`: names of no setting. */
export function readSettings(env: Environment, flags: Flags = {}) {
  const read = settings.map((setting) => ({
    key: setting.key,
    ...readSetting(setting, env, flags),
  }))
  const unreadable = read.flatMap(({ fault }) => fault ?? [])
  const found = read
    .filter(({ value }) => value !== undefined)
    .map(({ key, value }) => [key, value])
  const config: Config = Object.freeze(Object.fromEntries(found))
  const { misspelt, others } = unknownNames(env)
  const unread = read.flatMap(({ key, fault }) => (fault ? [key] : []))
  const faults = [...misspelt.map(noSetting), ...unreadable, ...exposures(config, env, unread)]
  return {
    config: unreadable.length === 0 ? config : undefined,
    faults,
    ignored: others.map(noSetting),
  }
}

function noSetting(field: string): SettingFault {
  return {
    field,
    reason: 'is not a setting',
    remedy: 'correct or remove the name; docs/config.md lists all settings',
  }
}

type Found = { text: string; field: string }

function readSetting(
  setting: Setting,
  env: Environment,
  flags: Flags,
): { value?: unknown; fault?: SettingFault } {
  let found: Found | undefined
  try {
    found = find(setting, env, flags)
    if (!found) return {}
    if (found.text === '') invalid('is empty', 'give a value, or leave the name out')
    return { value: setting.read(found.text) }
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error
    return {
      fault: {
        field: found?.field ?? setting.name,
        ...reasonOf(error, found && display(setting, found)),
      },
    }
  }
}

function reasonOf(
  { problem, remedy }: CarillonError,
  displayed: string | undefined,
): Omit<SettingFault, 'field'> {
  if (displayed === undefined)
    return remedy === undefined ? { reason: problem } : { reason: problem, remedy }
  return remedy === undefined
    ? { reason: displayed, remedy: problem }
    : { reason: `${displayed}; ${problem}`, remedy }
}

function find(setting: Setting, env: Environment, flags: Flags): Found | undefined {
  const fileName = `${setting.name}_FILE`
  const { [setting.name]: inEnvironment, [fileName]: path } = env
  if (path !== undefined && inEnvironment !== undefined)
    invalid(`and ${fileName} are both set`, 'keep one of them')
  const given = flags[setting.name] ?? inEnvironment
  if (given === undefined && path !== undefined)
    return { text: contentOf(path, fileName), field: fileName }
  const text = given ?? setting.default
  return text === undefined ? undefined : { text, field: setting.name }
}

const whyUnreadable: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'this process has no permission to read',
  EISDIR: 'is a folder',
}

/** Editors and `echo` add a last line break. */
function contentOf(path: string, fileName: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    const why = whyUnreadable[code] ?? `fails: ${code}`
    return invalid(`cannot be read: ${fileName} names ${JSON.stringify(path)}, which ${why}`)
  }
}

function display({ name, secret }: Setting, { text, field }: Found): string | undefined {
  if (text === '') return undefined
  if (secret) return 'has a value that is not displayed here'
  if (field !== name) return 'names a file with an invalid content'
  return `is ${JSON.stringify(maskPasswords(text).slice(0, 80))}`
}

function allFaults(faults: readonly SettingFault[]): CarillonError {
  const head =
    faults.length === 1 ? 'One setting is wrong:' : `${faults.length} settings are wrong:`
  const details = faults.map(({ field, reason, remedy }) => {
    return { field, reason: remedy ? `${reason}; ${remedy}` : reason }
  })
  const lines = details.map(({ field, reason }) => `  ${field} ${reason}`)
  return new CarillonError('INVALID_REQUEST', [head, ...lines].join('\n'), { details })
}
