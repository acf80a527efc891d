// What doctor says of settings and database, for /operator: what takes no time from requests.
import { databaseTls } from '../config/exposure.ts'
import type { Config } from '../config/settings.ts'
import { isLoopback } from '../config/values.ts'
import { examineSettings } from '../doctor/configuration.ts'
import type { Finding } from '../doctor/finding.ts'
import { examineDatabase } from '../doctor/store/database.ts'
import { freeBytesOf } from '../metrics/series.ts'
import type { OperatorPage } from './operator.ts'

const keptMs = 10_000

export function operatorPageOf(config: Config, now: () => number): OperatorPage {
  const { host, publicUrl, allowedHosts } = config
  const name = publicUrl === undefined ? host : new URL(publicUrl).hostname
  let examined: { at: number; findings: Promise<Finding[]> } | undefined
  return {
    needsFactor: ![name, ...allowedHosts].every(isLoopback),
    freeBytes: () => freeBytesOf(config.database),
    findings() {
      if (examined === undefined || now() >= examined.at + keptMs)
        examined = { at: now(), findings: examine(config, now) }
      return examined.findings
    },
  }
}

async function examine(config: Config, now: () => number): Promise<Finding[]> {
  const settings = examineSettings(config, databaseTls(config, process.env))
  const { findings } = await examineDatabase(config.database, now, 'quick')
  return [...settings, ...findings]
}
