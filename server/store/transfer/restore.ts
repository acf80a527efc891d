// Restores a backup into an empty database of either engine. Checks the whole backup before it writes the first row, and reads
// every row back after the last. The SQLite files that earlier versions wrote as backups are accepted too.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Database, displayDatabase } from '../../config/database-url.ts'
import { CarillonError, messageOf } from '../../errors.ts'
import { backupTable } from '../transfer-state.ts'
import { type Digest, differenceOf, digestsOf } from './digest.ts'
import { Dump } from './dump.ts'
import type { Endpoint, Source } from './endpoint/endpoint.ts'
import { openEndpoint } from './endpoint/open.ts'
import { openSqliteFile } from './endpoint/sqlite.ts'
import { asOf, currentMigrations } from './endpoint/tables.ts'
import { counting, fill, type Report, refuseForeignTarget, refuseOtherSchema, rowsIn, verify } from './fill.ts'

type Backup = { source: Source; digests: readonly Digest[] }
type RestoreOptions = { file: string; to: Database; partitions: number; report: Report }

export function restoreBackup({ file, to, partitions, report }: RestoreOptions): Promise<readonly Digest[]> {
  return withBackup(file, async ({ source, digests }) => {
    const target = await openEndpoint(to, { partitions })
    try {
      // The id is made of the content: only the same backup continues an interrupted restore.
      const id = `backup ${createHash('sha256').update(JSON.stringify(digests)).digest('hex')}`
      await refuseForeignTarget(target, { id, name: displayDatabase(to) })
      await fill(target, { source, id, report })
      const onRows = counting(report, 'Verifying', rowsIn(digests))
      await verify(target, { expected: digests, name: displayDatabase(to), onRows })
      await target.endFilling()
      return digests
    } finally {
      await target.close()
    }
  })
}

/** Opens a backup and checks all of it. Throws UNPROCESSABLE if it is damaged, changed or newer. */
async function withBackup<Result>(file: string, work: (backup: Backup) => Promise<Result>): Promise<Result> {
  if (isGzip(file)) {
    const dump = await Dump.open(file)
    return work({ source: dump, digests: dump.digests })
  }
  const endpoint = openSqliteFile(file)
  if (endpoint === undefined) throw new CarillonError('UNPROCESSABLE', `${file} is not a backup of Carillon`)
  try {
    return await endpoint.snapshot(async () => {
      await refuseDamaged(endpoint, file)
      await refuseOtherSchema(endpoint, file, { mayBeOlder: true })
      const digests = await digestsOf(endpoint.batchesAfter(null))
      await refuseChanged(endpoint, { file, digests })
      return work({ source: endpoint, digests })
    })
  } finally {
    await endpoint.close()
  }
}

/** Throws UNPROCESSABLE if a SQLite backup was changed. Its digests stay those of its old schema if it is migrated. */
async function refuseChanged(
  endpoint: Endpoint,
  { file, digests }: { file: string; digests: readonly Digest[] },
): Promise<void> {
  const taken = await digestsWhenTaken(endpoint)
  const difference = taken && differenceOf(taken, digests)
  if (taken === undefined || difference === undefined) return
  for (const schema of currentMigrations.slice(0, -1).reverse())
    if (differenceOf(taken, await digestsOf(asOf(endpoint.batchesAfter(null), schema))) === undefined) return
  throw new CarillonError('UNPROCESSABLE', `${file} has changed since it was taken: ${difference}`, {
    remedy: 'Nothing was restored; use another backup.',
  })
}

/** Throws UNPROCESSABLE if SQLite finds that the structure of the file is damaged. */
async function refuseDamaged(endpoint: Endpoint, file: string): Promise<void> {
  const found = await endpoint.read('pragma integrity_check(1)').then(([row]) => String(row?.[0]), messageOf)
  if (found !== 'ok') throw new CarillonError('UNPROCESSABLE', `${file} is damaged (${found})`)
}

/** What the backup held when it was taken, as recorded in it; undefined if the database is not a backup. */
async function digestsWhenTaken(endpoint: Endpoint): Promise<Digest[] | undefined> {
  if (!(await endpoint.has(backupTable))) return undefined
  const rows = await endpoint.read(`select "table", rows, sha256 from ${backupTable}`)
  return rows.map(([table, count, sha256]) => ({ table: String(table), rows: Number(count), sha256: String(sha256) }))
}

/** RFC 1952, section 2.3.1. */
function isGzip(file: string): boolean {
  const start = Buffer.alloc(2)
  let descriptor: number
  try {
    if (!statSync(file).isFile()) throw noFile(file)
    descriptor = openSync(file, 'r')
  } catch (error) {
    if (error instanceof CarillonError) throw error
    const reason = messageOf(error)
    throw new CarillonError('NOT_FOUND', `${file} cannot be read: ${reason}`, { cause: error })
  }
  try {
    readSync(descriptor, start)
  } finally {
    closeSync(descriptor)
  }
  return start.readUInt16BE(0) === 0x1f8b
}

/** A folder, or a pipe, which would be empty when it is read a second time. */
function noFile(file: string): CarillonError {
  return new CarillonError('UNPROCESSABLE', `${file} is not a file, and restore reads it more than once`, {
    remedy: 'Save it to a file first.',
  })
}
