// What it costs to list and to empty a large inbox: first pages under every filter, pages of a category from the cache, and what users do
// with notifications, in an inbox of 100,000 and in one of 1,000. On SQLite and on PostgreSQL.
import { type Loaded, Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow, row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMs, type Row } from '../report/table.ts'
import { deliveryTo, prepare, type Reader, sendAll } from '../setup/inboxes.ts'
import { startDatabase } from '../setup/postgres.ts'
import { type Service, startService } from '../setup/service.ts'

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

type Sized = keyof typeof sizes

export const emptying: Scenario = {
  name: 'emptying',
  question: 'lists and acts in an inbox of 100,000 notifications of every kind, and in one of 1,000',
  run: (bench) => rowsOn(bench, 'SQLite', bench),
}

export const postgresEmptying: Scenario = {
  name: 'postgres-emptying',
  question: 'the same on PostgreSQL',
  async run(bench) {
    const { url, processorUs } = await startDatabase(bench, 'anywhere')
    return rowsOn(bench, 'PostgreSQL', { ...bench, database: url }, processorUs)
  },
}

type Place = Parameters<typeof startService>[0]

async function rowsOn(bench: Bench, engine: string, place: Place, databaseUs?: () => number): Promise<Row[]> {
  const service = bench.using(await startService({ ...place, role: 'anywhere' }))
  const { readers, producer } = await prepare(service, { users: 4, proofs: 1 })
  const [mixed, fewest, small, large] = readers as [Reader, Reader, Reader, Reader]
  const loader = bench.using(new Loader('anywhere', databaseUs))
  const fill = async (reader: Reader, count: number) => {
    bench.progress(`making an inbox of ${count} notifications`)
    const requests = categories.map((category) => deliveryTo([reader], producer, category))
    await loader.measure(service.process, { ...plan(service, requests), connections: 64, status: 201, count })
  }
  for (const [reader, size] of [
    [mixed, sizes.large],
    [fewest, sizes.fewest],
    [small, sizes.small],
    [large, sizes.large],
  ] as const)
    await fill(reader, size)
  await mix(service, mixed)
  const load =
    (take: () => readonly string[], status: number, times = 1) =>
    async () => {
      const requests = take()
      const count = times * requests.length
      const loaded = await loader.measure(service.process, { ...plan(service, requests), status, count })
      return { ...loaded, otherProgramsShare: 0 }
    }
  const pages = (query: string) =>
    load(() => [requestText('GET', `/api/notifications?${query}`, { proof: proofOf(mixed) })], 200, 400)
  const listed = await inTurns<string, Loaded>(bench, {
    plain: pages(newest),
    ...Object.fromEntries(filters.map((filter) => [filter, pages(`${newest}&${filter}`)])),
    kept: pages('limit=20'),
    'kept category': pages('limit=20&category=orders'),
  })
  const actsOf = await Promise.all(
    Object.entries({ fewest, small, large }).map(
      async ([size, reader]) => [size, await actsIn(service, reader, sizes[size as Sized])] as const,
    ),
  )
  const done = await inTurns<string, Loaded>(
    bench,
    Object.fromEntries(
      actsOf.flatMap(([size, all]) =>
        Object.entries(all)
          .filter(([name]) => size !== 'fewest' || name === archiving)
          .map(([name, take]) => [`${name} ${size}`, load(take, 204)]),
      ),
    ),
  )
  const rowOf = (what: string, [of = [], floor = []]: readonly (Loaded[] | undefined)[], max: number) =>
    (databaseUs === undefined ? costRow : timeRow)({ what: `${engine}: ${what}`, of, floor, max })
  return [
    ...filters.map((filter) => rowOf(`first page, ${filter}`, [listed[filter], listed.plain], targets.filter)),
    rowOf('first page of a category, inbox unchanged', [listed['kept category'], listed.kept], targets.kept),
    ...Object.keys(actsOf[0]?.[1] ?? {}).map((name) => {
      const floor = done[`${name} ${name === archiving ? 'fewest' : 'small'}`]
      return rowOf(name, [done[`${name} large`], floor], targets.act)
    }),
  ]
}

/** The server's processor time leaves out that of the database. */
function timeRow({ what, of, floor = [], ...target }: Parameters<typeof costRow>[0]): Row {
  const each = (samples: readonly Loaded[]) => samples.map(({ perSecond }) => 1_000 / perSecond)
  return row({ what, figures: each(of), as: asMs, floor: { figures: each(floor) }, ...target })
}

const proofOf = (reader: Reader) => reader.tokens[0] as ProofLine
const plan = ({ port }: Service, requests: readonly string[]) => ({ port, requests, connections: 1, seconds: 3_600 })

/** Makes the request of an act: on one notification if its id is in the path. */
const act = (reader: Reader, path: string, body?: object) =>
  requestText(/[/][0-9a-f-]{36}[/]/.test(path) ? 'PATCH' : 'POST', path, {
    proof: proofOf(reader),
    ...(body && { body: JSON.stringify(body) }),
  })

async function newestIds({ port }: Service, reader: Reader, pages: number): Promise<string[]> {
  const texts = Array.from({ length: pages }, (_, n) =>
    requestText('GET', `/api/notifications?limit=100&page=${n + 1}`, { proof: proofOf(reader) }),
  )
  const responses = await sendAll(port, texts, 200)
  return responses.flatMap(({ body }) => (JSON.parse(body).data.items as { id: string }[]).map(({ id }) => id))
}

/** Archives the oldest half together, marks half of the others as read, and snoozes or archives some of the newest alone. */
async function mix(service: Service, reader: Reader): Promise<void> {
  const through = (seq: number) => act(reader, `/api/notifications/read-all?throughSeq=${seq}`)
  const send = (text: string) => sendAll(service.port, [text], 204)
  await send(through(sizes.large / 2))
  await send(act(reader, '/api/notifications/archive-read'))
  await send(through((sizes.large / 4) * 3))
  const ids = await newestIds(service, reader, 10)
  const until = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString()
  const moves = ids.map((id, n) =>
    n % 2 === 0
      ? act(reader, `/api/notifications/${id}/archive`)
      : act(reader, `/api/notifications/${id}/snooze`, { until }),
  )
  await sendAll(service.port, moves, 204)
}

/** The requests of each act, for one round. All but `staying` are read. */
async function actsIn(service: Service, reader: Reader, size: number): Promise<Record<string, () => string[]>> {
  await sendAll(service.port, [act(reader, `/api/notifications/read-all?throughSeq=${size - staying}`)], 204)
  const others = (await newestIds(service, reader, 10)).slice(staying)
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
