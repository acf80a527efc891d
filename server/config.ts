// What can be set, and what holds when nothing is? One table of settings -> a frozen Config, or every fault at once.
// Only serve.ts and the commands read it, and they pass the environment in; config-page.ts shows the same table.

import { readFileSync } from 'node:fs'
import {
  duration,
  integer,
  isLoopback,
  longest,
  minute,
  oneOf,
  readDatabaseUrl,
  readHost,
  readOrigin,
  readOrigins,
  readProducerKey,
  readSecret,
  readSwitch,
  second,
  unfit,
  written,
} from './config-values.ts'
import { CarillonError, type Fault } from './errors.ts'

/** The settings in effect. Durations are milliseconds; an absent field says in the table what takes its place. */
export type Config = {
  readonly host: string
  /** TCP port; 0 takes any free one. */
  readonly port: number
  /** `scheme:rest`; store/open.ts decides which schemes it speaks. */
  readonly databaseUrl: string
  readonly databasePartitions: number
  readonly targetUrl?: string
  /** An origin (RFC 6454), without a trailing slash. Absent: serve derives it from host and port. */
  readonly publicUrl?: string
  readonly insecureHttp: boolean
  readonly variant: 'stateful' | 'stateless'
  readonly secret?: string
  readonly sessionIdleMs: number
  readonly sessionLifetimeMs: number
  readonly tokenLifetimeMs: number
  readonly tokenChainMs: number
  /** Code points. */
  readonly passwordMin: number
  readonly streamsPerUser: number
  readonly streams: number
  /** Origins exactly as browsers send them. */
  readonly allowedOrigins: readonly string[]
  readonly firstStart: boolean
  readonly logLevel: (typeof logLevels)[number]
  readonly url: string
  readonly producerKey?: string
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

type SettingOf<K extends keyof Config> = {
  name: `CARILLON_${string}`
  key: K
  /** What is read when nothing is set. */
  default?: string
  /** Where there is no default: what happens instead. */
  absent?: string
  /** One sentence for docs/config.md. */
  meaning: string
  /** The value is never shown. */
  secret?: true
  /** The commands that use it; all of them when left out. */
  commands?: readonly string[]
  /** Turns the text into the value; throws a CarillonError that says what would be right. */
  read: (text: string) => NonNullable<Config[K]>
}
export type Setting = { [K in keyof Config]-?: SettingOf<K> }[keyof Config]

/** The one table. Its order is the order of docs/config.md and of `describeConfig`. */
export const settings = [
  {
    name: 'CARILLON_HOST',
    key: 'host',
    default: '127.0.0.1',
    meaning: 'The address to listen on; `0.0.0.0` or `::` for every interface.',
    commands: ['serve', 'doctor'],
    read: readHost,
  },
  {
    name: 'CARILLON_PORT',
    key: 'port',
    default: '7464',
    meaning: 'The TCP port to listen on; `0` takes any free one.',
    commands: ['serve', 'doctor'],
    read: integer(0, 65535),
  },
  {
    name: 'CARILLON_DATABASE_URL',
    key: 'databaseUrl',
    default: 'sqlite:data/carillon.db',
    meaning:
      'Where everything is kept: `sqlite:` and a path, or `postgres://user@host/database` (PostgreSQL 15 or later).',
    commands: ['serve', 'user', 'key', 'migrate', 'doctor', 'backup', 'restore', 'move'],
    read: readDatabaseUrl,
  },
  {
    name: 'CARILLON_DATABASE_PARTITIONS',
    key: 'databasePartitions',
    default: '8',
    meaning:
      'On PostgreSQL: the parts that the first migration makes of what belongs to users. Later it changes nothing.',
    commands: ['serve', 'migrate', 'restore', 'move'],
    read: integer(1, 256),
  },
  {
    name: 'CARILLON_TARGET_URL',
    key: 'targetUrl',
    absent: 'not set',
    meaning: 'The empty database that everything is moved to, written like `CARILLON_DATABASE_URL`.',
    commands: ['move'],
    read: readDatabaseUrl,
  },
  {
    name: 'CARILLON_PUBLIC_URL',
    key: 'publicUrl',
    absent: 'derived from host and port',
    meaning: 'The origin under which browsers reach the service, such as `https://bell.example.org`.',
    commands: ['serve', 'doctor'],
    read: readOrigin,
  },
  {
    name: 'CARILLON_INSECURE_HTTP',
    key: 'insecureHttp',
    default: 'off',
    meaning: '`on` allows plain HTTP beyond this machine, where passwords and cookies can be read on the way.',
    commands: ['serve', 'doctor'],
    read: readSwitch,
  },
  {
    name: 'CARILLON_VARIANT',
    key: 'variant',
    default: 'stateful',
    meaning:
      'How `POST /login` signs in when the request does not say: `stateful` (a cookie) or `stateless` (a token).',
    commands: ['serve'],
    read: oneOf(['stateful', 'stateless']),
  },
  {
    name: 'CARILLON_SECRET',
    key: 'secret',
    absent: 'made at the first start and kept beside the SQLite file',
    meaning: 'Seals the signing keys in the store; at least 32 characters, random, and the same on every node.',
    secret: true,
    commands: ['serve', 'doctor'],
    read: readSecret,
  },
  {
    name: 'CARILLON_SESSION_IDLE',
    key: 'sessionIdleMs',
    default: '7d',
    meaning: 'A session that is not used for this long ends.',
    commands: ['serve'],
    read: duration(second, longest),
  },
  {
    name: 'CARILLON_SESSION_LIFETIME',
    key: 'sessionLifetimeMs',
    default: '30d',
    meaning: 'A session ends this long after its sign-in, however much it is used; at most `400d`.',
    commands: ['serve'],
    read: duration(second, longest),
  },
  {
    name: 'CARILLON_TOKEN_LIFETIME',
    key: 'tokenLifetimeMs',
    default: '15m',
    meaning: 'An access token is good for this long; at most `15m`.',
    commands: ['serve'],
    read: duration(second, 15 * minute),
  },
  {
    name: 'CARILLON_TOKEN_CHAIN',
    key: 'tokenChainMs',
    default: '12h',
    meaning: 'Access tokens can be renewed until this long after their sign-in.',
    commands: ['serve'],
    read: duration(second, longest),
  },
  {
    name: 'CARILLON_PASSWORD_MIN',
    key: 'passwordMin',
    default: '15',
    meaning: 'The shortest password that may be chosen, in characters; from 8 to 64.',
    commands: ['serve', 'user'],
    read: integer(8, 64),
  },
  {
    name: 'CARILLON_STREAMS_PER_USER',
    key: 'streamsPerUser',
    default: '20',
    meaning: 'How many live streams, held polls included, a user may have open on one process; at most 1,000.',
    commands: ['serve'],
    read: integer(1, 1_000),
  },
  {
    name: 'CARILLON_STREAMS',
    key: 'streams',
    default: '20000',
    meaning: 'How many live streams, held polls included, one process may have open.',
    commands: ['serve'],
    read: integer(1, 1_000_000),
  },
  {
    name: 'CARILLON_ALLOWED_ORIGINS',
    key: 'allowedOrigins',
    default: 'none',
    meaning: 'Other origins whose pages may call the service, exact and separated by commas; `none` for none.',
    commands: ['serve', 'doctor'],
    read: readOrigins,
  },
  {
    name: 'CARILLON_FIRST_START',
    key: 'firstStart',
    default: 'on',
    meaning: '`off` makes no user and no key when the store is empty.',
    commands: ['serve'],
    read: readSwitch,
  },
  {
    name: 'CARILLON_LOG',
    key: 'logLevel',
    default: 'info',
    meaning: 'How much is logged: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    commands: ['serve'],
    read: oneOf(logLevels),
  },
  {
    name: 'CARILLON_URL',
    key: 'url',
    default: 'http://127.0.0.1:7464',
    meaning: 'Where the command finds the running service.',
    commands: ['send', 'tail'],
    read: readOrigin,
  },
  {
    name: 'CARILLON_PRODUCER_KEY',
    key: 'producerKey',
    absent: 'not set',
    meaning: 'The producer key that the command sends with.',
    secret: true,
    commands: ['send'],
    read: readProducerKey,
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof settings)[number]['name']

/** The environment; `undefined` is the same as absent. */
export type Environment = Readonly<Record<string, string | undefined>>
/** Options of the command line, by the name of their setting. */
export type Flags = { readonly [N in SettingName]?: string | undefined }

export const table: readonly (Setting & { name: SettingName })[] = settings

/**
 * Option, else environment, else default. Throws one CarillonError (`INVALID_REQUEST`) whose `details` are all the
 * faults and whose message has a line for each; no secret and no content of a `_FILE` is in it.
 */
export function readConfig(env: Environment, flags: Flags = {}): Config {
  const faults = unknownNames(env)
  const values: Record<string, unknown> = {}
  for (const setting of table) {
    const { value, fault } = readSetting(setting, env, flags)
    if (fault) faults.push(fault)
    else if (value !== undefined) values[setting.key] = value
  }
  faults.push(...faultsBetween(values as Partial<Config>))
  if (faults.length > 0) throw allFaults(faults)
  return Object.freeze(values as Config)
}

type Found = { text: string; origin: 'option' | 'environment' | 'file' | 'default'; field: string }

function readSetting(setting: Setting & { name: SettingName }, env: Environment, flags: Flags) {
  let found: Found | undefined
  try {
    found = find(setting, env, flags)
    if (!found) return {}
    if (found.text === '') unfit('is empty; give a value, or leave the name out')
    return { value: setting.read(found.text) }
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error
    const field = found?.field ?? setting.name
    return { fault: { field, reason: found?.text ? `${shown(setting, found)}; ${error.message}` : error.message } }
  }
}

function find(setting: Setting & { name: SettingName }, env: Environment, flags: Flags): Found | undefined {
  const twin = `${setting.name}_FILE`
  const path = env[twin]
  const inEnvironment = env[setting.name]
  if (path !== undefined && inEnvironment !== undefined) unfit(`and ${twin} are both set; keep one of them`)
  const flag = flags[setting.name]
  if (flag !== undefined) return { text: flag, origin: 'option', field: setting.name }
  if (inEnvironment !== undefined) return { text: inEnvironment, origin: 'environment', field: setting.name }
  if (path !== undefined) return { text: contentOf(path, twin), origin: 'file', field: twin }
  if (setting.default !== undefined) return { text: setting.default, origin: 'default', field: setting.name }
  return undefined
}

const whyUnreadable: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this process',
  EISDIR: 'is a folder',
}

/** The file's text without its last line break: editors and `echo` add one, and nobody means it. */
function contentOf(path: string, twin: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    return unfit(
      `cannot be read: ${twin} names ${JSON.stringify(path)}, which ${whyUnreadable[code] ?? `fails: ${code}`}`,
    )
  }
}

function shown(setting: Setting, { text, origin }: Found): string {
  if (setting.secret) return 'has a value that is not shown here'
  if (origin === 'file') return 'names a file whose content does not fit'
  return `is ${JSON.stringify(maskPasswords(text).slice(0, 80))}`
}

function allFaults(faults: readonly Fault[]): CarillonError {
  const head = faults.length === 1 ? 'One setting is wrong:' : `${faults.length} settings are wrong:`
  const lines = faults.map(({ field, reason }) => `  ${field} ${reason}`)
  return new CarillonError('INVALID_REQUEST', [head, ...lines].join('\n'), { details: faults })
}

// Faults that no single setting has.

function faultsBetween(config: Partial<Config>): Fault[] {
  const { sessionIdleMs, sessionLifetimeMs, tokenLifetimeMs, tokenChainMs } = config
  const faults = exposedHttp(config)
  if (sessionIdleMs !== undefined && sessionLifetimeMs !== undefined && sessionIdleMs > sessionLifetimeMs) {
    const reason = `is ${written(sessionIdleMs)}, longer than CARILLON_SESSION_LIFETIME (${written(sessionLifetimeMs)})`
    faults.push({ field: 'CARILLON_SESSION_IDLE', reason: `${reason}; make it that long at most` })
  }
  if (tokenLifetimeMs !== undefined && tokenChainMs !== undefined && tokenChainMs < tokenLifetimeMs) {
    const reason = `is ${written(tokenChainMs)}, shorter than CARILLON_TOKEN_LIFETIME (${written(tokenLifetimeMs)})`
    faults.push({ field: 'CARILLON_TOKEN_CHAIN', reason: `${reason}; make it that long at least` })
  }
  return faults
}

const remedy =
  'where passwords can be read on the way; set CARILLON_PUBLIC_URL=https://... behind a TLS proxy, ' +
  'or CARILLON_INSECURE_HTTP=on'

/** A public URL decides; without one the address that is listened on does. */
function exposedHttp({ host, publicUrl, insecureHttp }: Partial<Config>): Fault[] {
  if (insecureHttp !== false) return []
  if (publicUrl !== undefined) {
    const { protocol, hostname } = new URL(publicUrl)
    if (protocol === 'https:' || isLoopback(hostname)) return []
    return [{ field: 'CARILLON_PUBLIC_URL', reason: `is ${JSON.stringify(publicUrl)}: plain HTTP, ${remedy}` }]
  }
  if (host === undefined || isLoopback(host)) return []
  return [{ field: 'CARILLON_HOST', reason: `is ${JSON.stringify(host)}: plain HTTP beyond this machine, ${remedy}` }]
}

function unknownNames(env: Environment): Fault[] {
  const known: string[] = table.flatMap(({ name }) => [name, `${name}_FILE`])
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('CARILLON_') && env[name] !== undefined && !known.includes(name),
  )
  return unknown.map((name) => ({ field: name, reason: whyUnknown(name, known) }))
}

/** Kubernetes gives every pod such names for each Service; one that is called `carillon` takes ours. */
const serviceLink = /^CARILLON_(SERVICE_(HOST|PORT)|PORT_\d+_)/

function whyUnknown(name: string, known: readonly string[]): string {
  if (serviceLink.test(name)) return 'is no setting but a Kubernetes service link; set enableServiceLinks: false'
  const distances = known.map((other) => editDistance(name, other))
  return `is no setting; the nearest one is ${known[distances.indexOf(Math.min(...distances))]}`
}

/** Levenshtein: how many characters to put in, take out or replace to get from a to b. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

// How settings are shown.

/** The settings in effect by name, as they would be written; secrets and passwords inside URLs are masked. */
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
  if (typeof value === 'number') return setting.key.endsWith('Ms') ? written(value) : String(value)
  return typeof value === 'string' ? maskPasswords(value) : value.join(',') || 'none'
}

/** Rather hides too much than too little: from the colon after the user to the last `@`. */
function maskPasswords(url: string): string {
  if (url.startsWith('sqlite:')) return url
  return url.replace(/:(?!\/\/).*@/, ':***@').replace(/([?&][^=&]*pass[^=&]*=)[^&]*/gi, '$1***')
}
