// Moves everything from one database to another, of either engine: the old one refuses writes and goes on being read, the
// new one is filled and compared row by row. Killed at any moment, the same call goes on.
import { CarillonError } from '../../errors.ts'
import { type Digest, digestsOf } from './digest.ts'
import { counting, fill, type Report, refuseForeignTarget, verify } from './fill.ts'
import { openSide, openSource, shownUrl } from './open-side.ts'
import { type Move, type Side, totalOf } from './side.ts'

type MoveOptions = {
  from: string
  to: string
  partitions: number
  /** Names this move, where it is a new one. */
  id: string
  now: () => number
  report: Report
}

/** Answers what both hold. Throws CarillonError with a sentence; then the source refuses writes still, if it did. */
export async function moveDatabase({ from, to, partitions, id, now, report }: MoveOptions): Promise<Digest[]> {
  const source = await openSource(from)
  try {
    const earlier = await source.move()
    if (earlier !== null && earlier.endedAt !== null) await refuseMoved(earlier, { from, to })
    const target = await openSide(to, { partitions })
    try {
      const move = earlier ?? { id, target: shownUrl(to), startedAt: now(), endedAt: null }
      await refuseForeignTarget(target, { id: move.id, shown: shownUrl(to) })
      if (earlier === null) await source.refuseWrites(move)
      await fill(target, { source, id: move.id, report })
      const digests = await compare(source, target, { shown: shownUrl(to), report })
      // In this order: killed in between, the next call finds the target still marked and comes here again.
      if (!(await source.endMove({ id: move.id, at: now() })))
        throw new CarillonError('CONFLICT', 'This move was given up meanwhile. The new database is of no use.')
      await target.endFilling()
      return digests
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function compare(
  source: Side,
  target: Side,
  { shown, report }: { shown: string; report: Report },
): Promise<Digest[]> {
  const onRows = counting(report, 'Verifying', 2 * totalOf(await source.counts()))
  const expected = await digestsOf(source.batchesAfter(null), onRows)
  await verify(target, { expected, shown, onRows })
  return expected
}

/** Unless its target is still marked: then only the end of the move is missing. */
async function refuseMoved({ id, target, endedAt }: Move, { from, to }: { from: string; to: string }): Promise<void> {
  if (target === shownUrl(to)) {
    const side = await openSide(to)
    const filling = await side.filling().finally(() => side.close())
    if (filling?.id === id) return
  }
  throw new CarillonError(
    'CONFLICT',
    `${shownUrl(from)} was moved to ${target} at ${new Date(endedAt ?? 0).toISOString()} and refuses writes since. ` +
      'To use it again: carillon move --give-up',
  )
}

/** Takes writes again, and answers the move that was begun or done. Throws NOT_FOUND where there is none. */
export async function giveUpMove(from: string): Promise<Move> {
  const source = await openSource(from)
  try {
    const move = await source.move()
    if (move === null)
      throw new CarillonError('NOT_FOUND', `${shownUrl(from)} is not being moved, and takes writes as ever.`)
    await source.allowWrites()
    return move
  } finally {
    await source.close()
  }
}
