import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { readConfig, readSettings } from '../config/read.ts'
import type { Environment } from '../config/values.ts'
import {
  examineBackupFolder,
  examineMachine,
  examineOpenFiles,
  examineSettings,
  openFiles,
  settingFaults,
} from './configuration.ts'
import { type Finding, warning } from './finding.ts'

const wrong = (findings: Finding[]) =>
  findings
    .filter(({ state }) => state !== 'ok')
    .map(({ check, state, found, change }) => [check, state, found, change])

test('reports an invalid setting with its value and a valid form', () => {
  const faultsOf = (env: Environment) => wrong(settingFaults(readSettings(env).faults))
  assert.deepEqual(faultsOf({ CARILLON_PORT: 'banana', CARILLON_DATABSE_URL: 'sqlite:x.db' }), [
    [
      'setting',
      'fault',
      'CARILLON_DATABSE_URL is not a setting',
      'CARILLON_DATABSE_URL: correct or remove the name; docs/config.md lists all settings',
    ],
    [
      'setting',
      'fault',
      'CARILLON_PORT is "banana"',
      'CARILLON_PORT: write a whole number from 0 to 65535',
    ],
  ])
  const [[, , found, change] = []] = faultsOf({ CARILLON_PUBLIC_URL: 'http://bell.example' })
  assert.equal(
    found,
    'CARILLON_PUBLIC_URL is "http://bell.example": plain HTTP, where others on the network can read passwords',
  )
  assert.match(change ?? '', /set CARILLON_PUBLIC_URL=https:\/\/\.\.\. behind a TLS proxy/)
})

test('warns of a name that is that of no setting', () => {
  const [finding] = settingFaults(readSettings({ CARILLON_TAG: '7' }).ignored, warning)
  assert.deepEqual([finding?.state, finding?.found], ['warning', 'CARILLON_TAG is not a setting'])
})

test('finds plain HTTP to other machines, and nothing wrong with HTTPS or on this machine alone', () => {
  const publicUrl = 'https://bell.example'
  assert.deepEqual(wrong(examineSettings({ host: '127.0.0.1' })), [])
  assert.deepEqual(wrong(examineSettings({ host: '127.0.0.1', publicUrl })), [])
  assert.deepEqual(
    [
      { host: '0.0.0.0' },
      { host: '127.0.0.1', publicUrl: 'http://bell.example' },
      { host: '::', publicUrl },
    ].flatMap((settings) =>
      examineSettings(settings).flatMap(({ check, state }) =>
        state === 'ok' ? [] : [[check, state]],
      ),
    ),
    [
      ['public URL', 'warning'],
      ['public URL', 'warning'],
      ['CARILLON_HOST', 'warning'],
    ],
  )
})

test('warns of PostgreSQL without a public URL, as the log does: its nodes name different issuers', () => {
  const warned = (publicUrl?: string) =>
    wrong(
      examineSettings({
        host: '127.0.0.1',
        database: { engine: 'postgres' },
        ...(publicUrl && { publicUrl }),
      }),
    )
  assert.deepEqual(warned('https://bell.example'), [])
  assert.deepEqual(
    warned().map(([check, state]) => [check, state]),
    [['public URL', 'warning']],
  )
})

test('warns if the page of the operator is on below a path, where it is off without the setting (O1)', () => {
  const warned = (publicUrl: string, setting?: string) => {
    const env = {
      CARILLON_PUBLIC_URL: publicUrl,
      ...(setting && { CARILLON_OPERATOR_PAGE: setting }),
    }
    const found = wrong(examineSettings(readConfig(env)))
    return found.flatMap(([check, , , change]) => (check === 'operator page' ? [change] : []))
  }
  assert.deepEqual(warned('https://example.org/bell', 'on'), [
    'CARILLON_OPERATOR_PAGE=off, or a host of its own',
  ])
  assert.deepEqual(warned('https://example.org/bell'), [])
  assert.deepEqual(warned('https://bell.example.org', 'on'), [])
})

test('warns if mails about what is unread have no mail server', () => {
  const env = { CARILLON_MAIL_UNREAD: '15m' }
  const server = { CARILLON_SMTP_URL: 'smtp://127.0.0.1' }
  const [found] = wrong(examineSettings(readConfig(env)))
  assert.deepEqual(found?.slice(0, 2), ['mails', 'warning'])
  assert.deepEqual(wrong(examineSettings(readConfig({ ...env, ...server }))), [])
})

test('names the Node, and finds a clock in the past', () => {
  const now = () => Date.UTC(2026, 10, 21)
  const sound = examineMachine({ node: '26.10.0', version: '0.1.0', now })
  assert.deepEqual([sound[1]?.found, wrong(sound)], ['26.10.0', []])
  assert.deepEqual(wrong(examineMachine({ node: '26.10.0', version: '0.1.0', now: () => 0 })), [
    ['clock', 'fault', '1970-01-01T00:00:00Z is in the past', 'timedatectl set-ntp true'],
  ])
})

test('finds a limit of open files below the number of streams that the settings allow', () => {
  assert.ok(Number(openFiles()) > 0 || openFiles() === 'unlimited')
  assert.deepEqual(examineOpenFiles(20_000, 20_500), [])
  assert.deepEqual(examineOpenFiles(20_000, 'unlimited'), [])
  const [finding] = examineOpenFiles(20_000, 20_000)
  assert.deepEqual([finding?.check, finding?.state], ['open files', 'warning'])
  assert.match(finding?.change ?? '', /^ulimit -n 21000 /)
})

test('finds a folder of backups that is missing or has no room, and accepts one that has', () => {
  const stateOf = (folder: string) => examineBackupFolder(folder).map(({ state }) => state)
  assert.deepEqual(stateOf(tmpdir()), ['ok'])
  assert.deepEqual(stateOf('/nowhere/backups'), ['fault'])
  // Its file system has no free block.
  assert.deepEqual(stateOf('/proc'), ['fault'])
  assert.deepEqual(examineBackupFolder(undefined), [])
})
