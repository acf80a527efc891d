// Moves everything from one database to another, of either engine: the old one refuses writes and goes on being read, the
// new one is filled and compared row by row. Killed at any moment, the same call goes on.

import { type Database, displayDatabase } from '../../config/database-url.ts'
import { CarillonError, messageOf } from '../../errors.ts'
import { quoted } from '../../files/shell-path.ts'
import { type Digest, digestsOf } from './digest.ts'
import { type Endpoint, type Move, totalOf } from './endpoint/endpoint.ts'
import { openEndpoint, openSource } from './endpoint/open.ts'
import { counting, fill, type Report, refuseForeignTarget, verify } from './fill.ts'

type MoveOptions = {
  from: Database
  to: Database
  partitions: number
  /** Names this move, where it is a new one. */
  id: string
  now: () => number
  report: Report
  /** Told just before the source begins to refuse writes, or when it does already. */
  onRefusing?: () => void
}

/** Answers what both hold. Throws CarillonError with a sentence, which says so where the source refuses writes then. */
export async function moveDatabase(options: MoveOptions): Promise<Digest[]> {
  const { from, to, partitions, id, now, report, onRefusing = () => {} } = options
  const source = await openSource(from)
  let isRefusing = false
  try {
    const earlier = await source.move()
    if (earlier !== null) await refuseOther(earlier, { from, to })
    isRefusing = earlier !== null
    if (isRefusing) onRefusing()
    const target = await openEndpoint(to, { partitions })
    try {
      const move = earlier ?? { id, target: displayDatabase(to), startedAt: now(), endedAt: null }
      await refuseForeignTarget(target, { id: move.id, shown: displayDatabase(to) })
      if (!isRefusing) {
        onRefusing()
        await source.refuseWrites(move)
        isRefusing = true
      }
      await fill(target, { source, id: move.id, report })
      const digests = await compare(source, target, { shown: displayDatabase(to), report })
      // In this order: killed in between, the next call finds the target still marked and comes here again.
      isRefusing = await source.endMove({ id: move.id, at: now() })
      if (!isRefusing)
        throw new CarillonError('CONFLICT', 'Another process has given up this move', {
          remedy: 'Empty the new database: it cannot be used.',
        })
      await target.endFilling()
      return digests
    } finally {
      await target.close()
    }
  } catch (error) {
    throw isRefusing ? whileRefusing(error, from) : error
  } finally {
    await source.close()
  }
}

function whileRefusing(error: unknown, from: Database): CarillonError {
  const { code, problem, remedy } =
    error instanceof CarillonError ? error : new CarillonError('UNAVAILABLE', messageOf(error))
  const first = remedy === undefined ? '' : `${remedy}${remedy.endsWith('.') ? '' : '.'} `
  return new CarillonError(code, problem, { remedy: first + refusingSentence(from), cause: error })
}

/** How things stand where a move was ended in the middle, and the two ways on. */
export function refusingSentence(from: Database): string {
  return (
    `${displayDatabase(from)} refuses writes until the move is done: run the same command again, ` +
    `or take it back with: ${giveUpCommand(from)}`
  )
}

/** Without the user and the password of the URL. */
export function giveUpCommand(from: Database): string {
  const url = from.engine === 'postgres' ? displayDatabase(from) : `sqlite:${displayDatabase(from)}`
  return `carillon move --give-up --from ${quoted(url)}`
}

async function compare(
  source: Endpoint,
  target: Endpoint,
  { shown, report }: { shown: string; report: Report },
): Promise<Digest[]> {
  const onRows = counting(report, 'Verifying', 2 * totalOf(await source.counts()))
  const expected = await digestsOf(source.batchesAfter(null), onRows)
  await verify(target, { expected, shown, onRows })
  return expected
}

/**
 * Throws CONFLICT where a move that was begun goes elsewhere, or is done. While its target is still marked, only the end
 * of it is missing.
 */
async function refuseOther(
  { id, target, endedAt }: Move,
  { from, to }: { from: Database; to: Database },
): Promise<void> {
  if (endedAt === null && target === displayDatabase(to)) return
  if (endedAt === null)
    throw new CarillonError('CONFLICT', `${displayDatabase(from)} is being moved to ${target}, and refuses writes`, {
      remedy: `Finish that move, or give it up first: ${giveUpCommand(from)}`,
    })
  if (target === displayDatabase(to)) {
    const side = await openEndpoint(to)
    const filling = await side.filling().finally(() => side.close())
    if (filling?.id === id) return
  }
  throw new CarillonError(
    'CONFLICT',
    `${displayDatabase(from)} was moved to ${target} at ${new Date(endedAt).toISOString()} and has refused writes since then`,
    { remedy: `To use it again: ${giveUpCommand(from)}` },
  )
}

/** Takes writes again, and answers the move that was begun or done. Throws NOT_FOUND where there is none. */
export async function giveUpMove(from: Database): Promise<Move> {
  const source = await openSource(from)
  try {
    const move = await source.move()
    if (move === null)
      throw new CarillonError('NOT_FOUND', `${displayDatabase(from)} is not being moved, and accepts writes`)
    await source.allowWrites()
    return move
  } finally {
    await source.close()
  }
}
