// The seven experiments: what the reader predicted of each, what it does with real requests, and what it finds out. They know no HTML.
import { decodeJwt } from 'jose'
import type { Exchange } from '../server/api.ts'
import { filled, type Texts } from '../texts/texts.ts'
import { rowsOf, statusOf, timeText } from './picture.ts'
import { tokenSentBy } from './proof-parts.ts'
import { dataIn, elsewhere, type Lane, lanes, type Request, restricted, signOutRequest, type World } from './world.ts'

export const experimentIds = ['stolen', 'signOut', 'form', 'script', 'time', 'outage', 'balancer'] as const
export type ExperimentId = (typeof experimentIds)[number]
/** One moment of a story, with the exchanges of each lane. */
export type Act = { label: keyof Texts['acts'] } & Readonly<Record<Lane, readonly Exchange[]>>
/** What one of the five servers did with a request. */
export type Hit = { server: number | null; status: number; lookUps: number }
export type Way = keyof Texts['balancer']
/** What is predicted: of the cookie or the token, and what of it. */
export type Cell = `${Lane} ${keyof Texts['cells'] | Way}`
type Answers = Partial<Record<Cell, boolean>>
/** By experiment and cell, such as `stolen token this`. */
type Predictions = Readonly<Record<string, boolean>>
type Tools = { world: World; texts: Texts; language: string }

/** What an experiment did and found out, in `world`. */
export type Outcome = Tools & {
  acts: Act[]
  /** None for what this service cannot measure. */
  answers: Answers
  facts: string[]
  /** Before the run, whatever the reader chooses afterwards. */
  predicted: Predictions
  hits?: Readonly<Record<Way, readonly Hit[]>>
}

export class Bench {
  predictions: Predictions = {}
  readonly outcomes: { [id in ExperimentId]?: Outcome } = {}
  /** The act whose pictures are displayed. */
  shown = 0

  predict(name: string, answer: boolean): void {
    this.predictions = { ...this.predictions, [name]: answer }
  }

  /** Begins with a fresh clock, user and state, and a sign-in in both lanes. True if it was measured. */
  run(id: ExperimentId, tools: Tools): Promise<boolean> {
    const { world } = tools
    return world.run(id, async () => {
      const record: Outcome = { ...tools, acts: [], answers: {}, facts: [], predicted: this.predictions }
      await world.fresh()
      await world.signInBoth()
      await runs[id](record)
      this.outcomes[id] = record
      // What was predicted: the attempt of the thief, or the first moment.
      const ofThief = record.acts.findIndex(({ label }) => label === 'thief')
      this.shown = Math.max(0, ofThief)
    })
  }
}

/** Sends requests in both lanes. The token lane sends those of the session lane, unless it has its own. */
async function both({ world, acts }: Outcome, label: Act['label'], session: readonly Request[], token = session) {
  acts.push({ label, session: await world.sendAll('session', session), token: await world.sendAll('token', token) })
}

/** The thief presents both copies at both servers. */
async function thief({ world, acts }: Outcome, label: Act['label']) {
  const by = async (lane: Lane) =>
    [await world.byThief(lane, restricted), await world.byThief(lane, elsewhere)] as const
  const act = { label, session: await by('session'), token: await by('token') }
  acts.push(act)
  return act
}

/** Whether the proof of each lane works at this server and at the other one, by the exchanges of the last act. */
function answerByAct({ acts, answers }: Outcome): void {
  for (const lane of lanes)
    for (const exchange of acts.at(-1)?.[lane] ?? [])
      answers[`${lane} ${exchange.to === 'service' ? 'this' : 'other'}`] ??= statusOf(exchange) < 300
}

async function stolen(record: Outcome): Promise<void> {
  await both(record, 'before', [restricted])
  await record.world.steal()
  await thief(record, 'thief')
  answerByAct(record)
}

async function signOut(record: Outcome): Promise<void> {
  const { world, texts, language } = record
  await world.steal()
  await both(record, 'signOut', [signOutRequest])
  const copied = await thief(record, 'thief')
  answerByAct(record)
  record.facts.push(texts.stillWorks, filled(texts.expires, secondsLeft(copied.token[1])))
  // Another device: its sign-in ends all others.
  await world.signInBoth()
  await world.steal()
  await world.signIn('token')
  await world.send('token', { method: 'DELETE', path: 'service/api/me/sessions' })
  const last = await thief(record, 'everywhere')
  const revocations = rowsOf(last.token[0], 'token_cutoff')
  const ends = Math.max(0, ...revocations.map(({ columns }) => Number(columns.expires_at)))
  record.facts.push(filled(texts.revocations, revocations.length, timeText(ends, language)))
}

/** Until the token of the request expires. */
export function secondsLeft(exchange: Exchange): number {
  const { exp = 0 } = decodeJwt(tokenSentBy(exchange) ?? '')
  return Math.max(0, Math.round(exp - exchange.at / 1000))
}

const counts: Request = { path: 'service/api/notifications/counts' }
const unreadIn = (exchange: Exchange) => dataIn<{ unread: number }>(exchange).unread ?? 0

async function form({ world, acts, answers, facts, texts }: Outcome): Promise<void> {
  const { otherSite = null, base, id } = world.visit ?? {}
  if (otherSite === null) return void facts.push(texts.oneName)
  const before = await world.send('session', counts)
  world.display(`${otherSite}${base}/other-site?visit=${id}`)
  const sent = await formAfter(world, before.n)
  if (sent === undefined) return
  const after = await world.send('session', counts)
  acts.push({ label: 'form', session: [sent], token: [sent] })
  answers['session acts'] = answers['token acts'] = unreadIn(after) < unreadIn(before)
  facts.push(`${texts.unread}${unreadIn(before)} → ${unreadIn(after)}`)
}

/**
 * The page cannot read the response in the frame, so it sends requests until there is another one between two of them. Undefined if the
 * browser sends no form.
 */
async function formAfter(world: World, n: number): Promise<Exchange | undefined> {
  let last = n
  for (let attempt = 0; attempt < 40; attempt++) {
    const next = await world.send('session', counts)
    if (next.n > last + 1) return world.exchange(last + 1)
    last = next.n
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return undefined
}

async function script(record: Outcome): Promise<void> {
  const { world, answers, facts, texts } = record
  answers['session page'] = document.cookie.includes(`${world.visit?.cookieName}=`)
  await both(record, 'use', [restricted])
  const loot = await tokenSeen(world)
  answers['token page'] = loot !== ''
  answers['token storage'] = readFromStorage(world.token ?? '')
  for (const read of [`document.cookie = "${document.cookie}"`, `Authorization: Bearer ${loot.slice(0, 24)}…`])
    facts.push(texts.scriptReads + read)
  await both(record, 'carried', [], [{ ...elsewhere, token: loot }])
}

/** Does what a foreign script can do: another function in the place of `fetch` sees the next request of the page. */
async function tokenSeen(world: World): Promise<string> {
  const original = globalThis.fetch
  let seen = ''
  globalThis.fetch = (input, init) => {
    seen ||= new Headers(init?.headers).get('authorization')?.slice('Bearer '.length) ?? ''
    return original(input, init)
  }
  try {
    await world.send('token', restricted)
    return seen
  } finally {
    globalThis.fetch = original
  }
}

function readFromStorage(token: string): boolean {
  localStorage.setItem('token', token)
  const read = localStorage.getItem('token')
  localStorage.removeItem('token')
  return read === token
}

const minute = 60

async function time(record: Outcome): Promise<void> {
  const { world, acts } = record
  await world.control('advance', { seconds: 16 * minute })
  await both(record, 'later', [restricted], [restricted, elsewhere])
  answerByAct(record)
  await world.signIn('token')
  // Each token is renewed before it ends, until the sign-in is too old.
  for (let age = 0; world.token !== undefined && age <= 13 * 60; age += 14) {
    await world.control('advance', { seconds: 14 * minute })
    const token = [await world.renew()]
    if (age === 0) acts.push({ label: 'renewed', session: [], token })
    if (world.token === undefined)
      acts.push({ label: 'ended', session: await world.sendAll('session', [restricted]), token })
  }
  await world.control('advance', { seconds: 8 * 24 * 60 * minute })
  await both(record, 'unused', [restricted], [])
}

async function outage(record: Outcome): Promise<void> {
  const { world } = record
  const list: Request = { path: 'service/api/notifications' }
  await world.control('outage', { seconds: 10 })
  await both(record, 'during', [restricted], [restricted, elsewhere])
  answerByAct(record)
  await both(record, 'duringList', [list])
  await world.control('outage', { seconds: 0 })
  await both(record, 'after', [restricted])
}

/** The proof that each way checks. */
export const wayNames = ['memory', 'store', 'key'] as const
export const ways = { memory: 'session', store: 'session', key: 'token' } as const

async function balancer(record: Outcome): Promise<void> {
  const { world, answers } = record
  await world.send('session', { method: 'POST', path: 'servers/memory/me' })
  const hits: { [way in Way]: Hit[] } = { memory: [], store: [], key: [] }
  for (const way of wayNames) {
    for (let n = 0; n < 10; n++) {
      const exchange = await world.send(ways[way], { path: `servers/${way}/me` })
      const lookUps = exchange.steps.filter(({ name }) => name.startsWith('store.')).length
      hits[way].push({ server: exchange.server, status: statusOf(exchange), lookUps })
    }
    answers[`${ways[way]} ${way}`] = hits[way].every(({ status }) => status === 200)
  }
  record.hits = hits
}

const atBoth = ['session this', 'session other', 'token this', 'token other'] as const
const withoutOther = ['session this', 'token this', 'token other'] as const
/** What the reader predicts for each experiment. */
export const cellsOf: Readonly<Record<ExperimentId, readonly Cell[]>> = {
  stolen: atBoth,
  signOut: atBoth,
  form: ['session acts', 'token acts'],
  script: ['session page', 'token page', 'token storage'],
  time: withoutOther,
  outage: withoutOther,
  balancer: ['session memory', 'session store', 'token key'],
}
const runs: { [id in ExperimentId]: (record: Outcome) => Promise<void> } = {
  stolen,
  signOut,
  form,
  script,
  time,
  outage,
  balancer,
}
