import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '../basics/errors.ts'
import { readConfig, readSettings } from './read.ts'
import type { Environment } from './values.ts'

function faultsOf(env: Environment): readonly Fault[] {
  return readSettings(env).faults.map(({ field, reason, remedy }) => ({
    field,
    reason: `${reason}; ${remedy}`,
  }))
}

function reasonOf(env: Environment, field: string): string {
  const faults = faultsOf(env)
  assert.deepEqual(
    faults.map((fault) => fault.field),
    [field],
    JSON.stringify(env),
  )
  return faults[0]?.reason ?? ''
}

test('refuses a time of backups without their folder, and the other way round', () => {
  assert.match(
    reasonOf({ CARILLON_BACKUP_AT: '03:00' }, 'CARILLON_BACKUP_AT'),
    /without CARILLON_BACKUP_DIR/,
  )
  assert.match(
    reasonOf({ CARILLON_BACKUP_DIR: '/b' }, 'CARILLON_BACKUP_DIR'),
    /without CARILLON_BACKUP_AT/,
  )
})

test('refuses metrics beyond this machine without a token', () => {
  const env = { CARILLON_METRICS_PORT: '9464', CARILLON_METRICS_HOST: '0.0.0.0' }
  assert.match(reasonOf(env, 'CARILLON_METRICS_HOST'), /; set CARILLON_METRICS_TOKEN_FILE, or/)
  assert.ok(readConfig({ ...env, CARILLON_METRICS_TOKEN: 'x'.repeat(32) }))
  assert.ok(readConfig({ CARILLON_METRICS_HOST: '0.0.0.0' }))
})

test('says of a value that is wrong what is right, and not that it is missing', () => {
  const backups = { CARILLON_BACKUP_AT: '25:00', CARILLON_BACKUP_DIR: '/b' }
  assert.match(reasonOf(backups, 'CARILLON_BACKUP_AT'), /in UTC, such as 03:00/)
  const metrics = { CARILLON_METRICS_PORT: '9464', CARILLON_METRICS_HOST: '0.0.0.0' }
  const token = { ...metrics, CARILLON_METRICS_TOKEN: 'short' }
  assert.match(reasonOf(token, 'CARILLON_METRICS_TOKEN'), /at least 32 random characters/)
})

test('refuses plain HTTP beyond this machine without CARILLON_INSECURE_HTTP (L3)', () => {
  const exposed: Environment[] = [
    { CARILLON_HOST: '0.0.0.0' },
    { CARILLON_HOST: '::' },
    { CARILLON_HOST: 'bell.example' },
    { CARILLON_HOST: 'fe80::1%eth0' },
    { CARILLON_PUBLIC_URL: 'http://bell.example' },
    { CARILLON_PUBLIC_URL: 'http://127.0.0.1.example' },
    { CARILLON_PUBLIC_URL: 'http://notlocalhost' },
  ]
  for (const env of exposed) {
    const faults = faultsOf(env)
    assert.equal(faults.length, 1)
    assert.match(
      faults[0]?.reason ?? '',
      /set CARILLON_PUBLIC_URL=https:\/\/\.\.\. .*, or CARILLON_INSECURE_HTTP=on$/,
    )
    assert.ok(readConfig({ ...env, CARILLON_INSECURE_HTTP: 'on' }).insecureHttp)
  }
})

test('reports nothing about plain HTTP if the switch for it cannot be read', () => {
  const env = { CARILLON_HOST: '0.0.0.0', CARILLON_INSECURE_HTTP: 'yes' }
  assert.match(reasonOf(env, 'CARILLON_INSECURE_HTTP'), /on or off/)
})

test('accepts plain HTTP on this machine, and any address behind HTTPS (L3)', () => {
  const safe: Environment[] = [
    { CARILLON_HOST: 'localhost' },
    { CARILLON_HOST: '127.8.9.10' },
    { CARILLON_HOST: '0:0:0:0:0:0:0:1' },
    { CARILLON_PUBLIC_URL: 'http://bell.localhost:8080' },
    { CARILLON_PUBLIC_URL: 'http://[::1]:8080' },
    { CARILLON_HOST: '0.0.0.0', CARILLON_PUBLIC_URL: 'https://bell.example' },
  ]
  for (const env of safe) assert.ok(readConfig(env))
})

test('refuses to listen beyond this machine if the public URL names this machine alone (L3)', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.7', 'bell.example'])
    for (const publicUrl of [
      'http://127.0.0.1:7464',
      'http://localhost',
      'http://[::1]:80',
      'https://bell.localhost',
    ]) {
      const env = { CARILLON_HOST: host, CARILLON_PUBLIC_URL: publicUrl }
      const reason = reasonOf(env, 'CARILLON_HOST')
      assert.match(
        reason,
        /CARILLON_PUBLIC_URL is ".*", which names this machine only; set CARILLON_HOST=127\.0\.0\.1,/,
      )
      assert.match(reason, /or CARILLON_INSECURE_HTTP=on$/)
      assert.ok(readConfig({ ...env, CARILLON_INSECURE_HTTP: 'on' }))
      assert.ok(readConfig({ ...env, CARILLON_HOST: '127.0.0.1' }))
    }
})

test('refuses origins of plain HTTP beside a public URL of https, except on this machine (L3)', () => {
  const env = { CARILLON_PUBLIC_URL: 'https://bell.example', CARILLON_INSECURE_HTTP: 'on' }
  const origins =
    'https://a.example,http://a.example,http://localhost:3000,http://127.0.0.1,http://192.0.2.1:8080'
  const faults = faultsOf({ ...env, CARILLON_ALLOWED_ORIGINS: origins })
  assert.deepEqual(
    faults.map(({ field }) => field),
    ['CARILLON_ALLOWED_ORIGINS', 'CARILLON_ALLOWED_ORIGINS'],
  )
  assert.match(
    faults[0]?.reason ?? '',
    /^has "http:\/\/a\.example" .*; .* write https:\/\/a\.example, or leave it out$/,
  )
  assert.match(faults[1]?.reason ?? '', /^has "http:\/\/192\.0\.2\.1:8080"/)
  for (const publicUrl of ['http://bell.localhost', undefined])
    assert.ok(
      readConfig({ CARILLON_PUBLIC_URL: publicUrl, CARILLON_ALLOWED_ORIGINS: 'http://a.example' }),
    )
})

test('refuses PostgreSQL on another machine without TLS, without CARILLON_INSECURE_DATABASE (L4)', () => {
  const exposed: Environment[] = [
    { CARILLON_DATABASE_URL: 'postgres://db.example/c' },
    { CARILLON_DATABASE_URL: 'postgresql://ann:secret@192.0.2.1:5432/c?sslmode=disable' },
    { CARILLON_DATABASE_URL: 'postgres://localhost/c?host=db.example' },
    { CARILLON_DATABASE_URL: 'postgres:///c', PGHOST: 'db.example' },
    { CARILLON_DATABASE_URL: 'postgres://db.example/c', PGSSLMODE: 'prefer' },
    { CARILLON_DATABASE_URL: 'postgres://db.example/c?sslmode=disable', PGSSLMODE: 'verify-full' },
  ]
  for (const env of exposed) {
    const reason = reasonOf(env, 'CARILLON_DATABASE_URL')
    assert.match(
      reason,
      /; add sslmode=verify-full to the URL, or set CARILLON_INSECURE_DATABASE=on$/,
    )
    assert.doesNotMatch(reason, /secret|example/)
    assert.ok(readConfig({ ...env, CARILLON_INSECURE_DATABASE: 'on' }))
  }
  reasonOf({ CARILLON_TARGET_URL: 'postgres://db.example/c' }, 'CARILLON_TARGET_URL')
  const accepted: Environment[] = [
    { CARILLON_DATABASE_URL: 'sqlite:data/c.db' },
    { CARILLON_DATABASE_URL: 'postgres://127.0.0.1:5433/c' },
    { CARILLON_DATABASE_URL: 'postgres:///c' },
    { CARILLON_DATABASE_URL: 'postgres://db.example/c?sslmode=verify-full' },
    { CARILLON_DATABASE_URL: 'postgres://db.example/c', PGSSLMODE: 'require' },
    { CARILLON_DATABASE_URL: 'postgres://db.example/c?host=/run/postgresql' },
  ]
  for (const env of accepted) assert.ok(readConfig(env))
})

test('reports every exposure at once, and still returns the settings for doctor (L3, L4)', () => {
  const { config, faults } = readSettings({
    CARILLON_HOST: '0.0.0.0',
    CARILLON_PUBLIC_URL: 'https://bell.localhost',
    CARILLON_ALLOWED_ORIGINS: 'http://a.example',
    CARILLON_DATABASE_URL: 'postgres://db.example/c',
    CARILLON_TARGET_URL: 'postgres://db.example/d',
    CARILLON_SESSION_IDLE: '31d',
  })
  assert.deepEqual(config?.database, { engine: 'postgres', url: 'postgres://db.example/c' })
  assert.deepEqual(
    faults.map(({ field }) => field.slice('CARILLON_'.length)),
    ['HOST', 'ALLOWED_ORIGINS', 'DATABASE_URL', 'TARGET_URL', 'SESSION_IDLE'],
  )
  assert.equal(readSettings({ CARILLON_PORT: 'x' }).config, undefined)
})
