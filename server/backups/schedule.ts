// One node makes the daily backup in a separate process without the secret, so that no request
// waits. It reads the backup back before naming it.
import { execFile } from 'node:child_process'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { iso } from '../basics/clock.ts'
import { makeFolder } from '../basics/durable-file.ts'
import { messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { Database } from '../store/database.ts'
import type { Store } from '../store/store.ts'
import {
  claimBackup,
  endBackup,
  forgetBackup,
  renewBackup,
  scheduledBackups,
} from './backups.store.ts'

const dayMs = 24 * 3_600_000
const everyMs = 30_000
const renewMs = 60_000
/** A draft that does not grow was left by a killed process. */
const draftMs = 3_600_000
const draft = /^carillon-[\dTZ-]{20}\.gz\.[\da-f]{12}\.part$/
const program = fileURLToPath(new URL('../bin/launch.js', import.meta.url))

/** `atMs`: milliseconds after midnight UTC. `folder`: absolute. */
type Dependencies = {
  store: Store
  database: Database
  log: Log
  wall: () => number
  node: string
  schedule: { atMs: number; folder: string; keep: number }
}

export class ScheduledBackups {
  readonly #dependencies: Dependencies
  readonly #ending = new AbortController()
  #running: Promise<void> | undefined
  readonly #timer: NodeJS.Timeout

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#timer = setInterval(() => void this.run(), everyMs).unref()
  }

  run(): Promise<void> {
    this.#running ??= this.#makeDue()
      // If the database is away, the next turn tries again.
      .catch(() => {})
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  /** Ends a running backup, and leaves nothing of it. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#ending.abort()
    await this.#running
  }

  async #makeDue(): Promise<void> {
    const { store, wall, node, schedule, log } = this.#dependencies
    const at = wall()
    const dueAt = lastDue(at, schedule.atMs)
    const path = join(schedule.folder, `carillon-${iso(at).slice(0, 19).replaceAll(':', '-')}Z.gz`)
    if (!(await store.write(claimBackup, { dueAt, node, path, at }))) return
    const renewing = setInterval(() => {
      store.write(renewBackup, { dueAt, path, at: wall() }).catch(() => {})
    }, renewMs).unref()
    try {
      await this.#write(path)
      const { size: bytes } = statSync(path)
      await store.write(endBackup, { dueAt, path, at: wall(), bytes, failure: null })
      log.info({ event: 'backup-made', path, bytes }, 'a backup was made and read back')
    } catch (error) {
      // The next start makes the backup again.
      if (this.#ending.signal.aborted) return await store.write(forgetBackup, dueAt)
      const failure = failureOf(error)
      log.error(
        { event: 'backup-failed', path, reason: failure },
        'the backup that was due failed; retrying in an hour',
      )
      await store.write(endBackup, { dueAt, path, at: wall(), bytes: null, failure })
    } finally {
      clearInterval(renewing)
    }
    await this.#removeOld()
  }

  async #write(path: string): Promise<void> {
    const { database } = this.#dependencies
    const { CARILLON_DATABASE_URL_FILE: _, ...env } = process.env
    const url = database.engine === 'sqlite' ? `sqlite:${database.path}` : database.url
    await promisify(execFile)(process.execPath, [program, 'backup', path, '--json'], {
      env: { ...env, CARILLON_DATABASE_URL: url },
      signal: this.#ending.signal,
    })
  }

  /** Removes the drafts of killed processes, and old files that have the size in their row. */
  async #removeOld(): Promise<void> {
    const { store, schedule, wall } = this.#dependencies
    removeDrafts(schedule.folder, wall() - draftMs)
    const made = (await store.read(scheduledBackups)).filter(({ bytes }) => bytes !== null)
    for (const { dueAt, path, bytes } of made.slice(schedule.keep)) {
      const isHere =
        dirname(path) === schedule.folder &&
        statSync(path, { throwIfNoEntry: false })?.size === bytes
      if (!isHere) continue
      rmSync(path)
      await store.write(forgetBackup, dueAt)
    }
  }
}

function removeDrafts(folder: string, before: number): void {
  const drafts = readdirSync(folder).filter((name) => draft.test(name))
  for (const path of drafts.map((name) => join(folder, name)))
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before)
      rmSync(path, { force: true })
}

export function lastDue(at: number, atMs: number): number {
  return Math.floor((at - atMs) / dayMs) * dayMs + atMs
}

/** What the command said last, after warnings; it has no secret. */
function failureOf(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string }
  const [said] = [...stderr.matchAll(/^carillon: (.+)/gm)].slice(-1)
  return said?.[1] ?? messageOf(error)
}

/** Undefined if backups can be made there. */
export function folderFault(folder: string): string | undefined {
  const probe = join(folder, `.carillon-${process.pid}.part`)
  try {
    makeFolder(folder)
    writeFileSync(probe, 'carillon', { mode: 0o600, flush: true })
    rmSync(probe)
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOSPC') return message
    rmSync(probe, { force: true })
    return 'its disk is full'
  }
}
