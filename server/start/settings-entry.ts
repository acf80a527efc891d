// Records which settings differ from the last start. Secrets are `set` or `not set`.
import { hostname } from 'node:os'
import { lastSettingsEntry, record } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { type Config, settings } from '../config/settings.ts'
import { maskPasswords } from '../config/url-passwords.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'

/** Machines may have different settings. */
const source = { ...serviceSource, by: hostname() }

/** The values are JSON. */
type Values = Readonly<Record<string, unknown>>

export async function recordSettings(
  store: Store,
  config: Config,
  now: () => number,
): Promise<void> {
  const entry = settingsEntry(
    valuesOf(config),
    (await store.read(lastSettingsEntry))?.detail ?? null,
    now(),
  )
  if (entry !== undefined) await store.write(record, [entry])
}

/** Undefined without a change. Each change is a detail; `settings` has all, for the next start. */
export function settingsEntry(
  values: Values,
  last: AuditEntry['detail'],
  at: number,
): AuditEntry | undefined {
  const before = (last?.settings ?? {}) as Values
  const names = [...new Set([...Object.keys(before), ...Object.keys(values)])]
  const changed =
    last === null ? [] : names.filter((name) => textOf(before[name]) !== textOf(values[name]))
  if (last !== null && changed.length === 0) return undefined
  const changes = changed.map((name) => [
    name,
    `${textOf(before[name])} -> ${textOf(values[name])}`,
  ])
  const detail = { ...Object.fromEntries(changes), settings: values }
  return auditEntry(source, { event: 'settings-changed', at, detail })
}

function textOf(value: unknown = notSet): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const notSet = 'not set'

export function valuesOf(config: Config): Values {
  const ofService = settings.filter(({ commands }) => commands.includes('serve'))
  return Object.fromEntries(
    ofService.map(({ name, key, secret }) => {
      const value: unknown = config[key]
      if (value === undefined || (secret && Array.isArray(value) && value.length === 0))
        return [name, notSet]
      // Several texts, such as name and address, are no URL together.
      const masked = JSON.stringify(value, (_, part) =>
        typeof part === 'string' ? maskPasswords(part) : part,
      )
      return [name, secret ? 'set' : JSON.parse(masked)]
    }),
  )
}
