// Restores a backup, in either form, into an empty database of either engine. The backup is checked from end to end
// before the first row is written, and every row is read back after the last.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Database, displayDatabase } from '../../config/database-url.ts'
import { CarillonError, messageOf } from '../../errors.ts'
import { type Digest, differenceOf, digestsOf } from './digest.ts'
import { Dump } from './dump.ts'
import type { Source } from './endpoint/endpoint.ts'
import { openEndpoint } from './endpoint/open.ts'
import { SqliteEndpoint } from './endpoint/sqlite.ts'
import {
  counting,
  currentMigrations,
  fill,
  type Report,
  refuseForeignTarget,
  refuseOtherSchema,
  rowsIn,
  verify,
} from './fill.ts'
import { asOf } from './older-rows.ts'

type Backup = { source: Source; digests: readonly Digest[] }
type RestoreOptions = { file: string; to: Database; partitions: number; report: Report }

/** Answers what was restored. Throws CarillonError with a sentence. */
export function restoreBackup({ file, to, partitions, report }: RestoreOptions): Promise<readonly Digest[]> {
  return withBackup(file, async ({ source, digests }) => {
    const target = await openEndpoint(to, { partitions })
    try {
      // What it holds is its name: only the same backup goes on with what an ended attempt has filled.
      const id = `backup ${createHash('sha256').update(JSON.stringify(digests)).digest('hex')}`
      await refuseForeignTarget(target, { id, shown: displayDatabase(to) })
      await fill(target, { source, id, report })
      const onRows = counting(report, 'Verifying', rowsIn(digests))
      await verify(target, { expected: digests, shown: displayDatabase(to), onRows })
      await target.endFilling()
      return digests
    } finally {
      await target.close()
    }
  })
}

/** Opens a backup in either form, and finds it whole. */
async function withBackup<Result>(file: string, work: (backup: Backup) => Promise<Result>): Promise<Result> {
  if (isGzip(file)) {
    const dump = await Dump.open(file, { known: currentMigrations })
    return work({ source: dump, digests: dump.digests })
  }
  const side = SqliteEndpoint.openFile(file)
  if (side === undefined) throw new CarillonError('UNPROCESSABLE', `${file} is not a backup of Carillon`)
  try {
    return await side.snapshot(async () => {
      side.refuseDamaged(file)
      await refuseOtherSchema(side, file, { mayBeOlder: true })
      const digests = await digestsOf(side.batchesAfter(null))
      await refuseChanged(side, { file, digests })
      return work({ source: side, digests })
    })
  } finally {
    await side.close()
  }
}

/**
 * Throws UNPROCESSABLE if a backup does not hold what it held when it was taken. An older one has the digests of the rows of
 * its time, also if it was migrated since.
 */
async function refuseChanged(
  side: SqliteEndpoint,
  { file, digests }: { file: string; digests: readonly Digest[] },
): Promise<void> {
  const taken = side.digestsWhenTaken()
  const difference = taken && differenceOf(taken, digests)
  if (taken === undefined || difference === undefined) return
  for (const schema of currentMigrations.slice(0, -1).reverse())
    if (differenceOf(taken, await digestsOf(asOf(side.batchesAfter(null), schema))) === undefined) return
  throw new CarillonError('UNPROCESSABLE', `${file} has changed since it was taken: ${difference}`, {
    remedy: 'Nothing was restored; use another backup.',
  })
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

/** A folder; or a pipe, which would be empty at the second reading. */
function noFile(file: string): CarillonError {
  return new CarillonError('UNPROCESSABLE', `${file} is not a file, and restore reads it more than once`, {
    remedy: 'Save it to a file first.',
  })
}
