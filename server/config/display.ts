// How are the settings in effect displayed? As they would be written, with secrets and passwords masked.
import { type Config, type Setting, type SettingName, table } from './settings.ts'
import { formatDuration } from './values.ts'

/** The settings in effect by name. Secrets, and passwords inside URLs, are masked. */
export function describeConfig(config: Config): Record<SettingName, string> {
  return Object.fromEntries(table.map((setting) => [setting.name, describe(setting, config[setting.key])])) as Record<
    SettingName,
    string
  >
}

function describe(setting: Setting, value: Config[keyof Config]): string {
  if (value === undefined) return `(${setting.absent})`
  if (setting.secret) return '(set, not shown)'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (typeof value === 'number') return setting.key.endsWith('Ms') ? formatDuration(value) : String(value)
  return typeof value === 'string' ? maskPasswords(value) : value.join(',') || 'none'
}

/** Masks from the colon after the user to the last `@`: too much rather than too little. */
export function maskPasswords(url: string): string {
  if (url.startsWith('sqlite:')) return url
  return url.replace(/:(?!\/\/).*@/, ':***@').replace(/([?&][^=&]*pass[^=&]*=)[^&]*/gi, '$1***')
}
