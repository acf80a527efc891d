// Fills an empty database with a source's rows, and compares the two. Until they are equal, a mark
// keeps programs away. The same call goes on after each table's last row.
import { randomUUID } from 'node:crypto'
import { CarillonError, conflict, unavailable } from '../../basics/errors.ts'
import type { Database } from '../database.ts'
import { entryOf, type Filling } from '../transfer-state.ts'
import {
  exclusively,
  fillingOf,
  lastKey,
  refuseLaterCall,
  setFilling,
  sourceAt,
} from './endpoint/endpoint.ts'
import { type Checksum, checksumsOf, type Endpoint, lineOf, type Source } from './rows.ts'

/** The returned function gets the rows of each batch. `done`: already copied. */
export type Report = (
  step: 'Copying' | 'Verifying',
  rows: { total: number; done?: number },
) => (count: number) => void
export type Target = { to: Database; partitions: number }
type By = Omit<Filling, 'run'>
/** `isAgain`: an earlier call may have filled it. `check` throws if the source may have changed. */
type Options = { by: By; isAgain?: boolean; check?: () => Promise<unknown>; report: Report }

/** Throws CONFLICT if the target has rows, unless an earlier call of the same source wrote them. */
export async function refuseFilled(
  target: Endpoint,
  { source, call }: By,
  names?: string[],
): Promise<void> {
  const filling = await fillingOf(target)
  if (filling?.source === source) return
  if (filling === undefined && (await sourceAt(target, names)).total === 0) return
  // The file was replaced, or the move given up.
  const finish =
    filling?.call === call
      ? 'It was begun with other rows: '
      : `Finish it with ${filling?.call}, or `
  const state = filling === undefined ? 'not empty' : 'incomplete'
  const remedy =
    filling === undefined
      ? 'Name an empty database.'
      : `${finish}delete it and begin with an empty one.`
  throw conflict(`${target.name} is ${state}, and was left as it is`, remedy)
}

/** Throws UNAVAILABLE if rows differ, CONFLICT if the target has others. Then the mark stays. */
export async function fill(
  target: Endpoint,
  source: Source,
  { by, isAgain, check, report }: Options,
) {
  const entry = entryOf({ ...by, run: randomUUID() })
  const names = source.tables.map(({ name }) => name)
  const stored = await sourceAt(target, names)
  const { total, checksums } = source
  if (JSON.stringify(source.tables) !== JSON.stringify(stored.tables))
    throw new CarillonError(
      'UNPROCESSABLE',
      `${target.name} has other tables than what is copied to it`,
    )
  const isFull = isAgain && stored.total > 0 && (await fillingOf(target)) === undefined
  if (!isFull) {
    await exclusively(target, async () => {
      await refuseFilled(target, by, names)
      await setFilling(target, entry)
    })
    const onCopied = report('Copying', { total, done: stored.total })
    for (const table of source.tables)
      for await (const rows of source.rows(table, await lastKey(target, table))) {
        await exclusively(target, async () => {
          await refuseLaterCall(target, entry)
          if (rows.length > 0) await target.insert(table, rows)
        })
        onCopied(rows.length)
      }
  }
  return exclusively(target, async (): Promise<readonly Checksum[]> => {
    if (!isFull) await refuseLaterCall(target, entry)
    if (!isFull) await setFilling(target)
    const onRead = report('Verifying', { total: checksums === undefined ? 2 * total : total })
    const expected = checksums ?? (await checksumsOf(source, onRead))
    const found = await checksumsOf(stored, onRead)
    const other = expected.find((one, i) => lineOf(one) !== lineOf(found[i] ?? {}))
    await check?.()
    if (other === undefined) return expected
    const problem = `${target.name} does not hold what was written to it: the rows of ${other.table} differ`
    const when = isFull
      ? 'try again, unless a service has used it since: then keep it'
      : 'use it or try again'
    throw unavailable(problem, `Empty it before you ${when}.`)
  })
}
