// A temporary folder for a database, its content, and the commits in a write-ahead log.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect } from '../database.ts'

export async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** To compare before and after. */
export function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder).sort()
  return Object.fromEntries(
    files.map((name) => {
      const path = join(folder, name)
      const hash = statSync(path).isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : 'folder'
      return [name, `${statSync(path).mode.toString(8)} ${hash}`]
    }),
  )
}

export function assertIntact(path: string): void {
  const database = connect(path)
  assert.deepEqual(
    { ...database.prepare('pragma integrity_check').get() },
    { integrity_check: 'ok' },
  )
  database.close()
}

/**
 * A frame's header has the page number and the size of the database after a commit, 0 except in the
 * last frame of a commit: https://sqlite.org/fileformat.html section 4.1.
 */
export function commitsIn(path: string): number {
  if (!existsSync(`${path}-wal`)) return 0
  const log = readFileSync(`${path}-wal`)
  const headerSize = 32
  const frameHeaderSize = 24
  const frameSize = frameHeaderSize + (log.length < headerSize ? 0 : log.readUInt32BE(8))
  let commits = 0
  for (let frame = headerSize; frame + frameSize <= log.length; frame += frameSize)
    if (log.readUInt32BE(frame + 4) !== 0 && sameSalt(log, frame)) commits++
  return commits
}

/** Frames from before the log was last restarted have another salt. */
function sameSalt(log: Buffer, frame: number): boolean {
  return log.compare(log, 16, 24, frame + 8, frame + 16) === 0
}
