// All settings, in one table: name, default, meaning, and how the text is read. read.ts applies it to an environment, page.ts makes docs/config.md of it. Only serve.ts and the commands know it; they pass values on.

import { type Database, readDatabaseUrl } from './database-url.ts'
import {
  duration,
  integer,
  maxLifetime,
  minute,
  oneOf,
  readHost,
  readHosts,
  readOrigin,
  readOrigins,
  readProducerKey,
  readProxies,
  readSecret,
  readSwitch,
  second,
} from './values.ts'

/** The settings in effect. Durations are milliseconds. The table says what happens if an optional field is absent. */
export type Config = {
  readonly host: string
  /** TCP port; 0 takes any free one. */
  readonly port: number
  readonly database: Database
  readonly databasePartitions: number
  readonly target?: Database
  readonly insecureDatabase: boolean
  /** An origin (RFC 6454), without a trailing slash. Absent: serve derives it from host and port. */
  readonly publicUrl?: string
  readonly insecureHttp: boolean
  readonly variant: 'stateful' | 'stateless'
  readonly secret?: string
  readonly sessionIdleMs: number
  readonly sessionLifetimeMs: number
  readonly tokenLifetimeMs: number
  readonly tokenChainMs: number
  /** In code points. */
  readonly passwordMin: number
  readonly streamsPerUser: number
  readonly streams: number
  /** Origins exactly as browsers send them. */
  readonly allowedOrigins: readonly string[]
  /** Host names in lower case, without a port. */
  readonly allowedHosts: readonly string[]
  readonly hstsSubdomains: boolean
  /** Addresses and CIDR ranges, each in the spelling of ip-addresses.ts. */
  readonly trustedProxies: readonly string[]
  readonly drainGraceMs: number
  readonly firstStart: boolean
  readonly logLevel: (typeof logLevels)[number]
  readonly url: string
  readonly producerKey?: string
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

type SettingOf<K extends keyof Config> = {
  name: `CARILLON_${string}`
  key: K
  /** The text that is read if nothing is set. */
  default?: string
  /** For a setting without a default: what happens if it is not set. */
  absent?: string
  /** One sentence for docs/config.md. */
  meaning: string
  /** The value is never displayed. */
  secret?: true
  /** The commands that use it; absent for all of them. */
  commands?: readonly string[]
  /** Converts the text into the value; throws a CarillonError that says what to write instead. */
  read: (text: string) => NonNullable<Config[K]>
}
export type Setting = { [K in keyof Config]-?: SettingOf<K> }[keyof Config]

/** The one table. Its order is the order of docs/config.md . */
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
    meaning: 'The TCP port to listen on; `0` takes any free port.',
    commands: ['serve', 'doctor'],
    read: integer(0, 65535),
  },
  {
    name: 'CARILLON_DATABASE_URL',
    key: 'database',
    default: 'sqlite:data/carillon.db',
    meaning: 'The database: `sqlite:` and a path, or `postgres://user@host/database` (PostgreSQL 15 or later).',
    commands: ['serve', 'user', 'key', 'migrate', 'doctor', 'backup', 'restore', 'move'],
    read: readDatabaseUrl,
  },
  {
    name: 'CARILLON_DATABASE_PARTITIONS',
    key: 'databasePartitions',
    default: '8',
    meaning:
      'On PostgreSQL: how many partitions the first migration makes of each table that belongs to users. Later changes have no effect.',
    commands: ['serve', 'migrate', 'restore', 'move'],
    read: integer(1, 256),
  },
  {
    name: 'CARILLON_TARGET_URL',
    key: 'target',
    absent: 'not set',
    meaning: 'The empty database that `move` fills, in the form of `CARILLON_DATABASE_URL`.',
    commands: ['move'],
    read: readDatabaseUrl,
  },
  {
    name: 'CARILLON_INSECURE_DATABASE',
    key: 'insecureDatabase',
    default: 'off',
    meaning:
      '`on` allows PostgreSQL on another machine without TLS, although others on the network can then read all data.',
    commands: ['serve', 'user', 'key', 'migrate', 'doctor', 'backup', 'restore', 'move'],
    read: readSwitch,
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
    meaning:
      '`on` allows plain HTTP beyond this machine, although others on the network can then read passwords and cookies.',
    commands: ['serve', 'doctor'],
    read: readSwitch,
  },
  {
    name: 'CARILLON_VARIANT',
    key: 'variant',
    default: 'stateful',
    meaning:
      'How `POST /login` signs in if the request does not name a variant: `stateful` (a cookie) or `stateless` (a token).',
    commands: ['serve'],
    read: oneOf(['stateful', 'stateless']),
  },
  {
    name: 'CARILLON_SECRET',
    key: 'secret',
    absent: 'generated at the first start and stored beside the SQLite file',
    meaning: 'Encrypts the signing keys in the store; at least 32 random characters, and the same on every node.',
    secret: true,
    commands: ['serve', 'doctor'],
    read: readSecret,
  },
  {
    name: 'CARILLON_SESSION_IDLE',
    key: 'sessionIdleMs',
    default: '7d',
    meaning: 'A session ends if it is not used for this long.',
    commands: ['serve'],
    read: duration(second, maxLifetime),
  },
  {
    name: 'CARILLON_SESSION_LIFETIME',
    key: 'sessionLifetimeMs',
    default: '30d',
    meaning: 'A session ends this long after its sign-in, even if it is used; at most `400d`.',
    commands: ['serve'],
    read: duration(second, maxLifetime),
  },
  {
    name: 'CARILLON_TOKEN_LIFETIME',
    key: 'tokenLifetimeMs',
    default: '15m',
    meaning: 'The lifetime of an access token; at most `15m`.',
    commands: ['serve'],
    read: duration(second, 15 * minute),
  },
  {
    name: 'CARILLON_TOKEN_CHAIN',
    key: 'tokenChainMs',
    default: '12h',
    meaning: 'How long after the sign-in access tokens can be renewed.',
    commands: ['serve'],
    read: duration(second, maxLifetime),
  },
  {
    name: 'CARILLON_PASSWORD_MIN',
    key: 'passwordMin',
    default: '15',
    meaning: 'The minimum length of a password that a user or operator chooses, in characters; from 8 to 64.',
    commands: ['serve', 'user'],
    read: integer(8, 64),
  },
  {
    name: 'CARILLON_STREAMS_PER_USER',
    key: 'streamsPerUser',
    default: '20',
    meaning: 'How many live streams and held polls a user may have open on one process; at most 1,000.',
    commands: ['serve'],
    read: integer(1, 1_000),
  },
  {
    name: 'CARILLON_STREAMS',
    key: 'streams',
    default: '20000',
    meaning: 'How many live streams and held polls one process may have open.',
    commands: ['serve'],
    read: integer(1, 1_000_000),
  },
  {
    name: 'CARILLON_ALLOWED_ORIGINS',
    key: 'allowedOrigins',
    default: 'none',
    meaning: 'Other origins whose pages may call the service: exact origins, separated by commas, or `none`.',
    commands: ['serve', 'doctor'],
    read: readOrigins,
  },
  {
    name: 'CARILLON_ALLOWED_HOSTS',
    key: 'allowedHosts',
    default: 'none',
    meaning:
      'Further host names, separated by commas, that requests without `Authorization` may use to reach the service; or `none`.',
    commands: ['serve', 'doctor'],
    read: readHosts,
  },
  {
    name: 'CARILLON_HSTS_SUBDOMAINS',
    key: 'hstsSubdomains',
    default: 'off',
    meaning:
      '`on` adds `includeSubDomains` to HSTS: browsers then use only HTTPS for every name below that of the public URL.',
    commands: ['serve', 'doctor'],
    read: readSwitch,
  },
  {
    name: 'CARILLON_TRUSTED_PROXIES',
    key: 'trustedProxies',
    default: 'none',
    meaning:
      'The proxies whose `X-Forwarded-For` or `Forwarded` the service trusts: addresses and CIDR ranges, separated by commas, or `none`.',
    commands: ['serve', 'doctor'],
    read: readProxies,
  },
  {
    name: 'CARILLON_DRAIN_GRACE',
    key: 'drainGraceMs',
    default: '2500ms',
    meaning:
      'How long a stopping process still serves requests while `GET /readyz` answers 503, if a load balancer requested that before; make it longer than two intervals of the load balancer’s check.',
    commands: ['serve'],
    read: duration(0, 2 * minute),
  },
  {
    name: 'CARILLON_FIRST_START',
    key: 'firstStart',
    default: 'on',
    meaning: '`off` adds no user and no key if the store is empty.',
    commands: ['serve'],
    read: readSwitch,
  },
  {
    name: 'CARILLON_LOG',
    key: 'logLevel',
    default: 'info',
    meaning: 'The log level: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    commands: ['serve'],
    read: oneOf(logLevels),
  },
  {
    name: 'CARILLON_URL',
    key: 'url',
    default: 'http://127.0.0.1:7464',
    meaning: 'The URL of the running service.',
    commands: ['send', 'tail'],
    read: readOrigin,
  },
  {
    name: 'CARILLON_PRODUCER_KEY',
    key: 'producerKey',
    absent: 'not set',
    meaning: 'The producer key of the command.',
    secret: true,
    commands: ['send'],
    read: readProducerKey,
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof settings)[number]['name']

export const table: readonly (Setting & { name: SettingName })[] = settings
