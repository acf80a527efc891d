// The seven experiments: what the reader predicts, what is sent, and what is found out. They know
// no HTML.
import type { Exchange } from '../server/api.ts'
import type { Texts } from '../texts/texts.ts'
import { proofOf, statusOf } from './hops.ts'
import { rowsOf, sources } from './picture.ts'
import { secondsLeft, tokenEnd } from './proof-parts.ts'
import {
  dataIn,
  elsewhere,
  type Lane,
  lanes,
  type Request,
  restricted,
  signOutRequest,
  tokenIn,
  type World,
} from './world.ts'

export const experimentIds = [
  'stolen',
  'signOut',
  'form',
  'script',
  'time',
  'outage',
  'balancer',
] as const
export type ExperimentId = (typeof experimentIds)[number]
/** A sentence beside a lane, and its values: times are in milliseconds. */
export type Note = readonly [
  name: keyof Texts['notes'],
  ...values: (string | number | { at: number })[],
]
type ByLane<Value> = Record<Lane, Value>
export type Reading = { cell: Cell; text: string }
export type Act = ByLane<readonly Exchange[]> & {
  label: keyof Texts['acts']
  notes: Partial<ByLane<readonly Note[]>>
  readings?: readonly Reading[]
}
export type Hit = { server: number | null; status: number; lookUps: number }
export type Way = keyof Texts['balancer']
export type Cell = `${Lane} ${keyof Texts['cells'] | Way}`
type Answers = Partial<Record<Cell, boolean>>
/** Keys are an experiment and a cell, such as `stolen token this`. */
type Predictions = Readonly<Record<string, boolean>>

export type Outcome = {
  start: Partial<ByLane<Exchange>>
  acts: Act[]
  /** None for what this service cannot measure. */
  answers: Answers
  /** The later choices of the reader do not change it. */
  predicted: Predictions
  hits?: Readonly<Record<Way, readonly Hit[]>>
}
type Running = Outcome & { world: World }

export class Bench {
  predictions: Predictions = {}
  readonly outcomes: { [id in ExperimentId]?: Outcome } = {}
  shown = 0

  predict(name: string, answer: boolean): void {
    this.predictions = { ...this.predictions, [name]: answer }
  }

  /** True if there is an outcome. */
  run(id: ExperimentId, world: World, recorded: Outcome | undefined): Promise<boolean> {
    return world.run(id, async () => {
      this.outcomes[id] = {
        ...(recorded ?? (await outcomeOf(id, world))),
        predicted: this.predictions,
      }
      this.shown = predictedAct(this.outcomes[id])
    })
  }
}

/** Begins with a fresh clock, user and state, and a sign-in in both lanes. */
export async function outcomeOf(id: ExperimentId, world: World): Promise<Outcome> {
  await world.fresh()
  const start = await world.signInBoth()
  const record: Running = { world, start, acts: [], answers: {}, predicted: {} }
  await runs[id](record)
  const { world: _, ...outcome } = record
  return outcome
}

export function predictedAct(outcome: Outcome | undefined): number {
  const ofThief = outcome?.acts.findIndex(({ label }) => label === 'thief') ?? 0
  return Math.max(0, ofThief)
}

/** The token lane sends the requests of the session lane, unless it has its own. */
async function both(
  { world, acts }: Running,
  label: Act['label'],
  session: readonly Request[],
  token = session,
) {
  const act: Act = {
    label,
    session: await world.sendAll('session', session),
    token: await world.sendAll('token', token),
    notes: {},
  }
  acts.push(act)
  return act
}

async function thief({ world, acts }: Running, label: Act['label']) {
  const by = async (lane: Lane) => [
    await world.byThief(lane, restricted),
    await world.byThief(lane, elsewhere),
  ]
  const act: Act = { label, session: await by('session'), token: await by('token'), notes: {} }
  acts.push(act)
  return act
}

function answerByAct({ acts, answers }: Running): void {
  for (const lane of lanes)
    for (const exchange of acts.at(-1)?.[lane] ?? [])
      answers[`${lane} ${exchange.to === 'service' ? 'this' : 'other'}`] ??=
        statusOf(exchange) < 300
}

const minute = 60

async function stolen(record: Running): Promise<void> {
  const { world, acts } = record
  await both(record, 'before', [restricted])
  await world.steal()
  await thief(record, 'thief')
  answerByAct(record)
  const { renewals, seconds } = await renewedByThief(world)
  const hours = Math.round(seconds / 3_600)
  acts.push({
    label: 'unnoticed',
    session: [await world.byThief('session', restricted)],
    token: [...renewals.slice(0, 1), ...renewals.slice(-1)],
    notes: { session: [['unnoticedCookie', hours]], token: [['unnoticedToken', hours]] },
  })
}

const renewal: Request = { method: 'POST', path: 'service/token/renew' }

/** `seconds`: how long the renewed copy lasted in all. */
export async function renewedByThief(world: World) {
  const renewals: Exchange[] = []
  const first = (await world.byThief('token', restricted)).at
  for (let copy = world.token; copy !== undefined && renewals.length < 60; ) {
    await world.control('advance', { seconds: 14 * minute })
    const renewed = await world.byThief('token', renewal)
    renewals.push(renewed)
    copy = tokenIn(renewed)
    if (copy !== undefined) await world.control('steal', { token: copy })
  }
  const ends = Math.max(...renewals.map(tokenEnd))
  return { renewals, seconds: Math.round((ends - first) / 1000) }
}

async function signOut(record: Running): Promise<void> {
  const { world } = record
  await world.steal()
  await both(record, 'signOut', [signOutRequest])
  const copied = await thief(record, 'thief')
  answerByAct(record)
  const seconds = Math.max(...copied.token.slice(1).map(secondsLeft))
  copied.notes = { session: [['withoutRow']], token: [['stillValid'], ['expires', seconds]] }
  // The sign-in of another device ends all others.
  await world.signInBoth()
  await world.steal()
  await world.signIn('token')
  await world.send('token', { method: 'DELETE', path: 'service/api/me/sessions' })
  const last = await thief(record, 'everywhere')
  const revocations = rowsOf(last.token[0], 'revocation')
  const at = Math.max(0, ...revocations.map(({ columns }) => Number(columns.expires_at)))
  last.notes = { token: [['revocations', revocations.length, { at }]] }
}

const counts: Request = { path: 'service/api/notifications/counts' }
const unreadIn = (exchange: Exchange) => dataIn<{ unread: number }>(exchange).unread ?? 0

async function form({ world, acts, answers }: Running): Promise<void> {
  const { otherSite = null, base, id, cookieName = '' } = world.visit ?? {}
  if (otherSite === null) {
    acts.push({ label: 'form', session: [], token: [], notes: { session: [['oneName']] } })
    return
  }
  const before = await world.send('session', counts)
  world.display(`${otherSite}${base}/other-site?visit=${id}`)
  const sent = await formAfter(world, before.n)
  if (sent === undefined) return
  const after = await world.send('session', counts)
  const unread: Note = ['unread', unreadIn(before), unreadIn(after)]
  const notes = {
    session: [noteOnForm(sent, cookieName), unread],
    token: [['neverAdded'] as const, unread],
  }
  acts.push({ label: 'form', session: [sent], token: [sent], notes })
  answers['session acts'] = answers['token acts'] = unreadIn(after) < unreadIn(before)
}

/**
 * Some browsers send the cookies of a framed page with the form: then the origin check alone
 * refuses it.
 */
export function noteOnForm(sent: Exchange, cookieName: string): Note {
  if (statusOf(sent) < 300) return ['formAccepted']
  return [proofOf(sent, cookieName) === 'session' ? 'formWithCookie' : 'formWithoutCookie']
}

/**
 * The page cannot read the response in the frame, so it looks for a new exchange. Undefined if the
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

async function script(record: Running): Promise<void> {
  const { world, acts, answers } = record
  const { token = '' } = world
  const loot = await tokenSeen(world)
  answers['session page'] = document.cookie.includes(`${world.visit?.cookieName}=`)
  answers['token page'] = loot !== ''
  answers['token storage'] = readFromStorage(token)
  const found = (cell: Cell, text: string): Reading => ({ cell, text: `${sources[cell]}"${text}"` })
  const readings = [
    found('session page', document.cookie),
    found('token page', `${loot.slice(0, 6)}…`),
    found('token storage', `${loot.slice(0, 6)}…`),
  ]
  acts.push({
    label: 'reads',
    session: [],
    token: [],
    readings,
    notes: { session: [['notRead']], token: [['read']] },
  })
  const acted = await both(record, 'use', [
    { method: 'POST', path: 'service/api/notifications/read-all' },
  ])
  for (const lane of lanes)
    acted[lane] = acted[lane].map((exchange) => ({ ...exchange, by: 'script' as const }))
  acted.notes = { session: [['scriptActs']], token: [['scriptActs']] }
  await world.control('steal', { token: loot })
  acts.push({
    label: 'carried',
    session: [],
    token: [await world.byThief('token', elsewhere)],
    notes: { session: [['nothingTaken']] },
  })
}

/** A foreign script can do this: its own `fetch` sees the next request of the page. */
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

async function time(record: Running): Promise<void> {
  const { world, acts } = record
  await world.control('advance', { seconds: 16 * minute })
  await both(record, 'later', [restricted], [restricted, elsewhere])
  answerByAct(record)
  await world.signIn('token')
  // The thief renews until the sign-in is too old.
  for (let age = 0; world.token !== undefined && age <= 13 * 60; age += 14) {
    await world.control('advance', { seconds: 14 * minute })
    const token = [await world.renew()]
    if (age === 0)
      acts.push({ label: 'renewed', session: [], token, notes: { session: [['nothingToRenew']] } })
    if (world.token === undefined)
      acts.push({
        label: 'ended',
        session: await world.sendAll('session', [restricted]),
        token,
        notes: {},
      })
  }
  await world.control('advance', { seconds: 8 * 24 * 60 * minute })
  const unused = await both(record, 'unused', [restricted], [])
  unused.notes = { token: [['endedBefore']] }
}

async function outage(record: Running): Promise<void> {
  const { world } = record
  const list: Request = { path: 'service/api/notifications' }
  await world.control('outage', { seconds: 10 })
  await both(record, 'during', [restricted], [restricted, elsewhere])
  answerByAct(record)
  await both(record, 'duringList', [list])
  await world.control('outage', { seconds: 0 })
  await both(record, 'after', [restricted])
}

export const wayNames = ['memory', 'store', 'key'] as const
export const ways = { memory: 'session', store: 'session', key: 'token' } as const

async function balancer(record: Running): Promise<void> {
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
export const cellsOf: Readonly<Record<ExperimentId, readonly Cell[]>> = {
  stolen: atBoth,
  signOut: atBoth,
  form: ['session acts', 'token acts'],
  script: ['session page', 'token page', 'token storage'],
  time: withoutOther,
  outage: withoutOther,
  balancer: ['session memory', 'session store', 'token key'],
}
const runs: { [id in ExperimentId]: (record: Running) => Promise<void> } = {
  stolen,
  signOut,
  form,
  script,
  time,
  outage,
  balancer,
}
