// Is the database file present and complete? SQLite creates a missing file and fills an empty one. These checks refuse that if
// a database was there before (R6): with a new, empty database in its place, a healthy service would have lost every user.
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CarillonError } from '../basics/errors.ts'
import type { Database } from '../config/database-url.ts'
import { secretFileOf } from './sealing-secret.ts'

const headerSize = 100
/** https://sqlite.org/fileformat.html section 1.6: a b-tree page that is a leaf of a table. */
const leafPage = 0x0d

/**
 * For commands that may create the database. Throws UNAVAILABLE if the file is missing, empty or truncated, or has no
 * table, but a file that belongs to the database is still there.
 */
export function refuseLostDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  // Before the look at the database: another process may be creating both now, and it creates the secret last.
  const beside = filesBeside(path)
  const loss = lossOf(path)
  const left = loss === undefined ? undefined : beside.find(({ provesLoss }) => provesLoss.includes(loss.kind))
  if (loss === undefined || left === undefined) return
  throw new CarillonError('UNAVAILABLE', `${path} ${loss.sentence}, but ${left.file} is still there`, {
    remedy: 'Restore the database; to start with an empty one, remove that file too.',
  })
}

/** For commands that need an existing database. Throws UNAVAILABLE if there is none, or as `refuseLostDatabase` does. */
export function refuseMissingDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  if (!existsSync(path))
    throw new CarillonError('UNAVAILABLE', `There is no database ${path}`, {
      remedy: 'Correct CARILLON_DATABASE_URL, or create the database with: carillon migrate',
    })
  refuseLostDatabase(database)
}

type Loss = { kind: 'missing' | 'empty' | 'partial'; sentence: string }

/** The files beside the database at `path`, with the losses that each of them proves. */
function filesBeside(path: string): { file: string; provesLoss: Loss['kind'][] }[] {
  const files: { file: string; provesLoss: Loss['kind'][] }[] = [
    { file: secretFileOf(path), provesLoss: ['missing', 'empty', 'partial'] },
    // SQLite would delete the log of an empty file. Until the first checkpoint, a log may hold all tables.
    { file: `${path}-wal`, provesLoss: ['missing', ...(sizeOf(`${path}-wal`) > 0 ? (['empty'] as const) : [])] },
    // If there is no file, this one may belong to another database in the folder.
    { file: join(dirname(path), 'first-sign-in.txt'), provesLoss: ['empty', 'partial'] },
  ]
  return files.filter(({ file }) => existsSync(file))
}

/** The loss that the first page of the file shows; undefined if nothing is lost, or if the file is not a database. */
function lossOf(path: string): Loss | undefined {
  if (!existsSync(path)) return { kind: 'missing', sentence: 'is gone' }
  const status = statSync(path)
  if (!status.isFile()) return undefined
  if (status.size === 0) return { kind: 'empty', sentence: 'is empty' }
  // Before the first checkpoint the rest of a database may be in its write-ahead log.
  if (sizeOf(`${path}-wal`) > 0) return undefined
  const header = Buffer.alloc(headerSize + 8)
  if (!read(path, header) || header.toString('latin1', 0, 15) !== 'SQLite format 3') return undefined
  // Measured after the header: another process may copy its write-ahead log into the file between the two.
  const [size, expected] = [sizeOf(path), sizeIn(header)]
  if (size < expected) return { kind: 'partial', sentence: `is truncated (${size} of ${expected} bytes)` }
  const hasNoTable = header[headerSize] === leafPage && header.readUInt16BE(headerSize + 3) === 0
  return hasNoTable ? { kind: 'partial', sentence: 'has no table' } : undefined
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}

/** Both the page size and the page count are in the header: https://sqlite.org/fileformat.html section 1.3. */
function sizeIn(header: Buffer): number {
  const pageSize = header.readUInt16BE(16)
  const isCountValid = header.readUInt32BE(24) === header.readUInt32BE(92)
  return (pageSize === 1 ? 65_536 : pageSize) * (isCountValid ? Math.max(1, header.readUInt32BE(28)) : 1)
}

/** Fills `header` from the start of the file, with zeros after the file's end; false if the file cannot be read. */
function read(path: string, header: Buffer): boolean {
  try {
    const file = openSync(path, 'r')
    try {
      readSync(file, header, 0, header.length, 0)
    } finally {
      closeSync(file)
    }
    return true
  } catch {
    // SQLite reports the reason when it opens the file.
    return false
  }
}
