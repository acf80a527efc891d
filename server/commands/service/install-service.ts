// systemd-analyze security rates the unit 1.x.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { unavailable } from '../../basics/errors.ts'
import { settings } from '../../config/settings.ts'
import { hasPassword } from '../../config/url-passwords.ts'
import { configOf } from '../settings.ts'
import { print, WrongUse, warn } from '../terminal/output.ts'

/** After the grace, the service needs at most 12 seconds. */
const maxStopSeconds = 13

type Options = { to: string; program?: string; print?: true; json?: true }

export function makeCommand(): Command {
  return new Command('install-service')
    .description(
      'Write a hardened unit for systemd, with the CARILLON_ settings of this environment',
    )
    .option('--to <file>', 'the file of the unit', '/etc/systemd/system/carillon.service')
    .option('--program <command>', 'what the unit runs; default: this installation, by its Node')
    .option('--print', 'print the unit, and write no file')
    .option('--json', 'one JSON value on stdout, for machines')
    .action(installService)
}

function installService(options: Options, command: Command): void {
  const launcher = join(fileURLToPath(new URL('../../bin', import.meta.url)), 'launch.js')
  const program = options.program ?? [process.execPath, launcher].map(quoted).join(' ')
  const unit = unitOf(program, configOf(command).drainGraceMs)
  if (/\s\/(home|root|tmp|run\/user)\//.test(` ${program}`))
    warn(`the unit cannot see ${program}: install Carillon below /opt, /usr or /srv`)
  if (options.print) return void process.stdout.write(unit)
  const file = resolve(options.to)
  refuseLostCredentials(file, unit)
  try {
    writeFileSync(file, unit, { mode: 0o644 })
  } catch {
    throw unavailable(
      `${file} cannot be written`,
      'Run it as root, or name another file with --to.',
    )
  }
  print(options, { file: options.to }, () => [
    `Wrote ${options.to}`,
    'Start it, now and with the machine: systemctl daemon-reload && systemctl enable --now carillon',
  ])
}

/** The service would start with another secret or database. */
function refuseLostCredentials(file: string, unit: string): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const names = settings.map(({ name }) => `${name}_FILE`)
  const lost = names.filter((name) => before.includes(`=${name}=`) && !unit.includes(`=${name}=`))
  if (lost.length === 0) return
  throw unavailable(
    `${file} has credentials of ${lost.join(' and ')}`,
    'Set these again, or delete the unit.',
  )
}

/** V8 executes memory that it wrote, so MemoryDenyWriteExecute is missing. */
function unitOf(program: string, graceMs: number): string {
  return `[Unit]
Description=Carillon, sign-in and notification inbox
Wants=network-online.target
After=network-online.target time-sync.target postgresql.service

[Service]
Type=notify
NotifyAccess=all
ExecStart=${program} serve
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
WatchdogSec=60
TimeoutStartSec=infinity
TimeoutStopSec=${Math.ceil(graceMs / 1000) + maxStopSeconds}
LimitNOFILE=524288
DynamicUser=yes
StateDirectory=carillon
StateDirectoryMode=0700
CacheDirectory=carillon
WorkingDirectory=/var/lib/carillon
UMask=0077
Environment=NODE_COMPILE_CACHE=/var/cache/carillon MALLOC_ARENA_MAX=2
EnvironmentFile=-/etc/carillon/carillon.env
${settingLines().join('')}CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=setpriority
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`
}

/** Only the service can read systemd's copies. */
function settingLines(): string[] {
  return settings.flatMap(({ name, secret }) => {
    const { [name]: value, [`${name}_FILE`]: file } = process.env
    if (file !== undefined)
      return [
        `LoadCredential=${name}:${escaped(resolve(file))}\n`,
        `Environment=${name}_FILE=%d/${name}\n`,
      ]
    if (value === undefined) return []
    if (secret || hasPassword(value))
      throw new WrongUse(
        `every user can read a unit: put the value of ${name} into a file, and set ${name}_FILE`,
      )
    return [`Environment=${quoted(`${name}=${value}`)}\n`]
  })
}

/** In a unit, `%` begins a specifier and a line break ends a value. */
function escaped(text: string): string {
  return text.replaceAll('%', '%%').replaceAll(/[\r\n]/g, ' ')
}

function quoted(text: string): string {
  return /[\s"'\\%]/.test(text) ? `"${escaped(text).replaceAll(/["\\]/g, String.raw`\$&`)}"` : text
}
