// Who keeps what at each moment, and what went where, from recorded exchanges or predictions.
import type { Exchange, Row } from '../../server/api.ts'
import type { Cell } from '../experiments/experiments.ts'
import { tokenEnd } from '../proof/proof-parts.ts'
import type { Lane } from '../world.ts'
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

export type Thing = { at: PlaceId; text: string; tone: Tone }
/** `since`: after so many hops. */
type State = { since: number; things: readonly Thing[] }
export type Scene = { by: Exchange['by']; states: readonly State[]; hops: readonly Hop[] }
/**
 * `before`: the exchange whose rows exist at the beginning. `cells`: the predictions that it
 * decides. `isLost`: the database is lost. `hasTimes`: draws clock and ends.
 */
export type Told = {
  exchanges: readonly Exchange[]
  by: Exchange['by']
  before?: Exchange | undefined
  cells?: readonly Cell[]
  isLost?: boolean
  hasTimes?: boolean
}

export function sceneOf(lane: Lane, told: Told, words: Words): Scene {
  const { exchanges, before, by, hasTimes, cells = [] } = told
  const { cookieName } = words
  // Without an exchange, a thief has no copy; others have what the page has.
  let isHeld =
    exchanges.length === 0
      ? by !== 'thief'
      : exchanges.some((exchange) => proofOf(exchange, cookieName) === lane)
  const hops: Hop[] = []
  const states: State[] = []
  const note = (since: number, at: Exchange | undefined) => {
    const isSignIn = since > 0 && at?.request.line.includes('/login ')
    const kept = {
      isHeld,
      hasRow: lane === 'session' && sessionRowOf(at) !== undefined,
      revoked: rowsOf(at, 'revocation').length,
      asides: isSignIn ? (['audit', 'device'] as const) : [],
    }
    const times = hasTimes && at ? timeThings(lane, at, words) : []
    states.push({ since, things: [...keptThings(lane, told, kept, words), ...times] })
  }
  const open = new Set(cells)
  note(0, before)
  for (const exchange of exchanges) {
    const own = hopsOf(exchange, words)
    const stored = own.findLastIndex(({ to }) => to === 'store') + 1
    if (stored > 0) note(hops.length + stored, exchange)
    // Each server's first response decides a prediction.
    const last = own.at(-1)
    const cell = [...open].find((one) => targetOf(one)?.[0] === last?.from)
    if (last && cell && open.delete(cell))
      Object.assign(last, { cell, works: statusOf(exchange) < 300 })
    hops.push(...own)
    if (broughtBy(exchange, cookieName) === lane) isHeld = true
    if (exchange.request.line.includes('/logout ') && statusOf(exchange) < 300) isHeld = false
    note(hops.length, exchange)
  }
  return { by, states, hops }
}

const targets: Readonly<Record<string, readonly [at: 'server' | 'other', label: string]>> = {
  this: ['server', '/routeRestreinte'],
  other: ['other', '/me'],
  acts: ['server', '/read-all'],
}

const targetOf = (cell: Cell) => targets[cell.split(' ')[1] ?? '']

const sources: Partial<Record<Cell, string>> = {
  'session page': 'document.cookie ',
  'token page': 'Authorization ',
  'token storage': 'localStorage ',
}

type Reading = { text: string; works: boolean }

/** What a script in the page reads; undefined for other predictions. */
export function readHop(cell: Cell, reading?: Reading): Hop | undefined {
  if (!(cell in sources)) return undefined
  const label = sources[cell] + (reading ? `"${reading.text}"` : '?')
  const tone = reading?.works ? 'bad' : 'good'
  const hop: Hop = { from: 'browser', to: 'browser', label, sentence: label, tone: 'plain', cell }
  return reading ? { ...hop, tone, works: reading.works } : hop
}

export function plannedScene(lane: Lane, told: Told, words: Words): Scene {
  const { by, cells = [] } = told
  const isForeign = by === 'other-site'
  const hops = cells.flatMap((cell): Hop | Hop[] => {
    const target = targetOf(cell)
    if (!target) return readHop(cell) ?? []
    const [at, label] = target
    return [
      { from: 'browser', to: at, label, sentence: '', tone: isForeign ? 'plain' : lane },
      { from: at, to: 'browser', label: '?', sentence: '', tone: 'plain', cell },
    ]
  })
  const kept = {
    isHeld: isForeign ? undefined : true,
    hasRow: lane === 'session',
    revoked: 0,
    asides: [],
  }
  return { by, states: [{ since: 0, things: keptThings(lane, told, kept, words) }], hops }
}

export function actorAt({ texts }: Pick<Words, 'texts'>, { by }: Scene, place: PlaceId): string {
  return texts.actors[place === 'browser' ? by : place]
}

export function thingsAt({ states }: Scene, shown: number): readonly Thing[] {
  return states.findLast(({ since }) => since <= shown)?.things ?? []
}

/** `isHeld`: undefined if the run decides it. `asides`: what a sign-in stored for other reasons. */
type Kept = {
  isHeld: boolean | undefined
  hasRow: boolean
  revoked: number
  asides: readonly ('audit' | 'device')[]
}

function keptThings(lane: Lane, { by, isLost }: Told, kept: Kept, { texts }: Words): Thing[] {
  const { things, proofs } = texts
  const isToken = lane === 'token'
  const held = (by === 'thief' ? texts.copies : texts.held)[lane]
  const unheld = kept.isHeld === undefined ? '?' : proofs.none
  const shown = [
    kept.isHeld ? thing('browser', held, lane) : thing('browser', unheld),
    thing('other', things.publicKey, isToken ? lane : 'plain'),
  ]
  const list = isToken && kept.revoked > 0 ? `${things.revoked}${kept.revoked}` : undefined
  if (isToken) shown.push(thing('server', things.keyPair, lane))
  if (list) shown.push(thing('server', list, lane))
  if (isLost) return [...shown, thing('store', things.gone, 'bad')]
  const row = kept.hasRow ? thing('store', things.row, lane) : thing('store', things.noRow)
  const asides = kept.asides.map((name) => thing('store', things[name]))
  return [...shown, list ? thing('store', list, lane) : row, ...asides]
}

function thing(at: PlaceId, text: string, tone: Tone = 'plain'): Thing {
  return { at, text, tone }
}

const day = 24 * 3_600_000
/** The defaults of the service. */
export const sessionEnds = { unusedMs: 7 * day, allMs: 30 * day }

function timeThings(lane: Lane, exchange: Exchange, { texts, language }: Words): Thing[] {
  const { clock, ends } = texts.things
  const { last_seen_at: seen, created_at: made } = sessionRowOf(exchange)?.columns ?? {}
  // An accepted use is noted in the row right after the response.
  const usedAt = statusOf(exchange) < 300 ? exchange.at : Number(seen)
  const ofRow = Math.min(usedAt + sessionEnds.unusedMs, Number(made) + sessionEnds.allMs)
  const end = lane === 'token' ? tokenEnd(exchange) : ofRow
  const now = thing('server', clock + timeText(exchange.at, language, 'short'))
  if (!end) return [now]
  const place = lane === 'token' ? 'browser' : 'store'
  return [now, thing(place, ends + timeText(end, language, 'short'), lane)]
}

export function rowsOf(exchange: Exchange | undefined, table: string): readonly Row[] {
  return exchange?.rows.filter((row) => row.table === table) ?? []
}

/** The newest session is the cookie's. */
export function sessionRowOf(last: Exchange | undefined): Row | undefined {
  const madeAt = ({ columns }: Row) => Number(columns.created_at)
  return rowsOf(last, 'session').toSorted((one, other) => madeAt(other) - madeAt(one))[0]
}
