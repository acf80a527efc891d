// Moves everything from one database to another, of either engine. The old database refuses writes and can still be read; the
// new one is filled and compared row by row. If the process is killed at any moment, the same call continues.

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
  /** The id of the move, if it is a new one. */
  id: string
  now: () => number
  report: Report
  /** Called just before the source begins to refuse writes, or at once if it already does. */
  onRefusing?: () => void
}

/** Returns what both databases hold. The error that it throws says whether the source refuses writes now. */
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
      await refuseForeignTarget(target, { id: move.id, name: displayDatabase(to) })
      if (!isRefusing) {
        onRefusing()
        await source.refuseWrites(move)
        isRefusing = true
      }
      await fill(target, { source, id: move.id, report })
      const digests = await compare(source, target, { name: displayDatabase(to), report })
      // In this order: if the process is killed in between, the next call finds the filling unfinished and repeats both.
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

/** For a move that was interrupted: what state the source is in, and the two commands to choose from. */
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
  { name, report }: { name: string; report: Report },
): Promise<Digest[]> {
  const onRows = counting(report, 'Verifying', 2 * totalOf(await source.counts()))
  const expected = await digestsOf(source.batchesAfter(null), onRows)
  await verify(target, { expected, name, onRows })
  return expected
}

/** Throws CONFLICT if an earlier move has another target or is done, but not if only its last step is missing. */
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
    const endpoint = await openEndpoint(to)
    const filling = await endpoint.filling().finally(() => endpoint.close())
    if (filling?.id === id) return
  }
  throw new CarillonError(
    'CONFLICT',
    `${displayDatabase(from)} was moved to ${target} at ${new Date(endedAt).toISOString()} and has refused writes since then`,
    { remedy: `To use it again: ${giveUpCommand(from)}` },
  )
}

/** Makes the source accept writes again, and returns the move that was begun or done. Throws NOT_FOUND if there is none. */
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
