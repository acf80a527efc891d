// Records in the audit log which settings differ from those of the last start, of any node. Secrets are only `set` or `not set`.
import type { Config } from '../config/settings.ts'
import { settings } from '../config/settings.ts'
import { maskPasswords } from '../config/url-passwords.ts'
import { auditEntry, serviceSource } from '../sign-in/audit/entry.ts'
import type { AuditEntry, Store } from '../store/store.ts'

type Texts = Readonly<Record<string, string>>

export async function recordSettings(store: Store, config: Config, now: () => number): Promise<void> {
  const entry = settingsEntry(textsOf(config), (await store.lastSettingsEntry())?.detail ?? null, now())
  if (entry !== undefined) await store.recordAudit([entry])
}

/** Undefined if nothing changed. Each setting that changed is a detail of its own; `settings` has all of them, for the next start. */
export function settingsEntry(texts: Texts, last: AuditEntry['detail'], at: number): AuditEntry | undefined {
  const before: Texts = typeof last?.settings === 'string' ? JSON.parse(last.settings) : {}
  const names = [...new Set([...Object.keys(before), ...Object.keys(texts)])]
  const changed = names.filter((name) => before[name] !== texts[name])
  if (last !== null && changed.length === 0) return undefined
  const changes =
    last === null ? [] : changed.map((name) => [name, `${before[name] ?? 'not set'} -> ${texts[name] ?? 'not set'}`])
  const detail = { ...Object.fromEntries(changes), settings: JSON.stringify(texts) }
  return auditEntry(serviceSource, { event: 'settings-changed', at, detail })
}

/** Each text is masked by itself: a value with several, such as a sender's name and address, is no URL as a whole. */
function displayed(value: unknown): string {
  if (typeof value === 'string') return maskPasswords(value)
  return JSON.stringify(value, (_, part) => (typeof part === 'string' ? maskPasswords(part) : part))
}

export function textsOf(config: Config): Texts {
  const ofService = settings.filter(({ commands }) => commands.includes('serve'))
  return Object.fromEntries(
    ofService.map(({ name, key, secret }) => {
      const value: unknown = config[key]
      if (value === undefined) return [name, 'not set']
      return [name, secret ? 'set' : displayed(value)]
    }),
  )
}
