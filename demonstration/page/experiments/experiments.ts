import type { Exchange } from '../../server/api.ts'
import type { Texts } from '../../texts/texts.ts'
import { proofOf, statusOf } from '../picture/hops.ts'
import { rowsOf } from '../picture/picture.ts'
import { secondsLeft, tokenEnd } from '../proof/proof-parts.ts'
import {
  dataIn,
  elsewhere,
  type Lane,
  lanes,
  type Request,
  restricted,
  signOutRequest,
  type World,
  WorldError,
} from '../world.ts'

type Note = keyof Texts['notes']
type Exchanges = Record<Lane, readonly Exchange[]>
/**
 * `notes`: sentences beside the lanes; those of the label by default. `values`: in the notes, times
 * in milliseconds. `readings`: what a script read; `works` for a proof.
 */
export type Act = Exchanges & {
  label: keyof Texts['acts']
  notes?: readonly Note[]
  values: readonly (number | { at: number })[]
  readings?: Partial<Record<Cell, { text: string; works: boolean }>>
}
export type Way = keyof Texts['balancer']
export type Cell = `${Lane} ${keyof Texts['cells'] | Way}`
/** Keyed by experiment and cell, such as `stolen token this`. */
type Predictions = Record<string, boolean>

export type Outcome = {
  start: Partial<Record<Lane, Exchange>>
  acts: Act[]
  /** The predicted act. */
  main: number
  /** Later choices of the reader do not change it. */
  predicted: Predictions
  hits?: Readonly<Record<Way, readonly Exchange[]>>
}
type Running = Outcome & { world: World }

export class Bench {
  readonly predictions: Predictions = {}
  readonly outcomes: { [id in ExperimentId]?: Outcome | undefined } = {}
  moments: { [id in ExperimentId | 'inbox']?: number | undefined } = {}

  shownOf(id: ExperimentId): number {
    return this.moments[id] ?? this.outcomes[id]?.main ?? 0
  }

  run(id: ExperimentId, world: World, recorded: Outcome | undefined): Promise<boolean> {
    const before = this.outcomes[id]
    this.outcomes[id] = undefined
    this.moments[id] = undefined
    return world.run(id, async () => {
      const running = recorded ?? outcomeOf(id, world)
      try {
        this.outcomes[id] = { ...(await running), predicted: { ...this.predictions } }
      } catch (error) {
        this.outcomes[id] = before
        throw error
      }
    })
  }
}

export async function outcomeOf(id: ExperimentId, world: World): Promise<Outcome> {
  await world.fresh()
  const start = await world.signInBoth()
  const record: Running = { world, start, acts: [], main: 0, predicted: {} }
  await experiments[id].run(record)
  const { world: _, ...outcome } = record
  return outcome
}

function add({ acts }: Running, label: Act['label'], exchanges: Exchanges): Act {
  const act: Act = { label, ...exchanges, values: [] }
  acts.push(act)
  return act
}

/** By default, the token lane sends the requests of the session lane. */
async function both(
  record: Running,
  label: Act['label'],
  session: readonly Request[],
  token = session,
) {
  return add(record, label, {
    session: await record.world.sendAll('session', session),
    token: await record.world.sendAll('token', token),
  })
}

async function thief(record: Running, label: Act['label']) {
  const by = async (lane: Lane) => [
    await record.world.byThief(lane, restricted),
    await record.world.byThief(lane, elsewhere),
  ]
  return add(record, label, { session: await by('session'), token: await by('token') })
}

async function stolen(record: Running): Promise<void> {
  const { world } = record
  await both(record, 'before', [restricted])
  await world.steal()
  await thief(record, 'thief')
  record.main = 1
  const { first, last } = await world.control('renew-copy', {})
  const unnoticed = add(record, 'unnoticed', {
    session: [await world.byThief('session', restricted)],
    token: [await world.exchange(first), await world.exchange(last)],
  })
  unnoticed.values = [Math.round(renewedFor(record) / 3_600)]
}

/** How long a thief could renew a stolen token, in seconds since the sign-in. */
export function renewedFor({ start, acts }: Outcome): number {
  const refused = acts.at(-1)?.token.at(-1)
  return refused && start.token ? Math.round((tokenEnd(refused) - start.token.at) / 1_000) : 0
}

async function signOut(record: Running): Promise<void> {
  const { world } = record
  await world.steal()
  await both(record, 'signOut', [signOutRequest])
  const copied = await thief(record, 'copied')
  record.main = 1
  copied.values = copied.token.slice(1).map(secondsLeft)
  // Another device's sign-in ends all others.
  await world.signInBoth()
  await world.steal()
  await world.signIn('token')
  await world.send('token', { method: 'DELETE', path: 'service/api/me/sessions' })
  const last = await thief(record, 'everywhere')
  const revocations = rowsOf(last.token[0], 'revocation')
  const at = Math.max(0, ...revocations.map(({ columns }) => Number(columns.expires_at)))
  last.values = [revocations.length, { at }]
}

const counts: Request = { path: 'service/api/notifications/counts' }
const unreadIn = (exchange: Exchange) => dataIn<{ unread: number }>(exchange).unread ?? 0

async function form(record: Running): Promise<void> {
  const { world } = record
  const { otherSite = null, base, id, cookieName = '' } = world.visit ?? {}
  if (otherSite === null) {
    add(record, 'form', { session: [], token: [] }).notes = ['oneName']
    return
  }
  const before = await world.send('session', counts)
  world.display(`${otherSite}${base}/other-site?visit=${id}`)
  const sent = await formAfter(world, before.n)
  const after = await world.send('session', counts)
  const act = add(record, 'form', { session: [sent], token: [sent] })
  act.notes = [noteOnForm(sent, cookieName), 'form']
  act.values = [unreadIn(before), unreadIn(after)]
}

/** If a browser sends a framed page's cookies with the form, only the origin check refuses it. */
export function noteOnForm(sent: Exchange, cookieName: string): Note {
  if (statusOf(sent) < 300) return 'formAccepted'
  return proofOf(sent, cookieName) === 'session' ? 'formWithCookie' : 'formWithoutCookie'
}

/** The page cannot read the frame, so it polls. Throws WorldError if the browser sends no form. */
async function formAfter(world: World, n: number): Promise<Exchange> {
  let last = n
  for (let attempt = 0; attempt < 40; attempt++) {
    const next = await world.send('session', counts)
    if (next.n > last + 1) return world.exchange(last + 1)
    last = next.n
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new WorldError('other')
}

async function script(record: Running): Promise<void> {
  const { world } = record
  const loot = await tokenSeen(world)
  const { cookie } = document
  const start = `${loot.slice(0, 6)}…`
  add(record, 'reads', { session: [], token: [] }).readings = {
    'session page': { text: cookie, works: cookie.includes(`${world.visit?.cookieName}=`) },
    'token page': { text: start, works: loot !== '' },
    'token storage': { text: start, works: readFromStorage(loot) },
  }
  const acted = await both(record, 'use', [
    { method: 'POST', path: 'service/api/notifications/read-all' },
  ])
  for (const lane of lanes)
    acted[lane] = acted[lane].map((exchange) => ({ ...exchange, by: 'script' as const }))
  await world.control('steal', { token: loot })
  add(record, 'carried', { session: [], token: [await world.byThief('token', elsewhere)] })
}

/** A foreign script can do this: its `fetch` sees the page's next request. */
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

async function time(record: Running): Promise<void> {
  const { world } = record
  await world.control('advance', { seconds: 16 * minute })
  await both(record, 'later', [restricted], [restricted, elsewhere])
  await world.signIn('token')
  await world.control('advance', { seconds: 14 * minute })
  let token = [await world.renew()]
  add(record, 'renewed', { session: [], token })
  // The page renews until the sign-in is too old.
  while (world.token !== undefined) {
    await world.control('advance', { seconds: 14 * minute })
    token = [await world.renew()]
  }
  add(record, 'ended', { session: await world.sendAll('session', [restricted]), token })
  await world.control('advance', { seconds: 8 * 24 * 60 * minute })
  await both(record, 'unused', [restricted], [])
}

async function outage(record: Running): Promise<void> {
  const { world } = record
  const list: Request = { path: 'service/api/notifications' }
  await world.control('outage', { seconds: 10 })
  await both(record, 'during', [restricted], [restricted, elsewhere])
  await both(record, 'duringList', [list])
  await world.control('outage', { seconds: 0 })
  await both(record, 'after', [restricted])
}

export const ways = { memory: 'session', store: 'session', key: 'token' } as const
export const wayNames = Object.keys(ways) as Way[]

async function balancer(record: Running): Promise<void> {
  const { world } = record
  await world.send('session', { method: 'POST', path: 'servers/memory/me' })
  const ten = (way: Way) =>
    world.sendAll(
      ways[way],
      Array.from({ length: 10 }, () => ({ path: `servers/${way}/me` })),
    )
  record.hits = { memory: await ten('memory'), store: await ten('store'), key: await ten('key') }
}

type Experiment = {
  by: Exchange['by']
  cells: readonly Cell[]
  run: (record: Running) => Promise<void>
}
const atBoth = ['session this', 'session other', 'token this', 'token other'] as const
const withoutOther = ['session this', 'token this', 'token other'] as const
const inPage = ['session page', 'token page', 'token storage'] as const
export const experiments = {
  stolen: { by: 'thief', cells: atBoth, run: stolen },
  signOut: { by: 'thief', cells: atBoth, run: signOut },
  form: { by: 'other-site', cells: ['session acts', 'token acts'], run: form },
  script: { by: 'script', cells: inPage, run: script },
  time: { by: 'browser', cells: withoutOther, run: time },
  outage: { by: 'browser', cells: withoutOther, run: outage },
  balancer: { by: 'browser', cells: [], run: balancer },
} satisfies Record<string, Experiment>
export type ExperimentId = keyof typeof experiments
export const experimentIds = Object.keys(experiments) as ExperimentId[]
