import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { Command } from 'commander'
import { makeFolder, replaceDurably } from '../../basics/durable-file.ts'
import { CarillonError } from '../../basics/errors.ts'
import { createLog, type Log } from '../../basics/log.ts'
import type { Config } from '../../config/settings.ts'
import { unknownNames } from '../../config/unknown-names.ts'
import { type Service, startService } from '../../serve.ts'
import { warnOfExposedSecrets } from '../../start/exposed-secrets.ts'
import { firstSignInText } from '../../start/first-start.ts'
import { boundNewSpace } from '../../start/new-space.ts'
import { configOf, noSettings, withSettings } from '../settings.ts'
import { type Output, print } from '../terminal/output.ts'

/** The drain ends within 8 seconds; supervisors must not wait for one that hangs. */
const maxStopMs = 12_000
/** A closing terminal sends SIGHUP; from a reload it is ignored. */
const hasTerminal = process.stdout.isTTY === true || isatty(0) || isatty(2)
const signals: NodeJS.Signals[] = hasTerminal
  ? ['SIGTERM', 'SIGINT', 'SIGHUP']
  : ['SIGTERM', 'SIGINT']

export function makeCommand(): Command {
  return withSettings(new Command('serve').description('Run the service')).action(serve)
}

async function serve(options: Output, command: Command): Promise<void> {
  const config = configOf(command)
  const isTerminal = process.stdout.isTTY === true && !options.json
  const log = await createLog({ level: config.logLevel, isTerminal })
  const { others } = unknownNames(process.env)
  if (others.length > 0) log.warn({ event: 'settings-ignored' }, noSettings(others))
  const { database } = config
  const isNewFile = database.engine === 'sqlite' && !existsSync(database.path)
  if (isTerminal && config.logLevel === 'info' && isNewFile) log.level = 'warn'
  const onReload = () =>
    log.info({ event: 'reload-ignored' }, 'settings are read at a start only: restart the service')
  if (!hasTerminal) process.on('SIGHUP', onReload)
  const service = await stoppable(log, () => startService(config, { log }))
  // While PostgreSQL responds, objects would survive collections in a bounded space, which took a
  // quarter of the time.
  if (database.engine === 'sqlite') boundNewSpace()

  let isStopping = false
  const stop = async (status: number, reason: string) => {
    if (isStopping) return
    isStopping = true
    notifySupervisor('STOPPING=1')
    setTimeout(() => {
      log.fatal(
        { event: 'stop-cut', reason },
        'stopping took too long; remaining requests are aborted',
      )
      process.exit(1)
    }, config.drainGraceMs + maxStopMs).unref()
    await service.stop()
    log.info({ event: 'stopped', reason }, 'stopped')
    process.exit(status)
  }
  for (const signal of signals) process.on(signal, () => void stop(0, signal))
  warnOfExposedSecrets(log, config, process.env)
  showOnce(service, { config, isTerminal, log })
  log.level = config.logLevel
  // A program that waits for this line may stop the service then.
  const { listensOn, url } = service
  log.info({ event: 'started', listensOn, url }, 'Carillon is listening')
  if (options.json) print(options, { listensOn, url }, () => [])
  notifySupervisor('READY=1')
  const watchdogMs = Number(process.env.WATCHDOG_USEC) / 1000
  if (watchdogMs > 0) setInterval(notifySupervisor, watchdogMs / 2, 'WATCHDOG=1').unref()
  const error = await service.failed
  if (error instanceof CarillonError) log.fatal({ event: 'store-failed' }, error.message)
  else log.fatal({ event: 'store-failed', err: error }, 'the store failed; restart this process')
  // Load balancers see "not ready" before the port closes.
  await sleep(500)
  await stop(1, 'the store failed')
}

async function stoppable(log: Log, start: () => Promise<Service>): Promise<Service> {
  const end = (reason: NodeJS.Signals) => {
    log.info({ event: 'stopped', reason }, 'stopped before it was ready')
    process.exit(0)
  }
  for (const signal of signals) process.on(signal, end)
  try {
    return await start()
  } finally {
    for (const signal of signals) process.off(signal, end)
  }
}

type Shown = { config: Config; isTerminal: boolean; log: Log }

/** Other output may be stored, so the text goes to a file of its owner. */
function showOnce({ firstSignIn, url }: Service, { config, isTerminal, log }: Shown): void {
  if (firstSignIn === undefined) return
  const { database, publicUrl } = config
  const text = firstSignInText(firstSignIn, url, publicUrl)
  if (isTerminal) return void process.stdout.write(text)
  const file = resolve(
    database.engine === 'sqlite' ? dirname(database.path) : 'data',
    'first-sign-in.txt',
  )
  try {
    makeFolder(dirname(file))
    // The file needs its own mode.
    replaceDurably(file, text)
    log.info(
      { event: 'first-start', file },
      'first start: the sign-in and the producer key are in this file',
    )
  } catch (err) {
    const remedy = `carillon user password ${firstSignIn.username}`
    const message = `first start: this file cannot be written. Set a new password with: ${remedy}`
    log.error({ event: 'first-start', file, err }, message)
  }
}

/** sd_notify(3). Node has no Unix datagram socket. */
function notifySupervisor(state: 'READY=1' | 'WATCHDOG=1' | 'STOPPING=1'): void {
  const { NOTIFY_SOCKET, PATH } = process.env
  if (NOTIFY_SOCKET === undefined) return
  spawn('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH }, stdio: 'ignore' }).on(
    'error',
    () => {},
  )
}
