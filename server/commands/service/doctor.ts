import { styleText } from 'node:util'
import { Command } from 'commander'
import { displayVersion } from '../../basics/version.ts'
import { databaseTls } from '../../config/exposure.ts'
import { readSettings } from '../../config/read.ts'
import type { Config } from '../../config/settings.ts'
import { readServiceUrl } from '../../config/values.ts'
import {
  examineBackupFolder,
  examineIssuers,
  examineMachine,
  examineMetrics,
  examineOpenFiles,
  examineSettings,
  openFiles,
  settingFaults,
} from '../../doctor/configuration.ts'
import { type Finding, faultOf, warning } from '../../doctor/finding.ts'
import { examineWay, reach } from '../../doctor/proxy/reach.ts'
import { examineStream } from '../../doctor/proxy/stream.ts'
import { examineSecret } from '../../doctor/secret.ts'
import { examineDatabase } from '../../doctor/store/database.ts'
import { type Depth, type Examined, unread } from '../../doctor/store/findings.ts'
import { refuseLostDatabase, refuseMissingDatabase } from '../../start/database-file.ts'
import { pageSettings, refuseWithoutPasskeys } from '../../start/site.ts'
import type { Database } from '../../store/database.ts'
import { probeToken } from '../../tokens/key-material.ts'
import { secretsIn } from '../../tokens/sealing-secret.ts'
import { directUrl, flagsOf, withSettings } from '../settings.ts'
import { counted, type Output, print, readOption } from '../terminal/output.ts'

type Areas = [area: string, Finding[]][]

const example = `
Run it on the machine of the service, with the settings of the service. It changes nothing, and tries no password.
The exit status is 0 without faults and 1 with a fault.`

export function makeCommand(): Command {
  const command = new Command('doctor')
    .argument('[url]', 'the URL of the service for browsers; default: the public URL')
    .option(
      '--deep',
      'also read every page and index of a SQLite file, which takes minutes for a large one',
    )
    .description('Find problems, from the disk to the proxy, and say what to change')
  return withSettings(command).addHelpText('after', example).action(doctor)
}

async function doctor(
  url: string | undefined,
  options: Output & { deep?: boolean },
  command: Command,
): Promise<void> {
  const { config, faults, ignored } = readSettings(process.env, flagsOf(command))
  const own = config && (config.publicUrl ?? directUrl(config))
  const target = url === undefined ? own : readOption('The URL', url, readServiceUrl)
  const isValid = config !== undefined && faults.length === 0
  const settings = isValid
    ? [
        ...examineSettings(config, databaseTls(config, process.env)),
        ...examineOpenFiles(config.streams, openFiles()),
        ...examineStart(config),
      ]
    : settingFaults(faults)
  const metrics = config && directUrl({ host: config.metricsHost, port: config.metricsPort ?? 0 })
  const kept = config && (await examineKept(config, options.deep ? 'deep' : 'usual'))
  const areas: Areas = [
    [
      'This machine',
      examineMachine({ node: process.versions.node, version: displayVersion(), now: Date.now }),
    ],
    [
      'Settings',
      [
        ...settings,
        ...examineBackupFolder(config?.backupDir),
        ...(await examineMetrics(metrics)),
        ...settingFaults(ignored, warning),
      ],
    ],
    ['Issuers', await examineIssuers(config?.issuers ?? [])],
    ['Database', kept?.findings ?? []],
    ...(target === undefined ? [] : await examineService({ config, url: target, kept })),
  ]
  const all = areas.flatMap(([area, findings]) => findings.map((finding) => ({ area, ...finding })))
  const hasFault = all.some(({ state }) => state === 'fault')
  print(options, { healthy: !hasFault, findings: all }, () => [
    ...areas.flatMap(formatArea),
    verdict(all),
  ])
  process.exitCode = hasFault ? 1 : 0
}

/** Each setting is valid, but not beside another one or a file. */
function examineStart(config: Config): Finding[] {
  const checks = [
    ['second factor', refuseWithoutPasskeys, 'a CARILLON_PUBLIC_URL with a host name and https'],
    ['logo', pageSettings, 'correct CARILLON_LOGO'],
  ] as const
  return checks.flatMap(([check, refuse, change]) => {
    try {
      refuse(config)
      return []
    } catch (error) {
      return [faultOf(check, error, change)]
    }
  })
}

/** If `serve` refuses the network, doctor must not send the password over it. */
async function examineKept(config: Config, depth?: Depth): Promise<Examined | undefined> {
  if (databaseTls(config, process.env) === 'refused') return undefined
  const kept = await examineIfThere(config.database, depth)
  const secret = await examineSecret({
    ...config,
    ...kept,
    secretFile: process.env.CARILLON_SECRET_FILE,
  })
  return { ...kept, findings: [...kept.findings, ...secret] }
}

/** Creates no file. */
export async function examineIfThere(database: Database, depth?: Depth): Promise<Examined> {
  try {
    refuseLostDatabase(database)
    refuseMissingDatabase(database)
  } catch (error) {
    return unread(faultOf('database', error, 'correct CARILLON_DATABASE_URL'))
  }
  return examineDatabase(database, Date.now, depth)
}

type Target = { config: Config | undefined; url: string; kept: Examined | undefined }

async function examineService({ config, url, kept }: Target): Promise<Areas> {
  const direct = config && directUrl(config)
  const signingKeys = kept?.signingKeys
  const isMoved = kept?.findings.some(({ check }) => check === 'move')
  const isDatabaseAway = kept !== undefined && signingKeys === undefined
  const place = {
    url,
    now: Date.now,
    direct,
    publicUrl: config?.publicUrl,
    signingKeys,
    isMoved,
    isDatabaseAway,
  }
  const findings: Finding[] = await reach(place)
  const areas: Areas = [[url, findings]]
  if (findings[0]?.state !== 'fault') {
    try {
      findings.push(...(await examineWay(place)))
      findings.push(await examineStream(url, await streamToken({ config, url, kept })))
    } catch (error) {
      findings.push(
        faultOf(
          'reached',
          error,
          'read the logs: the service answered before, and then stopped answering',
        ),
      )
    }
  } else if (direct !== undefined && direct !== url)
    areas.push([`Without the proxy, ${direct}`, await reach({ ...place, url: direct })])
  return areas
}

async function streamToken({ config, url, kept }: Target): Promise<string | undefined> {
  const signingKeys = kept?.signingKeys ?? []
  const secrets = config && secretsIn(config)
  if (secrets === undefined || signingKeys.length === 0) return undefined
  return probeToken({
    signingKeys,
    secrets,
    issuer: config?.publicUrl ?? url,
    now: Date.now,
  }).catch(() => undefined)
}

const symbols = { ok: ['✔', 'green'], warning: ['!', 'yellow'], fault: ['✖', 'red'] } as const

function formatArea([area, findings]: Areas[number]): string[] {
  if (findings.length === 0) return []
  const width = Math.max(...findings.map(({ check }) => check.length))
  return [
    styleText('bold', area),
    ...findings.flatMap(({ check, state, found, change }) => {
      const [symbol, colour] = symbols[state]
      const line = `  ${styleText(colour, symbol)} ${check.padEnd(width)}  ${found}`
      return change === undefined ? [line] : [line, `    ${' '.repeat(width)}  -> ${change}`]
    }),
    '',
  ]
}

function verdict(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) =>
    counted(findings.filter((finding) => finding.state === state).length, state)
  return `${counted(findings.length, 'finding')}: ${count('fault')}, ${count('warning')}`
}
