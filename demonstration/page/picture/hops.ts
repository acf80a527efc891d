// An exchange's hops, with each call that decided its response. What a thief gets is coloured bad.
import type { Exchange, Step } from '../../server/api.ts'
import { type Texts, textAt } from '../../texts/texts.ts'
import type { Cell } from '../experiments/experiments.ts'
import { cookieSentBy, cookieSetBy, fieldOf, secondsLeft } from '../proof/proof-parts.ts'
import { type Lane, lanes, tokenIn } from '../world.ts'

export type PlaceId = 'browser' | 'server' | 'store' | 'other'
export type Tone = Lane | 'plain' | 'good' | 'bad'
/**
 * `sentence`: below the picture. A hop to the same place is work. `cell`: the prediction it fills.
 */
export type Hop = {
  from: PlaceId
  to: PlaceId
  label: string
  sentence: string
  tone: Tone
  cell?: Cell
  works?: boolean
}
export type Words = { texts: Texts; language: string; cookieName: string }

export const statusOf = ({ response }: Exchange) => Number(/ (\d{3})\b/.exec(response.line)?.[1])

export const isOfStore = ({ name }: Step) => name.startsWith('store.')

/** `GET /routeRestreinte`: as the world's server sees it, without a query. */
export function lineOf({ request: { line } }: Exchange): string {
  const path = line.replace(/ \S*\/demonstration\/(service|other-server)\b/, ' ')
  return path.replace(/\?.*| HTTP\/.*/, '').replace(/[\da-f]{8}-[\da-f-]{27}/, ':id')
}

export function timeText(
  ms: number,
  language: string,
  style: 'medium' | 'short' = 'medium',
): string {
  return new Intl.DateTimeFormat(language, { dateStyle: style, timeStyle: style }).format(ms)
}

export function proofOf(exchange: Exchange, cookieName: string): keyof Texts['proofs'] {
  if (exchange.request.body.includes('"password"')) return 'password'
  if (fieldOf(exchange, 'authorization') !== undefined) return 'token'
  return cookieSentBy(exchange, cookieName) === undefined ? 'none' : 'session'
}

export function broughtBy(exchange: Exchange, cookieName: string): Lane | undefined {
  if (tokenIn(exchange) !== undefined) return 'token'
  const secret = cookieSetBy(exchange, cookieName).find(({ name }) => name === 'secret')
  return secret?.value ? 'session' : undefined
}

export function hopsOf(exchange: Exchange, words: Words): Hop[] {
  const { texts, cookieName } = words
  const to = exchange.to === 'service' ? 'server' : 'other'
  const proof = proofOf(exchange, cookieName)
  const line = lineOf(exchange)
  const request: Hop = {
    from: 'browser',
    to,
    label: line.replace(/^.*(?=\/[\w-]+$)/, ''),
    sentence: `${line}, ${texts.proofs[proof]}`,
    tone: lanes.find((lane) => lane === proof) ?? 'plain',
  }
  return [request, ...callsOf(exchange, words), responseOf(exchange, to, words)]
}

function responseOf(exchange: Exchange, from: PlaceId, { texts, cookieName }: Words): Hop {
  const { by } = exchange
  const code = statusOf(exchange)
  const isAccepted = code < 400
  const brought = broughtBy(exchange, cookieName)
  const outcome = outcomeOf(exchange, texts)
  const status = exchange.response.line.split(' ').slice(1).join(' ')
  return {
    from,
    to: 'browser',
    label: outcome ? `${code} · ${outcome}` : String(code),
    sentence: [status, brought && texts.proofs[brought], outcome].filter(Boolean).join(', '),
    tone: by === 'browser' && isAccepted && brought ? brought : toneOf(exchange, isAccepted),
  }
}

function outcomeOf(exchange: Exchange, { gets, answers }: Texts): string | undefined {
  if (exchange.by === 'browser') return undefined
  return statusOf(exchange) < 400 ? gets[exchange.by] : answers.fails
}

function toneOf({ by }: Exchange, isAccepted: boolean): Tone {
  return isAccepted === (by === 'browser') ? 'good' : 'bad'
}

/** The call that refused comes last, though its calls began later. */
function callsOf(exchange: Exchange, words: Words): Hop[] {
  const { calls, refusals } = words.texts
  const isRefusal = (step: Step) => reasonOf(exchange, step) in refusals
  const inner = exchange.steps.filter(({ name }) => name in calls)
  const outer = exchange.steps.filter((step) => !inner.includes(step) && isRefusal(step))
  const drawn = inner.some(isRefusal) ? inner : [...inner, ...outer]
  // The request checks refuse before any call is recorded.
  if (statusOf(exchange) === 403 && drawn.length === 0)
    drawn.push({ name: 'origin', detail: 'none' })
  return drawn.map((step) => callOf(exchange, step, words))
}

/** A key of `refusals`, such as `store.findSession:none`. A sign-in looks for an old cookie. */
function reasonOf(exchange: Exchange, { name, detail, kid }: Step): string {
  if (statusOf(exchange) < 400) return ''
  if (name === 'signatures.check' && kid === undefined) return 'no token'
  const isOver = name === 'accessTokens.verify' && detail === 'none' && secondsLeft(exchange) === 0
  return `${name}:${isOver ? 'expired' : detail}`
}

function callOf(exchange: Exchange, step: Step, { texts }: Words): Hop {
  const { name, algorithm, kid } = step
  const reason = textAt(texts.refusals, reasonOf(exchange, step))
  const call = textAt(texts.calls, name)
  const key = algorithm && ` (${algorithm}, ${texts.key} ${kid?.slice(0, 8)})`
  const from = exchange.to === 'service' ? 'server' : 'other'
  const usual = isOfStore(step) ? 'session' : 'token'
  const tone = name === 'passwords.verify' ? 'plain' : usual
  return {
    from,
    to: isOfStore(step) ? 'store' : from,
    label: reason || call,
    sentence: [call + (key ?? ''), reason].filter(Boolean).join(', '),
    tone: reason ? toneOf(exchange, false) : tone,
  }
}
