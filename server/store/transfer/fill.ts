// Fills an empty database with the rows of a source, goes on where an earlier attempt was ended, and says whether both
// hold the same. What a move and a restore share.
import { CarillonError } from '../../errors.ts'
import { knownMigrations } from '../migrations.ts'
import { type Digest, differenceOf, digestsOf } from './digest.ts'
import { type Counts, type Endpoint, inUse, type Place, placeAfter, type Source, totalOf } from './endpoint/endpoint.ts'
import { tables } from './endpoint/tables.ts'

/** Told after every batch; `total` is how many rows the step has. */
export type Report = (progress: { step: 'Copying' | 'Verifying'; done: number; total: number }) => void

/** The same in every engine, which a test holds. */
export const currentMigrations = knownMigrations(new URL('../sqlite/migrations/', import.meta.url))

/** Throws UNAVAILABLE if a database is not of this program's schema, or for `mayBeOlder` not of this one or an earlier one. */
export async function refuseOtherSchema(side: Endpoint, shown: string, { mayBeOlder = false } = {}): Promise<void> {
  const found = await side.migrations()
  if (found.length === 0) throw new CarillonError('UNAVAILABLE', `There is no Carillon database at ${shown}`)
  if (isCurrent(found)) return
  const newest = found.at(-1) ?? ''
  const isOlder = found.join() === currentMigrations.slice(0, found.length).join()
  if (mayBeOlder && isOlder) return
  const [age, remedy] = currentMigrations.includes(newest)
    ? ['older', 'Bring it up to date with carillon migrate.']
    : ['newer', 'Run the version of Carillon that wrote it, or a later one.']
  throw new CarillonError('UNAVAILABLE', `The schema of ${shown} is ${age} than this program's`, { remedy })
}

function isCurrent(found: readonly string[]): boolean {
  return found.join() === currentMigrations.join()
}

/** What `id` may go on filling, or begin to. Throws CONFLICT where the target has anything of its own in it. */
export async function refuseForeignTarget(target: Endpoint, { id, shown }: { id: string | null; shown: string }) {
  if ((await target.migrations()).length === 0) await target.migrate()
  await refuseOtherSchema(target, shown)
  const filling = await target.filling()
  if (filling !== null && filling.id !== id)
    throw new CarillonError('CONFLICT', `${shown} is half filled by another move or restore`, {
      remedy: 'Finish that one, or name an empty database.',
    })
  if (filling === null && totalOf(await target.counts()) > 0)
    throw new CarillonError('CONFLICT', `${shown} is not empty, and was left as it is`, {
      remedy: 'Name an empty database.',
    })
}

/** Resolves when every row is in the target and is kept. */
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

/** Reads every row back, and throws UNAVAILABLE where a table is not as expected. */
export async function verify(
  side: Endpoint,
  { expected, shown, onRows }: { expected: readonly Digest[]; shown: string; onRows: (count: number) => void },
): Promise<void> {
  const difference = differenceOf(expected, await digestsOf(side.batchesAfter(null), onRows))
  if (difference !== undefined)
    throw new CarillonError('UNAVAILABLE', `${shown} does not hold what was written to it: ${difference}`, {
      remedy: 'Empty it before you use it or try again.',
    })
}

/** A counter for `onRows` that reports one step of `total` rows. */
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
