// What it costs to list and to empty a large inbox: first pages under every filter, pages of a category from the cache, what users do with
// one notification in an inbox of 100,000 and in one of 1,000, and bulk acts of 100 to 100,000. On SQLite and on PostgreSQL.
import { type Loaded, Loader } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, timeRow } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import type { Row } from '../report/table.ts'
import { deliveryTo, newestIds, prepare, type Reader, sendAll } from '../setup/inboxes.ts'
import { type Database, startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

const sizes = { small: 1_000, large: 100_100 }
/** How many notifications a bulk act changes: with how often a round repeats it and its undo, and how long each may take, in ms. */
const bulk = [
  { size: 100, times: 25, max: { sqlite: 3, postgres: 6 } },
  { size: 1_000, times: 10, max: { sqlite: 20, postgres: 40 } },
  { size: 10_000, times: 2, max: { sqlite: 250, postgres: 600 } },
  { size: 100_000, times: 1, max: { sqlite: 4_000, postgres: 8_000 } },
]
/** How many stay unread, in each inbox. */
const staying = 100
const acts = 100
/** Every inbox has these, in turns. */
const categories = ['orders', 'builds', 'news', 'chat']
const filters = [
  'status=unread',
  'status=read',
  'status=archived',
  'status=snoozed',
  'status=all',
  'category=orders',
]
const targets = { filter: 1.5, kept: 1.3, act: 2 }
/** A page by cursor is never kept. This one begins at the newest. */
const newest = 'limit=20&before=9007199254740991'

export const emptying: Scenario = {
  name: 'emptying',
  question:
    'lists and acts in an inbox of 100,000 notifications of every kind and in one of 1,000; bulk acts',
  run: (bench) => rowsOn(bench),
}

export const postgresEmptying: Scenario = {
  name: 'postgres-emptying',
  question: 'the same on PostgreSQL',
  run: async (bench) => rowsOn(bench, await startDatabase(bench, 'anywhere')),
}

async function rowsOn(bench: Bench, database?: Database): Promise<Row[]> {
  const service = await startService(bench, { database: database?.url, role: 'anywhere' })
  const { readers, producer } = await prepare(service, { users: 3 + 2 * bulk.length, proofs: 1 })
  const [mixed, small, large, ...ofBulk] = readers as [Reader, Reader, Reader, ...Reader[]]
  const loader = new Loader(bench, 'anywhere', database?.processorUs)
  const usual = { connections: 1, seconds: 3_600 }
  const counts = [
    sizes.large,
    sizes.small,
    sizes.large,
    ...bulk.flatMap(({ size }) => [size, size]),
  ]
  for (const [i, count] of counts.entries()) {
    bench.progress(`making an inbox of ${count} notifications`)
    const requests = categories.map((category) =>
      deliveryTo([readers[i] as Reader], producer, { category }),
    )
    await loader.measure(service, { ...usual, requests, connections: 64, status: 201, count })
  }
  await mix(service.port, mixed)
  const load = async (requests: readonly string[], status: number, times = 1) => {
    const loaded = await loader.measure(service, {
      ...usual,
      requests,
      status,
      count: times * requests.length,
    })
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
  for (const [name, reader] of Object.entries({ small, large }))
    for (const [what, take] of Object.entries(
      await actsIn(service.port, reader, sizes[name as keyof typeof sizes]),
    ))
      contenders[`${what} ${name}`] = () => load(take(), 204)
  const done = await inTurns(bench, contenders)
  const bulkActs: Record<string, () => Promise<Loaded>> = {}
  for (const [i, { size, times }] of bulk.entries()) {
    const [unread, read] = ofBulk.slice(2 * i) as [Reader, Reader]
    await sendAll(service.port, [act(read, '/api/notifications/read-all')], 204)
    for (const [reader, what] of [
      [unread, 'read-all'],
      [read, 'archive-read'],
    ] as const) {
      const requests = [what, 'undo'].map((name) => act(reader, `/api/notifications/${name}`))
      bulkActs[`${what} ${size}`] = () =>
        load(Array.from({ length: times }, () => requests).flat(), 204)
    }
  }
  const doneInBulk = await inTurns(bench, bulkActs)
  const rowOf = (
    what: string,
    { of = [], floor = [] }: Record<string, Loaded[] | undefined>,
    max: number,
  ) => {
    const given = { what: `${database ? 'PostgreSQL' : 'SQLite'}: ${what}`, of, floor, max }
    // The server's processor time leaves out that of the database.
    return database ? timeRow(given) : costRow(given)
  }
  const ofLarge = Object.keys(contenders).filter((name) => name.endsWith(' large'))
  return [
    ...filters.map((name) =>
      rowOf(`first page, ${name}`, { of: listed[name], floor: listed.plain }, targets.filter),
    ),
    rowOf(
      'first page of a category, inbox unchanged',
      { of: listed['kept category'], floor: listed.kept },
      targets.kept,
    ),
    ...ofLarge.map((name) => {
      const what = name.replace(/ large$/, '')
      return rowOf(what, { of: done[name], floor: done[`${what} small`] }, targets.act)
    }),
    ...Object.entries(doneInBulk).map(([name, of]) => {
      const [what, size] = name.split(' ')
      const { max } = bulk.find((one) => String(one.size) === size) as (typeof bulk)[number]
      const engine = database ? 'postgres' : 'sqlite'
      return timeRow({
        what: `${database ? 'PostgreSQL' : 'SQLite'}: ${what} of ${size}, or its undo`,
        of,
        max: max[engine],
      })
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
async function actsIn(
  port: number,
  reader: Reader,
  size: number,
): Promise<Record<string, () => string[]>> {
  await sendAll(
    port,
    [act(reader, `/api/notifications/read-all?throughSeq=${size - staying}`)],
    204,
  )
  const others = (await newestIds(port, proofOf(reader), 1_000)).slice(staying)
  const ids = others.splice(0, acts)
  let seen = size - sizes.small
  const each = (path: string) => ids.map((id) => act(reader, `/api/notifications/${id}/${path}`))
  return {
    'archive and unarchive': () => [...each('archive'), ...each('unarchive')],
    seen: () =>
      Array.from({ length: acts }, () =>
        act(reader, '/api/notifications/seen', { throughSeq: ++seen }),
      ),
    delete: () =>
      others
        .splice(0, acts)
        .map((id) => requestText('DELETE', `/api/notifications/${id}`, { proof: proofOf(reader) })),
  }
}
