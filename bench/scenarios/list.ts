// Lists per second, by session and by access token, from SQLite and from PostgreSQL: the first page of an unchanged inbox, which is cached,
// and pages that were not rendered before. From PostgreSQL the cached page costs one round trip, so its floor is a bare server that makes one.
import { startFloor } from '../floors/floor.ts'
import { Loader, type Server } from '../load/load.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { rateRow } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { fillInboxes, type Kind, prepare, type Reader, requestsOf } from '../setup/inboxes.ts'
import { type Database, startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'

const inboxSize = 1_000
const limit = 20
const targets = { unchanged: 0.5, notRendered: 0.3, postgres: 0.8 }
/** Lists by others while the service has other work: one every 40 ms on each connection. */
export const listsOfOthers = { connections: 8, everyMs: 40, status: 200 }

export const list: Scenario = {
  name: 'list',
  question:
    'first 20 of 1,000 notifications, 1,000 proofs of 100 users, compared with a bare node:http server',
  async run(bench) {
    const { onFresh, ...unchanged } = await contendersOf(bench)
    const all = await inTurns(bench, {
      ...unchanged,
      'not rendered, cookie': onFresh('cookies'),
      'not rendered, token': onFresh('tokens'),
    })
    const row = (what: string, name: keyof typeof all, min: number) =>
      rateRow({ what: `list, ${what}`, of: all[name], floor: all.floor, min })
    return [
      row('inbox unchanged, cookie', 'cookie', targets.unchanged),
      row('inbox unchanged, token', 'token', targets.unchanged),
      row('page not rendered before, cookie', 'not rendered, cookie', targets.notRendered),
      row('page not rendered before, token', 'not rendered, token', targets.notRendered),
    ]
  },
}

export const postgresList: Scenario = {
  name: 'postgres-list',
  question:
    'the list from PostgreSQL, compared with a bare node:http server that makes a round trip, too',
  async run(bench) {
    const { onFresh, ...unchanged } = await contendersOf(bench, await startDatabase(bench, 'load'))
    const { cookie, floor, token, fresh } = await inTurns(bench, {
      ...unchanged,
      fresh: onFresh('tokens'),
    })
    const what = 'list from PostgreSQL'
    return [
      rateRow({
        what: `${what}, inbox unchanged, cookie`,
        of: cookie,
        floor,
        min: targets.postgres,
      }),
      rateRow({ what: `${what}, inbox unchanged, token`, of: token, floor, min: targets.postgres }),
      rateRow({ what: `${what}, page not rendered before, token`, of: fresh }),
    ]
  },
}

async function contendersOf(bench: Bench, { url: database, processorUs }: Partial<Database> = {}) {
  const { seconds } = bench
  bench.progress(`making 100 inboxes of ${inboxSize} notifications and 2,000 proofs`)
  const service = await startService(bench, { database })
  const prepared = await prepare(service, { users: bench.scaled(100), proofs: bench.scaled(10) })
  await fillInboxes(service, prepared, inboxSize)
  const { readers } = prepared
  const loader = new Loader(bench, 'load', processorUs)
  const cookies = requestsOf(readers, 'cookies', firstPage)
  const tokens = requestsOf(readers, 'tokens', firstPage)
  const texts = tokens.slice(0, database === undefined ? 1 : readers.length)
  const floor = await startFloor(bench, { port: service.port, texts, database })
  // PostgreSQL shares the core of the load, which then sleeps while it waits.
  const load = { connections: 64, status: 200, staysAwake: database === undefined, seconds }
  const on = (server: Server, requests: readonly string[]) => () =>
    loader.measure(server, { ...load, requests, warmUpSeconds: seconds / 4 })
  /** On a service that has just started, and has rendered other pages than those that are measured. */
  const onFresh = (kind: Kind) => async () => {
    const fresh = await startService(bench, { database })
    const pages = placesOf(readers, kind)
    const count = pages.length / 2
    await loader.measure(fresh, { ...load, requests: pages.slice(count), count })
    const loaded = await loader.measure(fresh, { ...load, requests: pages.slice(0, count), count })
    await fresh.stop()
    return loaded
  }
  return {
    cookie: on(service, cookies),
    floor: on(floor, tokens),
    token: on(service, tokens),
    onFresh,
  }
}

export function firstPage(proof: ProofLine): string {
  return requestText('GET', `/api/notifications?page=1&limit=${limit}`, { proof })
}

/** Each full page of each user, starting at every notification: shuffled, no user twice in a row. */
function placesOf(readers: readonly Reader[], kind: Kind): string[] {
  // Steps of a prime that does not divide the count: the same order in every run.
  const step = 389
  const count = inboxSize - limit
  return Array.from({ length: count }, (_, i) => limit + 1 + ((i * step) % count)).flatMap(
    (place, i) =>
      readers.map((reader) => {
        const proof = reader[kind][i % reader[kind].length] as ProofLine
        return requestText('GET', `/api/notifications?before=${place}&limit=${limit}`, { proof })
      }),
  )
}
