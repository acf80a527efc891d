import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { settingsPage } from '../../tools/generators/settings-page.ts'
import { CarillonError, type Fault } from '../basics/errors.ts'
import { type Flags, readConfig, readSettings } from './read.ts'
import { settings } from './settings.ts'
import type { Environment } from './values.ts'

const day = 24 * 60 * 60 * 1000
const secret = 'a-secret-of-more-than-32-characters'

function faultsOf(env: Environment, flags?: Flags): readonly Fault[] {
  return refusalOf(env, flags).details ?? []
}

function refusalOf(env: Environment, flags?: Flags): CarillonError {
  try {
    readConfig(env, flags)
  } catch (error) {
    assert.ok(error instanceof CarillonError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    return error
  }
  return assert.fail('was accepted')
}

function reasonOf(name: string, text: string, more: Environment = {}): string {
  const faults = faultsOf({ [name]: text, ...more })
  assert.equal(faults.length, 1, JSON.stringify(faults))
  assert.equal(faults[0]?.field, name)
  return faults[0]?.reason ?? ''
}

function withFile(content: string, act: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-config-'))
  const path = join(folder, 'setting')
  try {
    writeFileSync(path, content)
    act(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('reads each kind of value, and leaves every other setting at its default', () => {
  const config = readConfig({
    PATH: '/bin',
    CARILLON_HOST: undefined,
    CARILLON_PORT: '0',
    CARILLON_DATABASE_URL: 'postgres://ann@db.example/carillon?sslmode=verify-full',
    CARILLON_VARIANT: 'stateless',
    CARILLON_SECRET: secret,
    CARILLON_SESSION_IDLE: '500s',
    CARILLON_TOKEN_LIFETIME: '1500ms',
    CARILLON_TOKEN_CHAIN: '20m',
    CARILLON_SIGNING_KEY_LIFETIME: '2h',
    CARILLON_RETENTION: '30d',
    CARILLON_ERASED_FOR: '0',
    CARILLON_BACKUP_AT: '03:30',
    CARILLON_BACKUP_DIR: '/var/backups',
    CARILLON_RESET_PAGE: 'https://app.example/password/',
    CARILLON_ACCENT: '#0A7d4F',
    CARILLON_OPERATOR_PAGE: 'off',
    CARILLON_HSTS_SUBDOMAINS: 'on',
    CARILLON_SMTP_URL: 'smtp://bell:p%25ss@[::1]:2525',
    CARILLON_MAIL_FROM: 'The Bell <bell@example.org>',
    CARILLON_PUSH_HOSTS: 'Push.example.org, localhost:9100',
    CARILLON_ALLOWED_ORIGINS: 'https://a.example, http://localhost:3000',
    CARILLON_RETURN_URLS: 'https://a.example/signed-in?shop=1, http://localhost:3000/',
    CARILLON_ALLOWED_HOSTS: 'Carillon.internal., other',
    CARILLON_TRUSTED_PROXIES:
      '127.0.0.1, ::ffff:10.0.0.0/104,0:0:0:0:0:0:0:1, fd00::/8, 192.0.2.7/32',
  })
  assert.deepEqual(config, {
    ...readConfig({}),
    port: 0,
    database: { engine: 'postgres', url: 'postgres://ann@db.example/carillon?sslmode=verify-full' },
    variant: 'stateless',
    secret,
    sessionIdleMs: 500_000,
    tokenLifetimeMs: 1500,
    tokenChainMs: 1_200_000,
    signingKeyLifetimeMs: day / 12,
    retentionMs: 30 * day,
    erasedForMs: 0,
    backupAtMs: 12_600_000,
    backupDir: '/var/backups',
    resetPage: 'https://app.example/password',
    accent: '#0a7d4f',
    operatorPage: false,
    hstsSubdomains: true,
    smtpUrl: { host: '::1', port: 2525, isTls: false, auth: { user: 'bell', pass: 'p%ss' } },
    mailFrom: { name: 'The Bell', address: 'bell@example.org' },
    pushHosts: ['push.example.org', 'localhost:9100'],
    allowedOrigins: ['https://a.example', 'http://localhost:3000'],
    returnUrls: ['https://a.example/signed-in?shop=1', 'http://localhost:3000/'],
    allowedHosts: ['carillon.internal', 'other'],
    trustedProxies: ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '192.0.2.7'],
  })
})

test('an option overrides the environment, and the environment overrides the default', () => {
  assert.equal(readConfig({ CARILLON_PORT: '1' }, { CARILLON_PORT: '2' }).port, 2)
  assert.equal(readConfig({ CARILLON_PORT: '1' }, { CARILLON_PORT: undefined }).port, 1)
  assert.equal(readConfig({ CARILLON_PORT: 'x' }, { CARILLON_PORT: '2' }).port, 2)
  assert.equal(readConfig({ CARILLON_PORT_FILE: '/no/such/file' }, { CARILLON_PORT: '2' }).port, 2)
  assert.match(
    faultsOf({}, { CARILLON_PORT: 'x' })[0]?.reason ?? '',
    /^is "x"; write a whole number from 0 to 65535$/,
  )
})

test('reports all faults at once, each on its own line', () => {
  const refusal = refusalOf({
    CARILLON_PORT: '70000',
    CARILLON_VARIANT: 'both',
    CARILLON_SECRET: 'short',
    CARILLON_PROT: '1',
    CARILLON_SESSION_IDLE: '40d',
  })
  assert.deepEqual(
    refusal.details?.map(({ field }) => field),
    [
      'CARILLON_PROT',
      'CARILLON_PORT',
      'CARILLON_VARIANT',
      'CARILLON_SECRET',
      'CARILLON_SESSION_IDLE',
    ],
  )
  const lines = refusal.message.split('\n')
  assert.equal(lines[0], '5 settings are wrong:')
  assert.equal(lines.length, 6)
  assert.equal(lines[2], '  CARILLON_PORT is "70000"; write a whole number from 0 to 65535')
})

test('keeps a fault on one short line, whatever the value contains', () => {
  assert.equal(refusalOf({ CARILLON_HOST: 'a\nb\u001b[31m' }).message.split('\n').length, 2)
  assert.ok(refusalOf({ CARILLON_HOST: '!'.repeat(10_000) }).message.length < 300)
})

test('reads any setting from a file and removes only its last line break', () => {
  for (const [content, value] of [
    ['8080', 8080],
    ['8080\n', 8080],
    ['8080\r\n', 8080],
  ] as const) {
    withFile(content, (path) => assert.equal(readConfig({ CARILLON_PORT_FILE: path }).port, value))
  }
  withFile(`${secret}\n\n`, (path) =>
    assert.equal(readConfig({ CARILLON_SECRET_FILE: path }).secret, `${secret}\n`),
  )
})

test('every setting can be read from a file named by NAME_FILE', () => {
  for (const { name } of settings) {
    const faults = faultsOf({ [`${name}_FILE`]: '/no/such/file' })
    assert.match(faults[0]?.reason ?? '', /"\/no\/such\/file", which does not exist$/, name)
  }
})

test('says why a file cannot be read, and refuses NAME together with NAME_FILE', () => {
  assert.match(
    reasonOf('CARILLON_PORT', '1', { CARILLON_PORT_FILE: '/x' }),
    /CARILLON_PORT_FILE are both set/,
  )
  assert.match(faultsOf({ CARILLON_PORT_FILE: tmpdir() })[0]?.reason ?? '', /is a folder/)
  assert.match(
    faultsOf({ CARILLON_PORT_FILE: '\0' })[0]?.reason ?? '',
    /fails: ERR_INVALID_ARG_VALUE/,
  )
  withFile('', (path) =>
    assert.match(faultsOf({ CARILLON_PORT_FILE: path })[0]?.reason ?? '', /is empty/),
  )
})

test('never displays a secret, the content of a file or a password in a URL', () => {
  const hidden = 'hunter2'
  const env = {
    CARILLON_SECRET: hidden,
    CARILLON_PRODUCER_KEY: hidden,
    CARILLON_PUBLIC_URL: `https://ann:${hidden}@bell.example`,
    CARILLON_URL: `https://bell.example/?password=${hidden}`,
    CARILLON_DATABASE_URL: ` postgres://ann:${hidden}@db`,
  }
  assert.equal(refusalOf(env).details?.length, 5)
  assert.doesNotMatch(refusalOf(env).message, /hunter2/)
  withFile(hidden, (path) => {
    const files = { CARILLON_SECRET_FILE: path, CARILLON_PORT_FILE: path, CARILLON_LOG_FILE: path }
    assert.equal(refusalOf(files).details?.length, 3)
    assert.doesNotMatch(refusalOf(files).message, /hunter2/)
  })
})

/** At most three letters differ: one swap, letter more, less or another counts one. */
const misspelt = [
  'CARILLON_PROT',
  'CARILLON_PRT',
  'CARILLON_PORTS',
  'CARILLON_POTR_FILE',
  'CARILLON_SECRET_FIEL',
  'CARILLON_DATABSE_URL',
  'CARILLON_DATABASEURL',
  'CARILLON_PUBLIC_URI',
  'CARILLON_PUBILC_LRU',
  'CARILLON_TRUST_PROXIES',
  'CARILLON_ISSUER',
  'CARILLON_LOGG',
]
const ofOthers = [
  'CARILLON_',
  'CARILLON_TAG',
  'CARILLON_PRRT_X',
  'CARILLON_DATABASE',
  'CARILLON_VERSION',
  'CARILLON_SERVICE_HOST',
  'CARILLON_SERVICE_PORT',
  'CARILLON_PORT_7464_TCP_ADDR',
]

test('refuses a name that is nearly that of a setting', () => {
  for (const name of misspelt)
    assert.equal(
      reasonOf(name, 'x'),
      'is not a setting; correct or remove the name; docs/config.md lists all settings',
    )
})

test('ignores a name that is far from that of every setting, and says so', () => {
  for (const name of ofOthers) {
    assert.ok(readConfig({ [name]: 'x' }), name)
    const { ignored, faults } = readSettings({ [name]: 'x' })
    assert.deepEqual([ignored.map(({ field }) => field), faults], [[name], []])
  }
  // Kubernetes sets it, too, with a value that is no port.
  assert.match(reasonOf('CARILLON_PORT', 'tcp://10.0.0.1:7464'), /whole number/)
  assert.deepEqual(
    readSettings({ CARILLONS: '3', MY_CARILLON_PORT: 'x', CARILLON_TAG: undefined }).ignored,
    [],
  )
})

test('refuses an invalid value and says what to write instead', () => {
  const wrong: [string, string[], RegExp][] = [
    [
      'CARILLON_HOST',
      ['a b', 'http://x', '[::1]', '256.1.1.1', '127.1', '-x', 'a..b', 'x:1'],
      /such as 127\.0\.0\.1/,
    ],
    [
      'CARILLON_PORT',
      ['-1', '65536', '1.5', '1e3', '0x10', ' 80', '80 ', 'http'],
      /from 0 to 65535/,
    ],
    [
      'CARILLON_DATABASE_URL',
      ['data/carillon.db', ':x', 'sqlite:', 'sqlite: x'],
      /such as sqlite:data/,
    ],
    [
      'CARILLON_PUBLIC_URL',
      [
        'bell.example',
        'ftp://a',
        'https://a?',
        'https://a/b?c',
        'https://a/#',
        'https://a/b#',
        'https://a/b;c',
        'https://a/b%2Fc',
        'https://a//b',
        'https://a/b//',
        'https://a/b/../c',
        'https://a/./b',
        'https://a/b/..',
        'https://..',
        'https://u@a',
        'https://',
        'https:a',
        'https://a b',
        'https://a:99999',
        'https://a//',
        'https:\\\\a',
      ],
      /only scheme, host and port/,
    ],
    ['CARILLON_URL', ['127.0.0.1:7464', 'http://127.0.0.1:7464/?a'], /only scheme, host and port/],
    ['CARILLON_INSECURE_HTTP', ['true', '1', 'ON', 'yes'], /on or off/],
    [
      'CARILLON_ALLOWED_HOSTS',
      ['*', '*.example', 'https://a', 'a:80', 'a,,b', 'a b', '[::1]', 'a..', 'u@a', 'a/b'],
      /write only host names/,
    ],
    ['CARILLON_FIRST_START', ['false', '0', 'Off'], /on or off/],
    ['CARILLON_VARIANT', ['Stateful', 'cookie'], /one of stateful, stateless/],
    ['CARILLON_LOG', ['warning', 'INFO'], /one of fatal, error, warn, info, debug, trace, silent/],
    [
      'CARILLON_SECRET',
      ['x'.repeat(31), '🔔'.repeat(31)],
      /value that is not displayed here; write at least 32/,
    ],
    [
      'CARILLON_PRODUCER_KEY',
      ['abc', 'crl_', 'crl_a b', 'crl_a\n'],
      /not displayed here; write the whole key/,
    ],
    ['CARILLON_PASSWORD_MIN', ['7', '65', '15.0'], /from 8 to 64/],
    [
      'CARILLON_SESSION_IDLE',
      ['7', 'd', '7 d', '-7d', '1.5h', '7D', '1h30m', '9999999999999d'],
      /500ms, 30s, 15m, 12h or 30d/,
    ],
    ['CARILLON_SESSION_LIFETIME', ['401d', '999ms', '0s', '999999999999d'], /from 1s to 400d/],
    ['CARILLON_TOKEN_LIFETIME', ['16m', '999ms'], /from 1s to 15m/],
    [
      'CARILLON_ALLOWED_ORIGINS',
      ['*', 'https://*.example', 'https://a.example,*'],
      /patterns are refused, because every/,
    ],
    [
      'CARILLON_ALLOWED_ORIGINS',
      ['null', 'a.example', 'https://a/b', 'https://a,,https://b', 'https://a,'],
      /only scheme, host and port/,
    ],
    [
      'CARILLON_ALLOWED_ORIGINS',
      ['https://A.example', 'https://a.example/', 'https://a.example:443'],
      /write https:\/\/a\.example, as browsers/,
    ],
    [
      'CARILLON_RETURN_URLS',
      [
        '/account',
        'a.example/',
        'ftp://a.example/',
        'https://a.example/#x',
        'https://u@a.example/',
        'https://a/,',
      ],
      /write whole URLs without user and fragment/,
    ],
    [
      'CARILLON_RETURN_URLS',
      ['https://A.example/', 'https://a.example'],
      /write https:\/\/a\.example\/, as browsers/,
    ],
  ]
  for (const [name, texts, reason] of wrong) {
    for (const text of texts) assert.match(reasonOf(name, text), reason, `${name}=${text}`)
  }
})

test('refuses an empty value for every setting', () => {
  for (const { name } of settings)
    assert.match(reasonOf(name, ''), /^is empty; give a value, or leave the name out$/)
})

test('refuses an idle timeout longer than the session lifetime, and a chain shorter than a token', () => {
  assert.match(
    reasonOf('CARILLON_SESSION_IDLE', '31d'),
    /is 31d, longer than CARILLON_SESSION_LIFETIME \(30d\)/,
  )
  assert.ok(readConfig({ CARILLON_SESSION_IDLE: '30d' }))
  assert.match(
    reasonOf('CARILLON_TOKEN_CHAIN', '14m'),
    /is 14m, shorter than CARILLON_TOKEN_LIFETIME \(15m\)/,
  )
  assert.ok(readConfig({ CARILLON_TOKEN_CHAIN: '15m' }))
})

test('normalises a URL: one slash at the end, letter case of the host, the default port; a path keeps its case', () => {
  const normalised = (url: string) => readConfig({ CARILLON_PUBLIC_URL: url }).publicUrl
  assert.equal(normalised('HTTPS://Bell.Example:443/'), 'https://bell.example')
  assert.equal(normalised('HTTPS://Bell.Example:443/Bell/'), 'https://bell.example/Bell')
  assert.equal(
    normalised('https://bell.example/apps/bell-1.0_x~'),
    'https://bell.example/apps/bell-1.0_x~',
  )
  assert.equal(
    readConfig({ CARILLON_URL: 'http://127.0.0.1:1/bell/' }).url,
    'http://127.0.0.1:1/bell',
  )
})

test('refuses trusted proxies that are not addresses, and ranges that trust too many machines', () => {
  const reasonFor = (text: string) => reasonOf('CARILLON_TRUSTED_PROXIES', text)
  for (const text of [
    'localhost',
    '*',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0',
    '127.0.0.1,',
    '010.0.0.1',
    'none,::1',
  ])
    assert.match(
      reasonFor(text),
      /is not an address; write addresses or CIDR ranges, such as 127\.0\.0\.1, ::1 or 10\.0\.0\.0\/8$/,
    )
  for (const text of [
    '0.0.0.0/0',
    '::/0',
    '::ffff:0:0/96',
    '0.0.0.0/1,128.0.0.0/1',
    '8000::/1,::/2,4000::/2,::1',
    '::/1,0.0.0.0/1,128.0.0.0/1',
  ])
    assert.match(reasonFor(text), /trusts every client/)
  assert.match(
    reasonFor('10.0.0.5/8'),
    /write 10\.0\.0\.0\/8 for the range, or 10\.0\.0\.5 for the single address$/,
  )
  assert.match(
    reasonFor('fd00::5/64'),
    /write fd00::\/64 for the range, or fd00::5 for the single address$/,
  )
  assert.match(reasonFor(' '), /is not an address/)
  assert.match(reasonFor(''), /is empty/)
})

test('docs/config.md equals the page generated from the table', () => {
  const page = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8')
  assert.equal(page, settingsPage(page), 'generate it with the command in its first lines')
})
