// Examines clock, settings and issuers' keys. config/ finds faulty values.
import { accessSync, constants, statfsSync } from 'node:fs'
import { quoted } from '../basics/control-characters.ts'
import { messageOf } from '../basics/errors.ts'
import type { IssuerSetting } from '../config/issuers.ts'
import { isLoopback, type SettingFault } from '../config/values.ts'
import { readKeySet } from '../issuers/key-set.ts'
import { type Finding, fault, faultOf, ok, warning } from './finding.ts'

type Settings = {
  host: string
  publicUrl?: string
  database?: { engine: string }
  operatorPage?: boolean
  mailUnread?: string
  smtpUrl?: object | undefined
}
type DatabaseTls = 'refused' | 'none' | 'unverified'
type Machine = { node: string; version: string; now: () => number }

/** In bytes. */
const minFree = 2 ** 20
/** This program did not exist before. */
const earliest = Date.UTC(2026, 0, 1)

export function examineMachine({ node, version, now }: Machine): Finding[] {
  const time = `${new Date(now()).toISOString().slice(0, 19)}Z`
  const past = { found: `${time} is in the past`, change: 'timedatectl set-ntp true' }
  return [
    ok('Carillon', version),
    ok('Node', node),
    now() >= earliest ? ok('clock', time) : fault('clock', past),
  ]
}

export function settingFaults(faults: readonly SettingFault[], found = fault): Finding[] {
  return faults.map(({ field, reason, remedy = 'see docs/config.md' }) =>
    found('setting', { found: `${field} ${reason}`, change: `${field}: ${remedy}` }),
  )
}

export function examineSettings(settings: Settings, databaseTls?: DatabaseTls): Finding[] {
  const { host, publicUrl } = settings
  const findings = [ok('settings', 'every setting is valid'), publicUrlFinding(settings)]
  if (publicUrl?.startsWith('https:') && !isLoopback(host)) {
    const found = `${host} accepts plain HTTP from other machines, without the proxy`
    const change = 'CARILLON_HOST=127.0.0.1 (in a container: publish the port to the proxy alone)'
    findings.push(warning('CARILLON_HOST', { found, change }))
  }
  if (settings.operatorPage && new URL(publicUrl ?? 'http://localhost').pathname !== '/') {
    const found =
      'it is on below a path: every script of an application on that host can act as the operator'
    findings.push(
      warning('operator page', {
        found,
        change: 'CARILLON_OPERATOR_PAGE=off, or a host of its own',
      }),
    )
  }
  if ((settings.mailUnread ?? 'off') !== 'off' && settings.smtpUrl === undefined) {
    const found =
      'CARILLON_MAIL_UNREAD is set, but this command finds no mail server: nothing is mailed without one'
    findings.push(warning('mails', { found, change: 'CARILLON_SMTP_URL=smtps://...' }))
  }
  if (databaseTls !== undefined) {
    const unverified =
      'the certificate of PostgreSQL is not checked: another machine can act as the server'
    const plain =
      'PostgreSQL on another machine without TLS: the network in between can read its data'
    const found = databaseTls === 'unverified' ? unverified : plain
    findings.push(
      warning('database URL', { found, change: 'CARILLON_DATABASE_URL with sslmode=verify-full' }),
    )
  }
  return findings
}

export function examineBackupFolder(folder: string | undefined): Finding[] {
  if (folder === undefined) return []
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize >= minFree) return [ok('backup folder', folder)]
    const change = `make room on the disk of ${quoted(folder)}`
    return [fault('backup folder', { found: 'no backup can be made: its disk is full', change })]
  } catch (error) {
    const change = `mkdir -p ${quoted(folder)}, and give it to the user of the service: chown`
    return [fault('backup folder', { found: `no backup can be made: ${messageOf(error)}`, change })]
  }
}

/** Nothing responds without the service. Its refusals name a setting. */
export async function examineMetrics(url: string | undefined): Promise<Finding[]> {
  if (url === undefined) return []
  const signal = AbortSignal.timeout(2_000)
  const text = await fetch(`${url}/metrics`, { signal })
    .then((response) => response.text())
    .catch(({ cause }) => (cause?.code === 'ECONNREFUSED' ? 'carillon_' : ''))
  if (/carillon_/i.test(text)) return []
  const change = 'stop that program, or set CARILLON_METRICS_PORT to a free port'
  return [fault('metrics', { found: `another program listens at ${url}`, change })]
}

/** Node raised it to the hard limit. Undefined on Windows. */
export function openFiles(): unknown {
  return Object(process.report.getReport()).userLimits?.open_files.soft
}

/** Each stream uses an open file, and the rest needs some. */
export function examineOpenFiles(streams: number, limit: unknown): Finding[] {
  if (typeof limit !== 'number' || limit >= streams + 500) return []
  const found = `${limit} for a process, and each of ${streams} streams needs one`
  const change = `ulimit -n ${streams + 1_000} (systemd: LimitNOFILE), or a smaller CARILLON_STREAMS`
  return [warning('open files', { found, change })]
}

function publicUrlFinding({ host, publicUrl, database }: Settings): Finding {
  const check = 'public URL'
  if (publicUrl?.startsWith('https:')) return ok(check, publicUrl)
  const change = 'CARILLON_PUBLIC_URL=https://..., with a TLS proxy in front'
  if (publicUrl === undefined && database?.engine === 'postgres')
    return warning(check, {
      found: 'not set: other processes refuse the access tokens of this one',
      change,
    })
  const isHere = isLoopback(publicUrl === undefined ? host : new URL(publicUrl).hostname)
  if (isHere) return ok(check, publicUrl ?? 'not set: for browsers on this machine only')
  const found = `${publicUrl ?? host} is plain HTTP: the network in between can read passwords and cookies`
  return warning(check, { found, change })
}

export function examineIssuers(issuers: readonly IssuerSetting[]): Promise<Finding[]> {
  const examined = issuers.map(async (issuer) => {
    await readKeySet(issuer)
    return ok(
      'issuer',
      `the keys of ${issuer.issuer} for ${issuer.algorithms.join(', ')} can be read`,
    )
  })
  return Promise.all(
    examined.map((one) => one.catch((error) => faultOf('issuer', error, 'CARILLON_ISSUERS'))),
  )
}
