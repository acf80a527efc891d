// Takes and restores a backup, for both engines: gzip-compressed lines of JSON, with checksums.
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { quoted } from '../../basics/control-characters.ts'
import { syncFolder, syncToDisk } from '../../basics/durable-file.ts'
import { CarillonError, conflict, messageOf, notFound, unavailable } from '../../basics/errors.ts'
import type { Database } from '../database.ts'
import { knownMigrations } from '../migrations.ts'
import {
  createTables,
  newestMigration,
  openEndpoint,
  refuseUnusable,
  sourceAt,
} from './endpoint/endpoint.ts'
import { fill, type Report, type Target } from './fill.ts'
import {
  type Checksum,
  lineOf,
  linesOf,
  type Row,
  rowsInBatch,
  type Source,
  type Table,
} from './rows.ts'

const format = 'carillon backup'
const version = 1

/** `takenAt` is ISO 8601. */
export type Header = { format: string; version: number; schema: string; takenAt: string }
type Backup = { from: Database; file: string; at: string; report: Report }

/** Backs up one moment, and reads it back. Throws CONFLICT (the file exists) or UNAVAILABLE. */
export async function backUp({ from, file, at, report }: Backup): Promise<readonly Checksum[]> {
  await using endpoint = await openEndpoint(from)
  await refuseUnusable(endpoint)
  return await writeNewFile(file, async (draft) => {
    await endpoint.query(endpoint.snapshot)
    const source = await sourceAt(endpoint)
    const contents = contentsOf(source, { takenAt: at, onRows: report('Copying', source) })
    // r+ does not create the file again if it was removed.
    await pipeline(contents, createGzip(), fs.createWriteStream(draft, { flags: 'r+' }))
    return (await openDump(draft, report('Verifying', source))).checksums
  })
}

/** Reads the whole file. Throws UNPROCESSABLE if it is truncated, changed or of another schema. */
export async function verifyBackup(file: string): Promise<readonly Checksum[]> {
  return (await openDump(file)).checksums
}

/** Without reading the rest. Throws UNPROCESSABLE if it is no backup. */
export async function headerOf(path: string): Promise<Header> {
  try {
    for await (const line of checkedLines(path)) {
      const header: Header = JSON.parse(line)
      if (header.format === format) return header
      break
    }
  } catch (error) {
    refuseUnread(error, path)
  }
  throw unusable(path, 'is not a backup of Carillon')
}

/** `onRestored` runs before the migrations. */
type Restore = { file: string; report: Report; onRestored?: () => void } & Target

/**
 * Checks the whole file before it writes a row, and reads each back. The rows of an older version
 * then get the later migrations.
 */
export async function restoreBackup({
  file,
  to,
  partitions,
  report,
  onRestored = () => {},
}: Restore): Promise<readonly Checksum[]> {
  const source = await openDump(file)
  await using target = await openEndpoint(to)
  const through = source.schema === newestMigration ? undefined : source.schema
  await createTables(target, partitions, through)
  const by = { source: source.id, call: `carillon restore ${quoted(resolve(file))}` }
  const checksums = await fill(target, source, { by, report })
  onRestored()
  if (through !== undefined) await target.migrate(partitions)
  return checksums
}

async function* contentsOf(
  source: Source,
  { takenAt, onRows }: { takenAt: string; onRows: (count: number) => void },
) {
  const hash = createHash('sha256')
  const hashed = (text: string) => {
    hash.update(text)
    return text
  }
  yield hashed(lineOf({ format, version, schema: newestMigration, takenAt } satisfies Header))
  for (const table of source.tables) {
    yield hashed(lineOf(table))
    for await (const lines of linesOf(source, table, onRows)) yield hashed(lines)
  }
  yield lineOf({ sha256: hash.digest('hex') })
}

/** `id`: only copies of the file share it. */
type Dump = Source & {
  readonly id: string
  readonly schema: string
  readonly checksums: readonly Checksum[]
}

async function openDump(path: string, onRows: (count: number) => void = () => {}): Promise<Dump> {
  const objects: unknown[] = []
  try {
    // A pipe would be empty at the second reading.
    if (!fs.statSync(path).isFile())
      throw unusable(path, 'is not a file, and restore reads it more than once')
    for await (const line of checkedLines(path)) {
      if (line.startsWith('[')) onRows(1)
      else objects.push(JSON.parse(line))
    }
  } catch (error) {
    refuseUnread(error, path)
  }
  const [header, ...others] = objects as [Header, ...(Table | Checksum)[]]
  refuseOther(header, path)
  const checksums = others.filter((line) => 'sha256' in line)
  const lines = checkedLines(path)
  const next = async () => (await lines.next().catch((error) => refuseUnread(error, path))).value
  return {
    tables: others.filter((line) => 'columns' in line),
    total: checksums.reduce((sum, { rows }) => sum + rows, 0),
    rows: (table, after) => rowsIn(next, table, after),
    checksums,
    schema: header.schema,
    id: createHash('sha256').update(lineOf(objects)).digest('hex'),
  }
}

async function* rowsIn(
  next: () => Promise<string | undefined>,
  table: Table,
  after: Row = [],
): AsyncGenerator<Row[]> {
  let line = await next()
  while (line !== undefined && lineOf(table) !== `${line}\n`) line = await next()
  let rows: Row[] = []
  let isBehind = after.length === 0
  line = await next()
  while (line?.startsWith('[')) {
    const row: Row = JSON.parse(line)
    if (isBehind) rows.push(row)
    else isBehind = lineOf(row.slice(0, table.key)) === lineOf(after)
    if (rows.length === rowsInBatch) {
      yield rows
      rows = []
    }
    line = await next()
  }
  yield rows
}

/** A line after the last checksum fails, because the hash has ended. */
async function* checkedLines(path: string): AsyncGenerator<string, undefined> {
  const text = createGunzip().setEncoding('utf8')
  pipeline(fs.createReadStream(path), text).catch(() => {})
  const hash = createHash('sha256')
  let rest = ''
  let isIntact = false
  for await (const chunk of text) {
    // node:readline would also split at U+2028 and other characters.
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('{"sha256"'))
        isIntact = lineOf({ sha256: hash.digest('hex') }) === `${line}\n`
      else {
        hash.update(`${line}\n`)
        yield line
      }
    }
  }
  if (!isIntact || rest !== '') throw new Error('its checksum differs')
}

function refuseOther({ format: kind, version: form, schema }: Header, path: string): void {
  if (kind !== format) throw unusable(path, 'is not a backup of Carillon')
  if (form === version && knownMigrations().includes(schema)) return
  const why = `was written by another version of Carillon (schema ${schema}; this program has ${newestMigration})`
  throw unusable(path, why, 'Restore it with that version.')
}

function refuseUnread(error: unknown, path: string): never {
  if (error instanceof CarillonError) throw error
  const why = messageOf(error)
  if (error instanceof Error && 'syscall' in error) throw notFound(`${path} cannot be read: ${why}`)
  if (why === 'incorrect header check') throw unusable(path, 'is not a backup of Carillon')
  throw unusable(path, `is damaged or truncated (${why})`)
}

function unusable(path: string, why: string, remedy?: string): CarillonError {
  return new CarillonError('UNPROCESSABLE', `${path} ${why}`, { remedy })
}

/** Completely or not at all. `write` gets a draft (0600). Throws if the file exists. */
export async function writeNewFile<Result>(
  path: string,
  write: (draft: string) => Promise<Result>,
): Promise<Result> {
  refuseExisting(path)
  // In containers, process ids are often equal.
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`
  const remove = () => fs.rmSync(draft, { force: true })
  process.on('exit', remove)
  try {
    fs.closeSync(fs.openSync(draft, 'wx', 0o600))
    const result = await write(draft)
    syncToDisk(draft)
    publish(draft, path)
    syncFolder(dirname(path))
    return result
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw unavailable(
      `${path} cannot be written: ${error.message}`,
      'Nothing is left of it.',
      error,
    )
  } finally {
    remove()
    process.off('exit', remove)
  }
}

/** A link never replaces a file. Some network disks have none. */
function publish(draft: string, path: string): void {
  try {
    fs.linkSync(draft, path)
  } catch (error) {
    refuseExisting(path)
    if (
      !['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(
        (error as NodeJS.ErrnoException).code ?? '',
      )
    )
      throw error
    fs.renameSync(draft, path)
  }
}

function refuseExisting(path: string): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  throw conflict(`${path} already exists and was left as it is`, 'Name a new file.')
}
