// What it costs to list and to empty a large inbox: first pages under every filter, pages of a category from the cache, and what users do
// with notifications, in an inbox of 100,000 and in one of 1,000. On SQLite and on PostgreSQL.
import { type Loaded, Loader } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, timeRow } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import type { Row } from '../report/table.ts'
import { deliveryTo, newestIds, prepare, type Reader, sendAll } from '../setup/inboxes.ts'
import { type Database, startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

/** `fewest` is what an archive-read of the large inbox is compared with. */
const sizes = { fewest: 200, small: 1_000, large: 100_100 }
const archiving = 'archive-read and undo'
/** How many stay unread, in each inbox. */
const staying = 100
const acts = 100
/** Every inbox has these, in turns. */
const categories = ['orders', 'builds', 'news', 'chat']
const filters = ['status=unread', 'status=read', 'status=archived', 'status=snoozed', 'status=all', 'category=orders']
const targets = { filter: 1.5, kept: 1.3, act: 2 }
/** A page by cursor is never kept. This one begins at the newest. */
const newest = 'limit=20&before=9007199254740991'

export const emptying: Scenario = {
  name: 'emptying',
  question: 'lists and acts in an inbox of 100,000 notifications of every kind, and in one of 1,000',
  run: (bench) => rowsOn(bench),
}

export const postgresEmptying: Scenario = {
  name: 'postgres-emptying',
  question: 'the same on PostgreSQL',
  run: async (bench) => rowsOn(bench, await startDatabase(bench, 'anywhere')),
}

async function rowsOn(bench: Bench, database?: Database): Promise<Row[]> {
  const service = await startService(bench, { database: database?.url, role: 'anywhere' })
  const { readers, producer } = await prepare(service, { users: 1 + Object.keys(sizes).length, proofs: 1 })
  const [mixed, ...sized] = readers as [Reader, ...Reader[]]
  const loader = new Loader(bench, 'anywhere', database?.processorUs)
  const usual = { connections: 1, seconds: 3_600 }
  for (const [i, count] of [sizes.large, ...Object.values(sizes)].entries()) {
    bench.progress(`making an inbox of ${count} notifications`)
    const requests = categories.map((category) => deliveryTo([readers[i] as Reader], producer, category))
    await loader.measure(service, { ...usual, requests, connections: 64, status: 201, count })
  }
  await mix(service.port, mixed)
  const load = async (requests: readonly string[], status: number, times = 1) => {
    const loaded = await loader.measure(service, { ...usual, requests, status, count: times * requests.length })
    return { ...loaded, otherProgramsShare: 0 }
  }
  const pages = (query: string) => () =>
    load([requestText('GET', `/api/notifications?${query}`, { proof: proofOf(mixed) })], 200, 400)
  const listed = await inTurns<string, Loaded>(bench, {
    plain: pages(newest),
    ...Object.fromEntries(filters.map((filter) => [filter, pages(`${newest}&${filter}`)])),
    kept: pages('limit=20'),
    'kept category': pages('limit=20&category=orders'),
  })
  const contenders: Record<string, () => Promise<Loaded>> = {}
  for (const [i, [name, size]] of Object.entries(sizes).entries())
    for (const [what, take] of Object.entries(await actsIn(service.port, sized[i] as Reader, size)))
      if (name !== 'fewest' || what === archiving) contenders[`${what} ${name}`] = () => load(take(), 204)
  const done = await inTurns(bench, contenders)
  const rowOf = (what: string, { of = [], floor = [] }: Record<string, Loaded[] | undefined>, max: number) => {
    const given = { what: `${database ? 'PostgreSQL' : 'SQLite'}: ${what}`, of, floor, max }
    // The server's processor time leaves out that of the database.
    return database ? timeRow(given) : costRow(given)
  }
  const large = Object.keys(contenders).filter((name) => name.endsWith(' large'))
  return [
    ...filters.map((name) => rowOf(`first page, ${name}`, { of: listed[name], floor: listed.plain }, targets.filter)),
    rowOf(
      'first page of a category, inbox unchanged',
      { of: listed['kept category'], floor: listed.kept },
      targets.kept,
    ),
    ...large.map((name) => {
      const what = name.replace(/ large$/, '')
      const floor = done[`${what} ${what === archiving ? 'fewest' : 'small'}`]
      return rowOf(what, { of: done[name], floor }, targets.act)
    }),
  ]
}

const proofOf = (reader: Reader) => reader.tokens[0] as ProofLine

/** Makes the request of an act: on one notification if its id is in the path. */
const act = (reader: Reader, path: string, body?: object) =>
  requestText(/[/][0-9a-f-]{36}[/]/.test(path) ? 'PATCH' : 'POST', path, {
    proof: proofOf(reader),
    ...(body && { body: JSON.stringify(body) }),
  })

/** Archives the oldest half together, marks half of the others as read, and snoozes or archives some of the newest alone. */
async function mix(port: number, reader: Reader): Promise<void> {
  const through = (seq: number) => act(reader, `/api/notifications/read-all?throughSeq=${seq}`)
  const send = (text: string) => sendAll(port, [text], 204)
  await send(through(sizes.large / 2))
  await send(act(reader, '/api/notifications/archive-read'))
  await send(through((sizes.large / 4) * 3))
  const ids = await newestIds(port, proofOf(reader), 1_000)
  const until = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString()
  const move = (path: string, n: number) =>
    n % 2 === 0 ? act(reader, `${path}/archive`) : act(reader, `${path}/snooze`, { until })
  const moves = ids.map((id, n) => move(`/api/notifications/${id}`, n))
  await sendAll(port, moves, 204)
}

/** The requests of each act, for one round. All but `staying` are read. */
async function actsIn(port: number, reader: Reader, size: number): Promise<Record<string, () => string[]>> {
  await sendAll(port, [act(reader, `/api/notifications/read-all?throughSeq=${size - staying}`)], 204)
  const others = (await newestIds(port, proofOf(reader), 1_000)).slice(staying)
  const ids = others.splice(0, acts)
  let seen = size - sizes.small
  const each = (path: string) => ids.map((id) => act(reader, `/api/notifications/${id}/${path}`))
  const times = (...texts: string[]) => Array.from({ length: acts / 2 }, () => texts).flat()
  const archiveRead = act(reader, '/api/notifications/archive-read')
  const undo = act(reader, '/api/notifications/undo')
  return {
    'archive and unarchive': () => [...each('archive'), ...each('unarchive')],
    [archiving]: () => times(archiveRead, undo),
    'read-all and undo': () => times(act(reader, '/api/notifications/read-all'), undo),
    seen: () => Array.from({ length: acts }, () => act(reader, '/api/notifications/seen', { throughSeq: ++seen })),
    delete: () =>
      others.splice(0, acts).map((id) => requestText('DELETE', `/api/notifications/${id}`, { proof: proofOf(reader) })),
  }
}
