// Fills an empty database with the rows of a source, continues an interrupted attempt, and compares the two.
import { CarillonError } from '../../basics/errors.ts'
import type { Database } from '../../config/database-url.ts'
import { fillingTable } from '../transfer-state.ts'
import { add, beginFilling, hasSchema, lastKey, sourceAt, stateOf } from './endpoint/endpoint.ts'
import { type Checksum, checksumsOf, type Endpoint, lineOf, type Source } from './rows.ts'

/** Called at the beginning of a step; the function that it returns is called with the number of rows of each batch. */
export type Report = (step: 'Copying' | 'Verifying', rows: { total: number; done?: number }) => (count: number) => void
/** `partitions`: see migrate. `id`: of the transfer. */
export type Target = { to: Database; partitions: number; id: string }

/** Throws CONFLICT if the target has rows that the transfer `id` did not write. Creates the tables of a new database. */
export async function refuseForeignTarget(target: Endpoint, { partitions, id }: Omit<Target, 'to'>): Promise<void> {
  if (!(await hasSchema(target))) await target.migrate(partitions)
  const filling = await stateOf(target, fillingTable)
  if (filling === null ? (await sourceAt(target)).total === 0 : filling === id) return
  const why = filling === null ? 'is not empty, and was left as it is' : 'is half filled by another move or restore'
  throw new CarillonError('CONFLICT', `${target.name} ${why}`, { remedy: 'Name an empty database.' })
}

type Filling = { source: Source; id: string; report: Report }

/** Resolves when every row is committed in the target and was compared there. Returns what it holds. */
export async function fill(target: Endpoint, { source, id, report }: Filling): Promise<readonly Checksum[]> {
  const stored = await sourceAt(target)
  const { total, checksums } = source
  if (JSON.stringify(source.tables) !== JSON.stringify(stored.tables))
    throw new CarillonError('UNPROCESSABLE', `${target.name} has other tables than what is copied to it`)
  if ((await stateOf(target, fillingTable)) === null) await beginFilling(target, id)
  const onCopied = report('Copying', { total, done: stored.total })
  for (const table of source.tables) {
    let last = await lastKey(target, table)
    for await (const rows of source.rows(table, last)) {
      if (rows.length > 0) last = await add(target, id, { table, rows, last })
      onCopied(rows.length)
    }
  }
  const onRead = report('Verifying', { total: checksums === undefined ? 2 * total : total })
  const expected = checksums ?? (await checksumsOf(source, onRead))
  const found = await checksumsOf(stored, onRead)
  const other = expected.find((one, i) => lineOf(one) !== lineOf(found[i] ?? {}))
  if (other === undefined) return expected
  const problem = `${target.name} does not hold what was written to it: the rows of ${other.table} differ`
  throw new CarillonError('UNAVAILABLE', problem, { remedy: 'Empty it before you use it or try again.' })
}
