// Moves everything to another database. The old one refuses writes; the new one is compared row by
// row. After a kill, the same call continues.
import { iso } from '../../basics/clock.ts'
import { quoted } from '../../basics/control-characters.ts'
import { CarillonError, conflict, messageOf, notFound } from '../../basics/errors.ts'
import { type Database, displayDatabase } from '../database.ts'
import type { Move } from '../transfer-state.ts'
import {
  allowWrites,
  createTables,
  endMove,
  openEndpoint,
  refuseGivenUp,
  refuseUnusable,
  refuseWrites,
  sourceAt,
  stateOf,
} from './endpoint/endpoint.ts'
import { fill, type Report, refuseFilled, type Target } from './fill.ts'
import type { Checksum } from './rows.ts'

/** `onRefusing` runs just before the source refuses writes. */
type Options = Target & {
  from: Database
  id: string
  now: () => number
  report: Report
  onRefusing?: () => void
}

/** The error says whether the source refuses writes now. */
export async function moveDatabase(options: Options): Promise<readonly Checksum[]> {
  const { from, to, partitions, id, now, report, onRefusing = () => {} } = options
  await using source = await openEndpoint(from)
  await refuseUnusable(source)
  const earlier = await stateOf(source, 'moving')
  if (earlier !== null && (earlier.target !== displayDatabase(to) || earlier.endedAt !== null))
    throw otherMove(earlier, from)
  let begun = earlier
  try {
    await using target = await openEndpoint(to)
    const move = earlier ?? { id, target: target.name, startedAt: now(), endedAt: null }
    const by = { source: move.id, call: `carillon move --from ${urlOf(from)}` }
    await createTables(target, partitions)
    if (earlier === null) await refuseFilled(target, by)
    onRefusing()
    if (earlier === null) await refuseWrites(source, 'moving', move)
    begun = move
    const check = () => refuseGivenUp(source, move.id)
    const checksums = await fill(target, await sourceAt(source), {
      by,
      isAgain: earlier !== null,
      check,
      report,
    })
    await endMove(source, { id: move.id, at: now() })
    return checksums
  } catch (error) {
    if ((await stateOf(source, 'moving').catch(() => begun)) === null) throw error
    const code = error instanceof CarillonError ? error.code : 'UNAVAILABLE'
    const problem = messageOf(error).replace(/\.$/, '')
    throw new CarillonError(code, problem, { remedy: refusingSentence(from), cause: error })
  }
}

export function refusingSentence(from: Database): string {
  const choices = `run the same command again, or take it back with: ${giveUpCommand(from)}`
  return `${displayDatabase(from)} refuses writes until the move is done: ${choices}`
}

function urlOf(database: Database): string {
  return quoted(
    database.engine === 'postgres'
      ? displayDatabase(database)
      : `sqlite:${displayDatabase(database)}`,
  )
}

export function giveUpCommand(from: Database): string {
  return `carillon move --give-up --from ${urlOf(from)}`
}

function otherMove({ target, endedAt }: Move, from: Database): CarillonError {
  const [what, remedy] =
    endedAt === null
      ? [
          `is being moved to ${target}, and refuses writes`,
          'Finish that move, or give it up first: ',
        ]
      : [
          `was moved to ${target} at ${iso(endedAt)} and has refused writes since then`,
          'To use it again: ',
        ]
  const problem = `${displayDatabase(from)} ${what}`
  return conflict(problem, remedy + giveUpCommand(from))
}

/** The source accepts writes again. Throws NOT_FOUND if no move was begun. */
export async function giveUpMove(from: Database): Promise<Move> {
  await using source = await openEndpoint(from)
  await refuseUnusable(source)
  const move = await stateOf(source, 'moving')
  if (move === null) throw notFound(`${source.name} is not being moved, and accepts writes`)
  await allowWrites(source, 'moving')
  return move
}
