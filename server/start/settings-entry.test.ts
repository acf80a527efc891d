import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { readConfig } from '../config/read.ts'
import { settingsEntry, valuesOf } from './settings-entry.ts'

const secret = 'violet kettle drum 79, only for this test'
const environment = {
  CARILLON_DATABASE_URL: 'postgres://ann:hunter2@127.0.0.1/carillon',
  CARILLON_SECRET: secret,
  CARILLON_PASSWORD_MIN: '15',
}
const texts = (more: Record<string, string> = {}) =>
  valuesOf(readConfig({ ...environment, ...more }))

test('the first start records the settings, an equal one nothing, another one what changed (A16)', () => {
  const first = settingsEntry(texts(), null, 1)
  assert.deepEqual(Object.keys(first?.detail ?? {}), ['settings', 'by'])
  assert.equal(settingsEntry(texts(), first?.detail ?? null, 2), undefined)
  const second = settingsEntry(texts({ CARILLON_PASSWORD_MIN: '20' }), first?.detail ?? null, 3)
  const { settings, ...changes } = second?.detail ?? {}
  assert.deepEqual(changes, { CARILLON_PASSWORD_MIN: '15 -> 20', by: hostname() })
  assert.equal(
    settingsEntry(texts({ CARILLON_PASSWORD_MIN: '20' }), { settings: settings ?? null }, 4),
    undefined,
  )
})

test('another name of the sender, and another user of the database, are changes (A16)', () => {
  const before = settingsEntry(texts({ CARILLON_MAIL_FROM: 'Bell <bell@example.org>' }), null, 1)
  const changed = texts({
    CARILLON_MAIL_FROM: 'Chime <bell@example.org>',
    CARILLON_DATABASE_URL: 'postgres://ben:hunter2@127.0.0.1/carillon',
  })
  const {
    settings: _,
    by: __,
    ...changes
  } = settingsEntry(changed, before?.detail ?? null, 2)?.detail ?? {}
  assert.deepEqual(Object.keys(changes).toSorted(), ['CARILLON_DATABASE_URL', 'CARILLON_MAIL_FROM'])
  assert.match(
    String(changes.CARILLON_MAIL_FROM),
    /"Bell".*bell@example\.org.* -> .*"Chime".*bell@example\.org/,
  )
})

test('the settings are one JSON object of their values, and a setting without a value is not called set', () => {
  const { settings } = settingsEntry(texts(), null, 1)?.detail ?? {}
  const {
    CARILLON_PASSWORD_MIN,
    CARILLON_PROVIDERS,
    CARILLON_SECRET,
    CARILLON_DATABASE_URL,
    ...others
  } = settings as object & Record<string, { engine?: string }>
  assert.deepEqual(
    [CARILLON_PASSWORD_MIN, CARILLON_PROVIDERS, CARILLON_SECRET],
    [15, 'not set', 'set'],
  )
  assert.equal(CARILLON_DATABASE_URL?.engine, 'postgres')
  for (const [name, value] of Object.entries(others))
    assert.doesNotMatch(String(value), /^["[{]/, name)
})

test('no secret and no password of a URL is in the entry (A16)', () => {
  const text = JSON.stringify(settingsEntry(texts(), null, 1))
  assert.doesNotMatch(text, /hunter2|violet/)
  assert.match(text, /CARILLON_SECRET\\*":\\*"set/)
})
