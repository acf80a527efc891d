// Takes a backup beside a running service: all rows of one moment, read back and compared before the file is named.

import { CarillonError } from '../../errors.ts'
import { type Digest, differenceOf } from './digest.ts'
import { Dump, writeDump } from './dump.ts'
import { type Endpoint, totalOf } from './endpoint/endpoint.ts'
import { newestMigration } from './endpoint/tables.ts'
import { counting, type Report, rowsIn } from './fill.ts'
import { writeNewFile } from './new-file.ts'

/** Returns what the backup holds. `at` is ISO 8601. Throws CONFLICT if the file exists, UNAVAILABLE if it cannot be written. */
export function backUp(
  endpoint: Endpoint,
  { file, at, report }: { file: string; at: string; report: Report },
): Promise<Digest[]> {
  return writeNewFile(file, async (draft) => {
    const written = await endpoint.snapshot(async () => {
      const onRows = counting(report, 'Copying', totalOf(await endpoint.counts()))
      return writeDump(draft, {
        source: endpoint,
        schema: newestMigration,
        engine: endpoint.engine,
        takenAt: at,
        onRows,
      })
    })
    const onRows = counting(report, 'Verifying', rowsIn(written))
    const { digests } = await Dump.open(draft, onRows)
    const difference = differenceOf(written, digests)
    // A disk that does not return what was written to it.
    if (difference !== undefined)
      throw new CarillonError('UNAVAILABLE', `${file} could not be written correctly: ${difference}`, {
        remedy: 'Check the disk, and use another one.',
      })
    return written
  })
}
