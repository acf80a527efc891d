// Restores a backup into an empty database of either engine. Checks the whole backup before it writes the first row, and reads
// every row back after the last.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Database, displayDatabase } from '../../config/database-url.ts'
import { CarillonError, messageOf } from '../../errors.ts'
import type { Digest } from './digest.ts'
import { Dump } from './dump.ts'
import { openEndpoint } from './endpoint/open.ts'
import { counting, fill, type Report, refuseForeignTarget, rowsIn, verify } from './fill.ts'

type RestoreOptions = { file: string; to: Database; partitions: number; report: Report }

export async function restoreBackup({ file, to, partitions, report }: RestoreOptions): Promise<readonly Digest[]> {
  if (!isGzip(file)) throw new CarillonError('UNPROCESSABLE', `${file} is not a backup of Carillon`)
  const source = await Dump.open(file)
  const { digests } = source
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
