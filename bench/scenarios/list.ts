// Lists per second, by session and by access token: the first page of an unchanged inbox, which is cached, and pages that were not
// rendered before.
import { type Server, startFloor } from '../floors/start-floor.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { rateRow } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { fillInboxes, type Kind, prepare, type Reader, requestsOf } from '../setup/inboxes.ts'
import { type Place, startService } from '../setup/service.ts'

export const connections = 64
export const inboxSize = 1_000
const limit = 20
const targets = { cookie: 0.5, token: 0.5, notRendered: 0.3 }

export const list: Scenario = {
  name: 'list',
  question: 'first 20 of 1,000 notifications, 1,000 proofs of 100 users, compared with a bare node:http server',
  async run(bench) {
    bench.progress(`making 100 inboxes of ${inboxSize} notifications and 2,000 proofs`)
    const service = bench.using(await startService(bench))
    const prepared = await prepare(service, { users: bench.scaled(100), proofs: bench.scaled(10) })
    const { readers } = prepared
    await fillInboxes(service, prepared, inboxSize)
    const loader = bench.using(new Loader())
    const [cookies, tokens] = [requestsOf(readers, 'cookies', firstPage), requestsOf(readers, 'tokens', firstPage)]
    const floor = await startFloor(bench, { port: service.port, texts: tokens.slice(0, 1) })
    const load = {
      connections,
      status: 200,
      staysAwake: true,
      seconds: bench.seconds,
      warmUpSeconds: bench.seconds / 4,
    }
    const on = (server: Server, requests: string[]) => () =>
      loader.measure(server.process, { ...load, port: server.port, requests })
    const onFresh = (kind: Kind) => () =>
      loadOnFresh(bench, { loader, place: bench, requests: placesOf(readers, kind) })
    const all = await inTurns<string, Loaded>(bench, {
      cookie: on(service, cookies),
      floor: on(floor, tokens),
      token: on(service, tokens),
      'not rendered, cookie': onFresh('cookies'),
      'not rendered, token': onFresh('tokens'),
    })
    const row = (what: string, name: string, min: number) =>
      rateRow({ what: `list, ${what}`, of: all[name] ?? [], floor: all.floor ?? [], min })
    return [
      row('inbox unchanged, cookie', 'cookie', targets.cookie),
      row('inbox unchanged, token', 'token', targets.token),
      row('page not rendered before, cookie', 'not rendered, cookie', targets.notRendered),
      row('page not rendered before, token', 'not rendered, token', targets.notRendered),
    ]
  },
}

type Fresh = { loader: Loader; place: Place; requests: string[]; staysAwake?: boolean }

/** On a service that has just started, and has rendered other pages than those that are measured. */
export async function loadOnFresh(
  { seconds }: Bench,
  { loader, place, requests, staysAwake = true }: Fresh,
): Promise<Loaded> {
  const service = await startService(place)
  const load = { port: service.port, connections, status: 200, staysAwake, seconds }
  const half = requests.length / 2
  await loader.measure(service.process, { ...load, requests: requests.slice(half), count: half })
  const loaded = await loader.measure(service.process, { ...load, requests: requests.slice(0, half), count: half })
  await service.stop()
  return loaded
}

export function firstPage(proof: ProofLine): string {
  return requestText('GET', `/api/notifications?page=1&limit=${limit}`, { proof })
}

/** Each full page of each user, starting at every notification: shuffled, no user twice in a row. */
export function placesOf(readers: readonly Reader[], kind: Kind): string[] {
  // Steps of a prime that does not divide the count: the same order in every run.
  const step = 389
  const count = inboxSize - limit
  return Array.from({ length: count }, (_, i) => limit + 1 + ((i * step) % count)).flatMap((place, i) =>
    readers.map((reader) => {
      const proof = reader[kind][i % reader[kind].length] as ProofLine
      return requestText('GET', `/api/notifications?before=${place}&limit=${limit}`, { proof })
    }),
  )
}
