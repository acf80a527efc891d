// What a picture shows: who keeps what at each moment, and what went where, from recorded exchanges
// or, before a run, from predictions. It knows no SVG.
import type { Exchange, Row } from '../server/api.ts'
import type { Cell } from './experiments.ts'
import {
  broughtBy,
  type Hop,
  hopsOf,
  type PlaceId,
  proofOf,
  statusOf,
  type Tone,
  timeText,
  type Words,
} from './hops.ts'
import { tokenEnd } from './proof-parts.ts'
import type { Lane } from './world.ts'

export type Thing = { at: PlaceId; text: string; tone: Tone }
/** `since`: after so many hops. */
type State = { since: number; things: readonly Thing[] }
type Actor = Exchange['by']
export type Scene = {
  names: Readonly<Record<PlaceId, string>>
  states: readonly State[]
  hops: readonly Hop[]
  isLost: boolean
}
/**
 * `before`: the exchange whose rows exist at the beginning. `hasTimes`: clock and ends are drawn.
 */
export type Told = {
  exchanges: readonly Exchange[]
  before?: Exchange | undefined
  by: Actor
  isLost: boolean
  hasTimes: boolean
}

export function sceneOf(
  lane: Lane,
  { exchanges, before, by, isLost, hasTimes }: Told,
  words: Words,
): Scene {
  const { cookieName } = words
  const holds = (one: Exchange) => proofOf(one, cookieName) === lane
  // A thief without an exchange has no copy; others have what the page has.
  let isHeld = exchanges.length === 0 ? by !== 'thief' : exchanges.some(holds)
  const hops: Hop[] = []
  const states: State[] = []
  const note = (since: number, at: Exchange | undefined) => {
    const kept = keptThings(lane, { ...keptBy(at, lane, since > 0), isLost }, words)
    const times = hasTimes && at !== undefined ? timeThings(lane, at, words) : []
    states.push({ since, things: [heldThing(lane, { by, isHeld }, words), ...kept, ...times] })
  }
  note(0, before)
  for (const exchange of exchanges) {
    const own = hopsOf(exchange, words)
    const stored = own.findLastIndex(({ to }) => to === 'store') + 1
    if (stored > 0) note(hops.length + stored, exchange)
    hops.push(...own)
    if (broughtBy(exchange, cookieName) === lane) isHeld = true
    if (exchange.request.line.includes('/logout ') && statusOf(exchange) < 300) isHeld = false
    note(hops.length, exchange)
  }
  return { names: namesFor(by, words), states, hops, isLost }
}

const targets: Readonly<Record<string, readonly [at: 'server' | 'other', label: string]>> = {
  this: ['server', '/routeRestreinte'],
  other: ['other', '/me'],
  acts: ['server', '/read-all'],
}

type Plan = { cells: readonly Cell[]; by: Actor; isLost: boolean }

export const sources: Partial<Record<Cell, string>> = {
  'session page': 'document.cookie ',
  'token page': 'Authorization ',
  'token storage': 'localStorage ',
}

export function plannedScene(lane: Lane, { cells, by, isLost }: Plan, words: Words): Scene {
  const hops = cells.flatMap((cell): Hop[] => {
    const [of, what = ''] = cell.split(' ')
    if (of !== lane) return []
    const open = { label: '?', sentence: '', tone: 'plain', cell } as const
    const [at, label] = targets[what] ?? []
    if (at === undefined || label === undefined)
      return [{ ...open, from: 'browser', to: 'browser', label: `${sources[cell]}?` }]
    const asked: Hop = {
      from: 'browser',
      to: at,
      label,
      sentence: '',
      tone: by === 'other-site' ? 'plain' : lane,
    }
    return [asked, { ...open, from: at, to: 'browser' }]
  })
  const kept = keptThings(
    lane,
    { hasRow: lane === 'session', revoked: 0, hasSignedIn: false, isLost },
    words,
  )
  const held: Thing =
    by === 'other-site'
      ? { at: 'browser', text: '?', tone: 'plain' }
      : heldThing(lane, { by, isHeld: true }, words)
  return {
    names: namesFor(by, words),
    states: [{ since: 0, things: [held, ...kept] }],
    hops,
    isLost,
  }
}

/** The first response of each server decides a prediction. */
export function withCells(scene: Scene, cells: readonly Cell[]): Scene {
  const hops = [...scene.hops]
  for (const cell of cells) {
    const [at] = targets[cell.split(' ')[1] ?? ''] ?? []
    const found = hops.findIndex(({ from, to }) => from === at && to === 'browser')
    const hop = hops[found]
    if (hop !== undefined) hops[found] = { ...hop, cell }
  }
  return { ...scene, hops }
}

function namesFor(by: Actor, { texts: { actors } }: Words): Scene['names'] {
  return { ...actors, browser: actors[by] }
}

export function thingsAt({ states }: Scene, shown: number): readonly Thing[] {
  return states.findLast(({ since }) => since <= shown)?.things ?? []
}

function heldThing(
  lane: Lane,
  { by, isHeld }: { by: Actor; isHeld: boolean },
  { texts }: Words,
): Thing {
  if (!isHeld) return { at: 'browser', text: texts.proofs.none, tone: 'plain' }
  return { at: 'browser', text: (by === 'thief' ? texts.copies : texts.held)[lane], tone: lane }
}

type Kept = { hasRow: boolean; revoked: number; hasSignedIn: boolean; isLost: boolean }

/** What a sign-in stored for other reasons belongs to its own picture. */
function keptBy(last: Exchange | undefined, lane: Lane, isOwn: boolean): Omit<Kept, 'isLost'> {
  return {
    hasRow: lane === 'session' && sessionRowOf(last) !== undefined,
    revoked: rowsOf(last, 'revocation').length,
    hasSignedIn: (isOwn && last?.request.line.includes('/login ')) ?? false,
  }
}

function keptThings(lane: Lane, kept: Kept, words: Words): Thing[] {
  const { things } = words.texts
  const publicKey: Thing = {
    at: 'other',
    text: things.publicKey,
    tone: lane === 'token' ? 'token' : 'plain',
  }
  if (lane === 'session') return [publicKey, ...storedThings(lane, kept, words)]
  const list: Thing = { at: 'server', text: `${things.revoked}${kept.revoked}`, tone: 'token' }
  const keyPair: Thing = { at: 'server', text: things.keyPair, tone: 'token' }
  return [
    publicKey,
    keyPair,
    ...(kept.revoked > 0 ? [list] : []),
    ...storedThings(lane, kept, words),
  ]
}

/** Nothing can be read while the database is lost. */
function storedThings(
  lane: Lane,
  { hasRow, revoked, hasSignedIn, isLost }: Kept,
  { texts: { things } }: Words,
): Thing[] {
  const at = 'store'
  if (isLost) return [{ at, text: things.gone, tone: 'bad' }]
  const aside = hasSignedIn ? [things.audit, things.device] : []
  const others = aside.map((text): Thing => ({ at, text, tone: 'plain' }))
  if (lane === 'token' && revoked > 0)
    return [{ at, text: `${things.revoked}${revoked}`, tone: 'token' }, ...others]
  if (!hasRow) return [{ at, text: things.noRow, tone: 'plain' }, ...others]
  return [{ at, text: things.row, tone: 'session' }, ...others]
}

const day = 24 * 3_600_000
/** The defaults of the service. */
export const sessionEnds = { unusedMs: 7 * day, allMs: 30 * day }

function timeThings(
  lane: Lane,
  exchange: Exchange,
  { texts: { things }, language }: Words,
): Thing[] {
  const clock: Thing = {
    at: 'server',
    text: things.clock + timeText(exchange.at, language, 'short'),
    tone: 'plain',
  }
  const { last_seen_at: seen, created_at: made } = sessionRowOf(exchange)?.columns ?? {}
  const ofRow = Math.min(Number(seen) + sessionEnds.unusedMs, Number(made) + sessionEnds.allMs)
  const end = lane === 'token' ? tokenEnd(exchange) : ofRow
  if (!end) return [clock]
  const text = things.ends + timeText(end, language, 'short')
  return [clock, { at: lane === 'token' ? 'browser' : 'store', text, tone: lane }]
}

export function rowsOf(exchange: Exchange | undefined, table: string): readonly Row[] {
  return exchange?.rows.filter((row) => row.table === table) ?? []
}

/** The newest session is that of the cookie. */
export function sessionRowOf(last: Exchange | undefined): Row | undefined {
  const rows = rowsOf(last, 'session')
  return rows.toSorted(
    (one, other) => Number(other.columns.created_at) - Number(one.columns.created_at),
  )[0]
}
