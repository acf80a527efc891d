// All settings in one table. docs/config.md is made of it.
import { readDatabaseUrl } from './database-url.ts'
import { readIssuers } from './issuers.ts'
import { readProviders } from './providers.ts'
import * as values from './values.ts'
import {
  day,
  duration,
  hour,
  integer,
  maxLifetime,
  minute,
  oneOf,
  readSecret,
  second,
} from './values.ts'

type Row = {
  /** The field of Config; by default `publicUrl` for CARILLON_PUBLIC_URL. */
  key?: string
  /** A duration in milliseconds; its field ends with `Ms`. */
  isTime?: true
  default?: string | undefined
  range?: { min: number; max: number }
  /** What happens without the setting. */
  absent?: string
  secret?: true
  /** The commands that read it, separated by blanks; by default `serve`. */
  commands?: string
  /** Throws a CarillonError that says what to write. */
  read: (text: string) => unknown
}
type Entry = readonly [meaning: string, Row]

const on = { default: 'on', read: values.readSwitch } as const
const off = { default: 'off', read: values.readSwitch } as const
const orNone = <Read extends Row['read']>(read: Read) => ({ default: 'none', read }) as const
const number = (min: number, max: number, usual: string) =>
  ({ default: usual, range: { min, max }, read: integer(min, max) }) as const
const time = <Usual extends string | undefined = undefined>(
  min: number,
  max: number,
  usual?: Usual,
) =>
  ({
    default: usual as Usual,
    isTime: true,
    range: { min, max },
    read: duration(min, max),
  }) as const
const sealing = {
  secret: true,
  commands: 'serve keys secret user webhook tail doctor',
  read: readSecret,
} as const
const ownPage = { commands: 'serve user', read: values.readPage } as const
const here =
  '`on` if the service listens on a loopback address and has no other name, otherwise `off`'
const onHere = { absent: here, read: values.readSwitch } as const

const ofDatabase =
  'serve user key keys secret audit explain retention reach stats outbox mail webhook withdraw tail migrate doctor backup restore move maintenance'

/** The order is that of docs/config.md, which prints each meaning as a sentence. */
const table = {
  CARILLON_HOST: [
    'The address to listen on; `0.0.0.0` or `::` for every interface.',
    { default: '127.0.0.1', commands: 'serve doctor healthcheck', read: values.readHost },
  ],
  CARILLON_PORT: [
    'The TCP port to listen on; `0` takes any free port.',
    { ...number(0, 65535, '7464'), commands: 'serve doctor healthcheck' },
  ],
  CARILLON_DATABASE_URL: [
    'The database: `sqlite:` and a path, or `postgres://user@host/database` (PostgreSQL 15 or later).',
    {
      key: 'database',
      default: 'sqlite:data/carillon.db',
      commands: ofDatabase,
      read: readDatabaseUrl,
    },
  ],
  CARILLON_DATABASE_PARTITIONS: [
    'On PostgreSQL: how many partitions the first migration makes of each table that belongs to users. Later changes have no effect.',
    { ...number(1, 256, '8'), commands: 'serve migrate restore move' },
  ],
  CARILLON_TARGET_URL: [
    'The empty database that `move` fills, and `upgrade --rehearse` for a while, in the form of `CARILLON_DATABASE_URL`.',
    { key: 'target', commands: 'move upgrade', read: readDatabaseUrl },
  ],
  CARILLON_INSECURE_DATABASE: [
    '`on` allows PostgreSQL on another machine without TLS, although others on the network can then read all data.',
    { ...off, commands: ofDatabase },
  ],
  CARILLON_PUBLIC_URL: [
    'The URL under which browsers reach the service, such as `https://bell.example.org`; with a path (`https://example.org/bell/`) if a proxy strips that path.',
    {
      absent: 'derived from host and port',
      commands: 'serve doctor user tail',
      read: values.readServiceUrl,
    },
  ],
  CARILLON_INSECURE_HTTP: [
    '`on` allows plain HTTP beyond this machine, although others on the network can then read passwords and cookies.',
    { ...off, commands: 'serve doctor' },
  ],
  CARILLON_VARIANT: [
    'How `POST /login` signs in if the request does not name a variant: `stateful` (a cookie) or `stateless` (a token).',
    { default: 'stateful', read: oneOf(['stateful', 'stateless']) },
  ],
  CARILLON_SECRET: [
    'Encrypts the signing keys in the store; at least 32 random characters, and the same on every node.',
    { absent: 'generated at the first start and stored beside the SQLite file', ...sealing },
  ],
  CARILLON_SECRET_PREVIOUS: [
    'The secret before a change of `CARILLON_SECRET`, accepted until `carillon secret rotate` has sealed everything with the new one.',
    { key: 'previousSecret', ...sealing },
  ],
  CARILLON_SESSION_IDLE: [
    'A session ends if it is not used for this long.',
    time(second, maxLifetime, '7d'),
  ],
  CARILLON_SESSION_LIFETIME: [
    'A session ends this long after its sign-in, even if it is used; at most `400d`.',
    time(second, maxLifetime, '30d'),
  ],
  CARILLON_SESSIONS_PER_USER: [
    'How many sessions a user can have at the same time; at a further sign-in the oldest ends. Sign-ins by access token are not counted.',
    number(1, 1_000, '50'),
  ],
  CARILLON_NEW_DEVICE_NOTICES: [
    '`on` sends a notification to the inbox of a user who signs in from a device that was not seen before, with a link to `/account#session-<id>` below the public URL.',
    on,
  ],
  CARILLON_TOKEN_LIFETIME: [
    'The lifetime of an access token; at most `15m`.',
    time(second, 15 * minute, '15m'),
  ],
  CARILLON_TOKEN_CHAIN: [
    'How long after the sign-in access tokens can be renewed.',
    time(second, maxLifetime, '12h'),
  ],
  CARILLON_SIGNING_KEY_LIFETIME: [
    'For how long a key signs access tokens before the next one starts; at least `1h`.',
    time(hour, maxLifetime, '30d'),
  ],
  CARILLON_ISSUERS: [
    'The issuers whose tokens open the inbox of their users, as a JSON array, or `none`; docs/inbox/issuers.md explains its members.',
    { ...orNone(readIssuers), commands: 'serve doctor' },
  ],
  CARILLON_PROVIDERS: [
    'The OpenID providers with which users can sign in, as a JSON array, or `none`; docs/sign-in/providers.md explains its members.',
    { ...orNone(readProviders), secret: true },
  ],
  CARILLON_SECOND_FACTOR: [
    'Whether users need a second factor: `optional`, `required`, or `passkey` for a passkey; docs/sign-in/second-factors.md says what happens to sign-ins without one.',
    {
      default: 'optional',
      commands: 'serve doctor',
      read: oneOf(['optional', 'required', 'passkey']),
    },
  ],
  CARILLON_SECOND_FACTOR_GRACE: [
    'How long users can sign in without it after the first start with that setting, and new users after they were added.',
    time(0, maxLifetime, '14d'),
  ],
  CARILLON_PASSWORD_MIN: [
    'The minimum length of a password that a user or operator chooses, in characters; from 8 to 64.',
    { ...number(8, 64, '15'), commands: 'serve user' },
  ],
  CARILLON_LINK_LIFETIME: [
    'How long a link to set a new password is valid; at most `7d`.',
    { ...time(second, 7 * day, '15m'), commands: 'serve user' },
  ],
  CARILLON_INVITE_LIFETIME: [
    'How long an invitation, the link to set a first password, is valid; at most `7d`.',
    { ...time(second, 7 * day, '7d'), commands: 'serve user' },
  ],
  CARILLON_RESET_PAGE: [
    'A page of your application that sets a new password; the token is appended after `#`.',
    { absent: '`/reset` below the public URL', ...ownPage },
  ],
  CARILLON_INVITE_PAGE: [
    'The same for the first password of an invited user.',
    { absent: '`/invite` below the public URL', ...ownPage },
  ],
  CARILLON_PAGES_PREFIX: [
    'The path below which the pages of the service are, such as `/hello` for `/hello/sign-in`; `/` for `/sign-in`. The routes of the API do not move.',
    { default: '/', commands: 'serve user', read: values.readPrefix },
  ],
  CARILLON_NAME: [
    'The name at the top of the pages and in mails, such as that of your application; at most 40 characters. No password may be little more than it.',
    { key: 'pagesName', default: 'Carillon', commands: 'serve user', read: values.readName },
  ],
  CARILLON_LOGO: [
    'The picture beside the name, and the icon of the pages: a file that ends with `.svg` or `.png`, at most 256 KiB.',
    { absent: 'the bell of Carillon', commands: 'serve doctor', read: values.readLogo },
  ],
  CARILLON_ACCENT: [
    'The accent colour of the pages, such as `#0a7d4f`. Where text in it would be hard to read, the pages use a darker or a lighter shade of it.',
    { absent: 'indigo', read: values.readColour },
  ],
  CARILLON_DEMONSTRATION: [
    '`on` serves the demonstration of both variants at `/demonstration`.',
    onHere,
  ],
  CARILLON_DEMONSTRATION_PLACES: [
    'How many people may use the demonstration at the same time. Each of them takes 22 MiB.',
    number(1, 200, '10'),
  ],
  CARILLON_OPERATOR_PAGE: [
    '`on` serves the page `/operator` to users with the role `operator`.',
    {
      absent: '`on`, but `off` if the public URL has a path',
      commands: 'serve doctor',
      read: values.readSwitch,
    },
  ],
  CARILLON_DOCUMENTATION_LINK: [
    '`on` shows the link to the description of the API (`/docs`) on the pages of users. The description is served in any case.',
    onHere,
  ],
  CARILLON_SMTP_URL: [
    'The mail server for links (a new password, a first second factor), notices of changes of an account, and what is unread: `smtps://user:password@mail.example.org`, or `smtp://` for STARTTLS.',
    {
      absent: 'the service sends no mail',
      commands: 'serve doctor',
      secret: true,
      read: values.readSmtpUrl,
    },
  ],
  CARILLON_MAIL_FROM: [
    'The sender of mails, such as `bell@example.org` or `Bell <bell@example.org>`; without a name, with that of `CARILLON_NAME`.',
    { absent: '`carillon@` and the host of the public URL', read: values.readMailFrom },
  ],
  CARILLON_INSECURE_SMTP: [
    '`on` allows a mail server on another machine without TLS or with an unknown certificate, although others on the network can then read the links.',
    off,
  ],
  CARILLON_MAIL_UNREAD: [
    'When a mail is sent about notifications that are unread, to verified addresses: `off`, after `5m`, `15m` or `1h`, or with a digest: `hourly`, `daily` or `weekly`. Categories and readers can choose otherwise.',
    { default: 'off', commands: 'serve reach doctor', read: oneOf(values.mailRules) },
  ],
  CARILLON_MAIL_CONTENT: [
    'What these mails say: `counts` for how many of each category, or also the `titles`, which are the words of others.',
    { default: 'counts', read: oneOf(['counts', 'titles']) },
  ],
  CARILLON_OUTBOUND_PRIVATE: [
    '`on` allows webhooks to `http:` URLs, and to addresses of this machine and of private networks, although an application can then reach what only this machine should.',
    { ...off, commands: 'serve webhook' },
  ],
  CARILLON_PUSH_DELAY: [
    'How long after its delivery a notification that nobody has seen is pushed to the browsers of its reader; at most `10m`.',
    time(0, 10 * minute, '10s'),
  ],
  CARILLON_PUSH_CONTENT: [
    '`on` puts title and link of a notification into a push, which are the words of others; with `off` it says how many are new.',
    off,
  ],
  CARILLON_PUSH_HOSTS: [
    'Further push services beside those of Google, Mozilla, Microsoft and Apple: host names, separated by commas, with a port unless it is 443; or `none`.',
    orNone(values.readPushHosts),
  ],
  CARILLON_BREACH_URL: [
    'Checks new passwords against lists of stolen ones: `https://api.pwnedpasswords.com/range` or another service with its interface, which receives five digits of a hash; or `off`.',
    { default: 'off', commands: 'serve user', read: values.readBreachUrl },
  ],
  CARILLON_STREAMS_PER_USER: [
    'How many live streams and held polls a user may have open on one process; at most 1,000.',
    number(1, 1_000, '20'),
  ],
  CARILLON_STREAMS: [
    'How many live streams and held polls one process may have open.',
    number(1, 1_000_000, '20000'),
  ],
  CARILLON_ALLOWED_ORIGINS: [
    'Other origins whose pages may call the service: exact origins, separated by commas, or `none`.',
    { ...orNone(values.readOrigins), commands: 'serve doctor' },
  ],
  CARILLON_RETURN_URLS: [
    "The only URLs to which a sign-in may lead (`return_to`), besides paths of the service's own pages: exact URLs, separated by commas; or `none`, for every URL of the allowed origins.",
    orNone(values.readReturnUrls),
  ],
  CARILLON_ALLOWED_HOSTS: [
    'Further host names, separated by commas, that requests without `Authorization` may use to reach the service; or `none`.',
    { ...orNone(values.readHosts), commands: 'serve doctor' },
  ],
  CARILLON_IMAGE_HOSTS: [
    'The hosts of images in notifications: host names, separated by commas; or `none`, which allows only paths.',
    orNone(values.readHosts),
  ],
  CARILLON_HSTS_SUBDOMAINS: [
    '`on` adds `includeSubDomains` to HSTS: browsers then use only HTTPS for every name below that of the public URL.',
    { ...off, commands: 'serve doctor' },
  ],
  CARILLON_TRUSTED_PROXIES: [
    'The proxies whose `X-Forwarded-For` or `Forwarded` the service trusts: addresses and CIDR ranges, separated by commas, or `none`.',
    { ...orNone(values.readProxies), commands: 'serve doctor' },
  ],
  CARILLON_SECURITY_CONTACT: [
    'Where to report a vulnerability of your service, for `/.well-known/security.txt` (RFC 9116): an address of e-mail, or a URL that begins with `https://`, `mailto:` or `tel:`.',
    { read: values.readContact },
  ],
  CARILLON_RETENTION: [
    'How long read and archived notifications are kept after they were last sent, such as `90d`.',
    { ...time(second, 10 * maxLifetime), absent: 'for ever' },
  ],
  CARILLON_RETENTION_UNREAD: [
    'How long unread notifications are kept after they were last sent. Snoozed ones are kept until they wake.',
    {
      ...time(second, 10 * maxLifetime),
      absent: 'that of `CARILLON_RETENTION`',
      commands: 'serve retention',
    },
  ],
  CARILLON_INBOX_MAX: [
    'How many notifications an inbox keeps. The oldest that are read or archived go first, then the oldest others.',
    { absent: 'no maximum', read: integer(1, 999_999_999) },
  ],
  CARILLON_AUDIT_RETENTION: [
    'How long entries of the audit log are kept.',
    time(second, 10 * maxLifetime, '400d'),
  ],
  CARILLON_ERASED_FOR: [
    'How long an erased external id is remembered, as a keyed hash, so that no delivery and no token creates the user again; `0` for none.',
    { ...time(0, 10 * maxLifetime, '30d'), commands: 'serve user' },
  ],
  CARILLON_BACKUP_AT: [
    'When a backup is made each day, in UTC, such as `03:00`. Give it to every node: one of them makes the backup.',
    {
      key: 'backupAtMs',
      absent: 'no backup is made',
      read: values.readTimeOfDay,
      commands: 'serve doctor',
    },
  ],
  CARILLON_BACKUP_DIR: [
    'The folder of these backups. The secret is not in them: keep it in another place.',
    { read: values.readFolder, commands: 'serve doctor restore upgrade' },
  ],
  CARILLON_BACKUP_KEEP: [
    'How many of these backups are kept; the oldest are removed.',
    number(1, 999, '14'),
  ],
  CARILLON_DRAIN_GRACE: [
    'How long a stopping process still serves requests while `GET /readyz` answers 503, if a load balancer requested that before; make it longer than two intervals of the load balancer’s check.',
    time(0, 2 * minute, '2500ms'),
  ],
  CARILLON_FIRST_START: ['`off` adds no user and no key if the store is empty.', on],
  CARILLON_LOG: [
    'The log level: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    {
      key: 'logLevel',
      default: 'info',
      read: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    },
  ],
  CARILLON_METRICS_PORT: [
    'The TCP port on which Prometheus reads the metrics, at `/metrics`; `0` takes any free port.',
    {
      absent: 'no metrics',
      range: { min: 0, max: 65535 },
      read: integer(0, 65535),
      commands: 'serve doctor',
    },
  ],
  CARILLON_METRICS_HOST: [
    'The address of that port. Beyond this machine, `CARILLON_METRICS_TOKEN_FILE` is required.',
    { default: '127.0.0.1', read: values.readHost, commands: 'serve doctor' },
  ],
  CARILLON_METRICS_TOKEN: [
    'What Prometheus sends as `Authorization: Bearer ...`; at least 32 random characters.',
    { absent: 'requests need no token', secret: true, read: readSecret, commands: 'serve doctor' },
  ],
  CARILLON_URL: [
    'The URL of the running service.',
    { default: 'http://127.0.0.1:7464', commands: 'send tail', read: values.readServiceUrl },
  ],
  CARILLON_PRODUCER_KEY: [
    'The producer key of the command.',
    { secret: true, commands: 'send', read: values.readProducerKey },
  ],
} as const satisfies Record<`CARILLON_${string}`, Entry>

type Rows = { readonly [N in keyof typeof table]: (typeof table)[N][1] }
type Name = keyof Rows
type Camel<Text extends string> = Text extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<Camel<Rest>>}`
  : Lowercase<Text>
type Key<N extends Name> = Rows[N] extends { key: infer K extends string }
  ? K
  : N extends `CARILLON_${infer Rest}`
    ? `${Camel<Rest>}${Rows[N] extends { isTime: true } ? 'Ms' : ''}`
    : never
type Values<Names extends Name> = { readonly [N in Names as Key<N>]: ReturnType<Rows[N]['read']> }
type WithDefault = { [N in Name]: Rows[N] extends { default: string } ? N : never }[Name]

/** Lengths are code points; URLs end without a slash; host names are in lower case. */
export type Config = Values<WithDefault> & Partial<Values<Exclude<Name, WithDefault>>>

export type Setting = Omit<Row, 'commands'> & {
  key: keyof Config
  name: Name
  meaning: string
  commands: readonly string[]
}

export const settings = Object.entries<Entry>(table).map(
  ([name, [meaning, { commands = 'serve', ...row }]]) => {
    const words = name.slice('CARILLON_'.length).toLowerCase()
    const key =
      words.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) +
      (row.isTime ? 'Ms' : '')
    return { key, ...row, commands: commands.split(' '), name, meaning } as Setting
  },
)
