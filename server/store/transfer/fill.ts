// Fills an empty database with the rows of a source, in one transaction, and compares the two.
import { CarillonError } from '../../basics/errors.ts'
import type { Database } from '../../config/database-url.ts'
import { exclusively, hasSchema, sourceAt } from './endpoint/endpoint.ts'
import { type Checksum, checksumsOf, type Endpoint, lineOf, type Source } from './rows.ts'

/** Called at the beginning of a step; the function that it returns is called with the number of rows of each batch. */
export type Report = (step: 'Copying' | 'Verifying', rows: { total: number }) => (count: number) => void
/** `partitions`: see migrate. */
export type Target = { to: Database; partitions: number }

/** Throws CONFLICT if the target has rows. Creates the tables of a new database. */
export async function refuseFilled(target: Endpoint, partitions: number): Promise<void> {
  await createTables(target, partitions)
  if ((await sourceAt(target)).total === 0) return
  const remedy = 'Name an empty database.'
  throw new CarillonError('CONFLICT', `${target.name} is not empty, and was left as it is`, { remedy })
}

export async function createTables(target: Endpoint, partitions: number): Promise<void> {
  if (!(await hasSchema(target))) await target.migrate(partitions)
}

/**
 * Commits the rows after they were compared in the target; otherwise it stays empty. If it has rows already, they are those of the same
 * source, or it throws UNAVAILABLE. Returns what both hold.
 */
export function fill(target: Endpoint, source: Source, report: Report): Promise<readonly Checksum[]> {
  return exclusively(target, async () => {
    const stored = await sourceAt(target)
    const { total, checksums } = source
    if (JSON.stringify(source.tables) !== JSON.stringify(stored.tables))
      throw new CarillonError('UNPROCESSABLE', `${target.name} has other tables than what is copied to it`)
    if (stored.total === 0) await copy(target, source, report('Copying', { total }))
    const onRead = report('Verifying', { total: checksums === undefined ? 2 * total : total })
    const expected = checksums ?? (await checksumsOf(source, onRead))
    const found = await checksumsOf(stored, onRead)
    const other = expected.find((one, i) => lineOf(one) !== lineOf(found[i] ?? {}))
    if (other === undefined) return expected
    const problem = `${target.name} does not hold what was written to it: the rows of ${other.table} differ`
    throw new CarillonError('UNAVAILABLE', problem, { remedy: 'Empty it before you use it or try again.' })
  })
}

async function copy(target: Endpoint, source: Source, onCopied: (count: number) => void): Promise<void> {
  for (const text of target.fillingBegins) await target.query(text)
  for (const table of source.tables)
    for await (const rows of source.rows(table)) {
      if (rows.length > 0) await target.insert(table, rows)
      onCopied(rows.length)
    }
  for (const text of target.fillingEnds) await target.query(text)
}
