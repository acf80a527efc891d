// Takes a backup beside a running service: everything as it was at one moment, read back and compared before the file has
// its name.

import { CarillonError } from '../../errors.ts'
import { copyOnline } from '../sqlite/database.ts'
import { type Digest, differenceOf, digestsOf } from './digest.ts'
import { Dump, writeDump } from './dump.ts'
import { type Endpoint, totalOf } from './endpoint/endpoint.ts'
import { SqliteEndpoint } from './endpoint/sqlite.ts'
import { counting, currentMigrations, type Report, rowsIn } from './fill.ts'
import { writeNewFile } from './new-file.ts'

/** As SQLite itself keeps a database, or in the form that every engine takes. */
export type BackupForm = 'sqlite' | 'portable'

type BackupOptions = { file: string; isPortable: boolean; at: string; report: Report }

/** A database of SQLite is copied as it is unless `isPortable`. `at` is ISO 8601. */
export async function backUp(
  side: Endpoint,
  { file, isPortable, at, report }: BackupOptions,
): Promise<{ form: BackupForm; digests: Digest[] }> {
  if (side instanceof SqliteEndpoint && !isPortable)
    return { form: 'sqlite', digests: await copyFile(side, { file, report }) }
  return { form: 'portable', digests: await writePortable(side, { file, at, report }) }
}

function copyFile(side: SqliteEndpoint, { file, report }: { file: string; report: Report }): Promise<Digest[]> {
  return writeNewFile(file, async (draft) => {
    // The copy and the digests come from one moment: SQLite copies the snapshot that its connection holds.
    const digests = await side.snapshot(async () => {
      await copyOnline(side.database, draft)
      return digestsOf(side.batchesAfter(null), counting(report, 'Copying', totalOf(await side.counts())))
    })
    const copy = SqliteEndpoint.connect(draft)
    try {
      await copy.makeBackup(digests)
      copy.refuseDamaged(file)
      const found = await digestsOf(copy.batchesAfter(null), counting(report, 'Verifying', rowsIn(digests)))
      refuseDifference(file, digests, found)
    } finally {
      await copy.close()
    }
    return digests
  })
}

function writePortable(side: Endpoint, { file, at, report }: Omit<BackupOptions, 'isPortable'>): Promise<Digest[]> {
  const schema = currentMigrations.at(-1) ?? ''
  return writeNewFile(file, async (draft) => {
    const written = await side.snapshot(async () => {
      const onRows = counting(report, 'Copying', totalOf(await side.counts()))
      return writeDump(draft, { source: side, schema, engine: side.engine, takenAt: at, onRows })
    })
    const onRows = counting(report, 'Verifying', rowsIn(written))
    const { digests } = await Dump.open(draft, { known: currentMigrations, onRows })
    refuseDifference(file, written, digests)
    return written
  })
}

/** A disk that does not give back what it was given. */
function refuseDifference(file: string, expected: readonly Digest[], found: readonly Digest[]): void {
  const difference = differenceOf(expected, found)
  if (difference !== undefined)
    throw new CarillonError('UNAVAILABLE', `${file} could not be written correctly: ${difference}`)
}
