// Fills an empty database with the rows of a source, continues an interrupted attempt, and compares the two.
import { CarillonError } from '../../errors.ts'
import { type Digest, differenceOf, digestsOf } from './digest.ts'
import { type Counts, type Endpoint, inUse, type Place, placeAfter, type Source, totalOf } from './endpoint/endpoint.ts'
import { currentMigrations, tables } from './endpoint/tables.ts'

/** Called after every batch; `total` is the number of rows of the step. */
export type Report = (progress: { step: 'Copying' | 'Verifying'; done: number; total: number }) => void

/** Throws UNAVAILABLE if a database does not have this program's schema. */
export async function refuseOtherSchema(endpoint: Endpoint, name: string): Promise<void> {
  const found = await endpoint.migrations()
  if (found.length === 0) throw new CarillonError('UNAVAILABLE', `There is no Carillon database at ${name}`)
  if (found.join() === currentMigrations.join()) return
  const newest = found.at(-1) ?? ''
  const [age, remedy] = currentMigrations.includes(newest)
    ? ['older', 'Bring it up to date with carillon migrate.']
    : ['newer', 'Run the version of Carillon that wrote it, or a later one.']
  throw new CarillonError('UNAVAILABLE', `The schema of ${name} is ${age} than this program's`, { remedy })
}

/** Throws CONFLICT if the target has rows that the transfer `id` did not write. */
export async function refuseForeignTarget(target: Endpoint, { id, name }: { id: string | null; name: string }) {
  if ((await target.migrations()).length === 0) await target.migrate()
  await refuseOtherSchema(target, name)
  const filling = await target.filling()
  if (filling !== null && filling.id !== id)
    throw new CarillonError('CONFLICT', `${name} is half filled by another move or restore`, {
      remedy: 'Finish that one, or name an empty database.',
    })
  if (filling === null && totalOf(await target.counts()) > 0)
    throw new CarillonError('CONFLICT', `${name} is not empty, and was left as it is`, {
      remedy: 'Name an empty database.',
    })
}

/** Resolves when every row is committed in the target. */
export async function fill(
  target: Endpoint,
  { source, id, report }: { source: Source; id: string; report: Report },
): Promise<void> {
  const counts = await source.counts()
  const total = totalOf(counts)
  const filling = await target.filling()
  if (filling === null) await target.beginFilling(id)
  let place = filling?.place ?? null
  let done = rowsUpTo(place, counts)
  report({ step: 'Copying', done, total })
  for await (const batch of source.batchesAfter(place)) {
    const after = placeAfter(place, batch)
    if (!(await target.add(batch, { id, before: place, after }))) throw inUse()
    place = after
    done += batch.rows.length
    report({ step: 'Copying', done, total })
  }
}

function rowsUpTo(place: Place | null, counts: Counts): number {
  if (place === null) return 0
  const earlier = tables.slice(
    0,
    tables.findIndex(({ name }) => name === place.table),
  )
  return earlier.reduce((sum, { name }) => sum + (counts[name] ?? 0), place.rows)
}

/** Reads every row back, and throws UNAVAILABLE if a table is not as expected. */
export async function verify(
  endpoint: Endpoint,
  { expected, name, onRows }: { expected: readonly Digest[]; name: string; onRows: (count: number) => void },
): Promise<void> {
  const difference = differenceOf(expected, await digestsOf(endpoint.batchesAfter(null), onRows))
  if (difference !== undefined)
    throw new CarillonError('UNAVAILABLE', `${name} does not hold what was written to it: ${difference}`, {
      remedy: 'Empty it before you use it or try again.',
    })
}

export function counting(report: Report, step: 'Copying' | 'Verifying', total: number): (count: number) => void {
  let done = 0
  report({ step, done, total })
  return (count) => {
    done += count
    report({ step, done, total })
  }
}

export function rowsIn(digests: readonly Digest[]): number {
  return digests.reduce((sum, { rows }) => sum + rows, 0)
}
