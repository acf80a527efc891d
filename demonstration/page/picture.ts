// What a picture shows, made from recorded exchanges: who keeps what, and what went from where to where. It knows no SVG.
import type { Exchange, Row, Step } from '../server/api.ts'
import type { Texts } from '../texts/texts.ts'
import { cookieSentBy, cookieSetBy, fieldOf } from './proof-parts.ts'
import { type Lane, lanes, tokenIn } from './world.ts'

export type PlaceId = 'browser' | 'server' | 'store' | 'other'
type Tone = 'session' | 'token' | 'plain' | 'good' | 'bad'
export type Thing = { at: PlaceId; text: string; tone: Tone }
/** `label`: on the arrow. `sentence`: in the list below the picture. A hop from a place to itself is work that is done there. */
export type Hop = { from: PlaceId; to: PlaceId; label: string; sentence: string; tone: Tone }
export type Scene = { names: Readonly<Record<PlaceId, string>>; things: readonly Thing[]; hops: readonly Hop[] }
export type Words = { texts: Texts; language: string; cookieName: string }

/** 401 of a status line such as `HTTP/1.1 401 Unauthorized`. */
export const statusOf = ({ response }: Exchange) => Number(/ (\d{3})\b/.exec(response.line)?.[1])

/** `GET /routeRestreinte` of a request line: as the server of the world sees it, without the version. Of queries, a list has its status. */
export function lineOf({ request: { line } }: Exchange): string {
  const path = line.replace(/ \S*\/demonstration\/(service|other-server)\b/, ' ')
  return path.replace(/\?(?!status=).*| HTTP\/.*/, '').replace(/[\da-f]{8}-[\da-f-]{27}/, ':id')
}

/** Who keeps what after these exchanges of one lane, and what travelled in them. */
export function sceneOf(lane: Lane, exchanges: readonly Exchange[], words: Words): Scene {
  return {
    names: { ...words.texts.actors, browser: words.texts.actors[exchanges[0]?.by ?? 'browser'] },
    things: thingsOf(lane, exchanges, words),
    hops: exchanges.flatMap((exchange) => hopsOf(exchange, words)),
  }
}

function hopsOf(exchange: Exchange, words: Words): Hop[] {
  const { texts, cookieName } = words
  const to = exchange.to === 'service' ? 'server' : 'other'
  const proof = proofOf(exchange, cookieName)
  const line = lineOf(exchange)
  const status = exchange.response.line.split(' ').slice(1).join(' ')
  const brought = broughtBy(exchange, cookieName)
  const request: Hop = {
    from: 'browser',
    to,
    label: line.replace(/^.*(?=\?)|^.*(?=\/[\w-]+$)/, ''),
    sentence: `${line}, ${texts.proofs[proof]}`,
    tone: lanes.find((lane) => lane === proof) ?? 'plain',
  }
  const response: Hop = {
    from: to,
    to: 'browser',
    label: String(statusOf(exchange)),
    sentence: brought ? `${status}, ${texts.proofs[brought]}` : status,
    tone: statusOf(exchange) >= 400 ? 'bad' : (brought ?? 'good'),
  }
  return [request, ...exchange.steps.flatMap((step) => workOf(step, to, words)), response]
}

function proofOf(exchange: Exchange, cookieName: string): keyof Texts['proofs'] {
  if (exchange.request.body.includes('"password"')) return 'password'
  if (fieldOf(exchange, 'authorization') !== undefined) return 'token'
  return cookieSentBy(exchange, cookieName) === undefined ? 'none' : 'session'
}

function broughtBy(exchange: Exchange, cookieName: string): Lane | undefined {
  if (tokenIn(exchange) !== undefined) return 'token'
  const secret = cookieSetBy(exchange, cookieName).find(({ name }) => name === 'secret')
  return secret?.value ? 'session' : undefined
}

function workOf(step: Step, to: 'server' | 'other', { texts, language }: Words): Hop[] {
  const { name, detail, ms, algorithm, kid } = step
  const label = (texts.calls as Readonly<Record<string, string>>)[name]
  // Without a token there is nothing to check.
  if (label === undefined || (name === 'signatures.check' && kid === undefined)) return []
  const isOfStore = name.startsWith('store.')
  const what = algorithm === undefined ? label : `${label} (${algorithm}, ${texts.key} ${kid?.slice(0, 8)})`
  const variant = isOfStore ? 'session' : 'token'
  const usual = isOfStore || algorithm ? variant : 'plain'
  const tone = detail === 'invalid' ? 'bad' : usual
  return [{ from: to, to: isOfStore ? 'store' : to, label, sentence: `${what}, ${msText(ms, language)}`, tone }]
}

export function msText(ms: number, language: string): string {
  return `${new Intl.NumberFormat(language, { maximumSignificantDigits: 2 }).format(ms)} ms`
}

export function timeText(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(ms)
}

/** What belongs to the proof of the lane, at each place. */
function thingsOf(lane: Lane, exchanges: readonly Exchange[], { texts, cookieName }: Words): Thing[] {
  const last = exchanges.at(-1)
  if (last === undefined) return []
  const isBrought = exchanges.some((one) => broughtBy(one, cookieName) === lane)
  const has = isBrought || exchanges.some((one) => proofOf(one, cookieName) === lane)
  const held = (last.by === 'thief' ? texts.copies : texts.held)[lane]
  const others = isBrought ? [texts.things.audit, texts.things.device] : []
  return [
    has ? { at: 'browser', text: held, tone: lane } : { at: 'browser', text: texts.proofs.none, tone: 'plain' },
    ...keptThings(lane, last, texts),
    ...others.map((text) => ({ at: 'store', text, tone: 'plain' }) as const),
  ]
}

/** What the servers keep of the proof of a lane. */
function keptThings(lane: Lane, last: Exchange, { things }: Texts): Thing[] {
  const hasRow = lane === 'session' && sessionRowOf(last) !== undefined
  const row: Thing = { at: 'store', text: hasRow ? things.row : things.noRow, tone: hasRow ? 'session' : 'plain' }
  if (lane === 'session') return [row, { at: 'other', text: things.publicKey, tone: 'plain' }]
  const revoked = rowsOf(last, 'token_cutoff').length
  const list = { text: `${things.revoked}${revoked}`, tone: 'bad' } as const
  return [
    { at: 'server', text: things.keyPair, tone: 'token' },
    ...(revoked > 0 ? [{ at: 'server', ...list } as const, { at: 'store', ...list } as const] : [row]),
    { at: 'other', text: things.publicKey, tone: 'token' },
  ]
}

export function rowsOf({ rows }: Exchange, table: string): readonly Row[] {
  return rows.filter((row) => row.table === table)
}

/** The newest session of the user: the one of the cookie. */
export function sessionRowOf(last: Exchange): Row | undefined {
  const rows = rowsOf(last, 'session')
  return rows.toSorted((one, other) => Number(other.columns.created_at) - Number(one.columns.created_at))[0]
}
