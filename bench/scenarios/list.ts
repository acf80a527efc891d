// Lists per second, by session and by access token: the first page of an unchanged inbox, which is cached, pages that were not rendered
// before, an inbox that changes, and the counts.
import { floorRow, isDisturbed, requestsOf, type Server, saturation, startFloor } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { fillInboxes, type Prepared, prepareReaders, type Reader } from '../setup/inboxes.ts'
import { type Service, startService } from '../setup/service.ts'

const connections = 64
export const inboxSize = 1_000
export const limit = 20
const changesEveryMs = 10
const targets = { cookie: 0.45, token: 0.55, notRendered: 0.3 }

export const list: Scenario = {
  name: 'list',
  question: 'first 20 of 1,000 notifications, 1,000 proofs of 100 users, compared with a bare node:http server',
  async run(bench) {
    const { checkout, dir } = bench
    bench.progress('making 100 inboxes of 1,000 notifications and 2,000 proofs')
    const prepared = await prepareReaders(bench, { users: 100, proofs: 10 })
    const { readers } = prepared
    await fillInboxes(bench, { userIds: readers.map(({ userId }) => userId), count: inboxSize, readThrough: 900 })
    const loader = bench.using(new Loader())
    const service = bench.using(await startService({ checkout, dir }))
    const [cookies, tokens] = [requestsOf(readers, 'cookies', firstPage), requestsOf(readers, 'tokens', firstPage)]
    const counts = requestsOf(readers, 'cookies', countsOf)
    const floors = {
      fixed: await startFloor(bench, { service, texts: tokens.slice(0, 1) }),
      varied: await startFloor(bench, { service, texts: tokens.slice(0, readers.length) }),
      counts: await startFloor(bench, { service, texts: counts.slice(0, 1) }),
    }
    const on = (server: Server, requests: readonly string[], atOnce = connections) =>
      loadOn(bench, { loader, server, requests, atOnce })
    const all = await inTurns(bench, {
      isDisturbed,
      contenders: {
        cookie: () => on(service, cookies),
        fixed: () => on(floors.fixed, tokens),
        token: () => on(service, tokens),
        varied: () => on(floors.varied, tokens),
        'cookie alone': () => on(service, cookies, 1),
        'fixed alone': () => on(floors.fixed, tokens, 1),
        changing: () => loadOnChanging(bench, { loader, service, prepared }),
        counts: () => on(service, counts),
        'fixed counts': () => on(floors.counts, counts),
        'not rendered by cookie': () => loadOnFresh(bench, { loader, readers, kind: 'cookies' }),
        'not rendered by token': () => loadOnFresh(bench, { loader, readers, kind: 'tokens' }),
      },
    })
    const row = (what: string, of: keyof typeof all, floor: keyof typeof all, target?: number) =>
      floorRow({ what, of: all[of], floor: all[floor], ...(target !== undefined && { target }) })
    return {
      rows: [
        row('list, inbox unchanged, cookie', 'cookie', 'fixed', targets.cookie),
        row('list, inbox unchanged, token', 'token', 'fixed', targets.token),
        row('list, inbox unchanged, cookie; floor with 100 answers', 'cookie', 'varied'),
        row('list, inbox unchanged, token; floor with 100 answers', 'token', 'varied'),
        row('list, page not rendered before, cookie', 'not rendered by cookie', 'fixed', targets.notRendered),
        row('list, page not rendered before, token', 'not rendered by token', 'fixed', targets.notRendered),
        row('list, inbox unchanged, cookie, 1 connection', 'cookie alone', 'fixed alone'),
        row(`list, inbox that changes every ${changesEveryMs} ms, cookie`, 'changing', 'fixed'),
        row('counts, inbox unchanged, cookie', 'counts', 'fixed counts'),
      ],
      notes: [
        `${connections} connections; 20 of 1,000 notifications, some 7 KB; 1,000 proofs of 100 users, one after another.`,
        'The floor is bare `node:http` that sends a fixed answer: the bytes of one of these lists. "100 answers": it sends ' +
          "those of 100 users in turn, as the service does, which use more of the processor's caches.",
        'Page not rendered before: 20 notifications from every place of every inbox (`before=`), each requested once from a ' +
          'service that has just started, so nothing is cached.',
        `An inbox that changes: all list the inbox of one user, who gets a delivery every ${changesEveryMs} ms.`,
        saturation(all),
      ],
    }
  },
}

type On = { loader: Loader; server: Server; requests: readonly string[]; atOnce: number }

function loadOn({ seconds }: Bench, { loader, server, requests, atOnce }: On): Promise<Loaded> {
  return loader.measure(server.process, {
    port: server.port,
    connections: atOnce,
    requests,
    status: 200,
    staysAwake: true,
    seconds,
    warmUpSeconds: seconds / 4,
  })
}

type Fresh = { loader: Loader; readers: readonly Reader[]; kind: 'cookies' | 'tokens' }

/** On a service that has just started, and has rendered other pages than those that are measured. */
async function loadOnFresh({ checkout, dir, seconds }: Bench, { loader, readers, kind }: Fresh): Promise<Loaded> {
  const service = await startService({ checkout, dir })
  // More requests than a server completes in that time.
  const count = seconds * 50_000
  const load = {
    port: service.port,
    connections,
    status: 200,
    staysAwake: true,
    isOnce: true,
    seconds,
    warmUpSeconds: 0,
  }
  const pages = (size: number) => placesOf(readers, kind, size).slice(0, count)
  await loader.measure(service.process, { ...load, requests: pages(limit + 1) })
  const loaded = await loader.measure(service.process, { ...load, requests: pages(limit) })
  await service.stop()
  return loaded
}

type Changing = { loader: Loader; service: Service; prepared: Prepared }

async function loadOnChanging(bench: Bench, { loader, service, prepared }: Changing): Promise<Loaded> {
  // The last user: the inboxes of the others stay as they are.
  const { username, cookies } = prepared.readers.at(-1) as Reader
  const body = JSON.stringify({ recipients: [{ username }], title: 'Number 1', body: 'It is on its way.' })
  const deliverer = new Loader()
  const delivering = deliverer.measure(service.process, {
    port: service.port,
    connections: 1,
    everyMs: changesEveryMs,
    requests: [requestText('POST', '/api/notifications', { proof: prepared.producer, body })],
    status: 201,
    // Longer than the lists that are measured meanwhile.
    seconds: bench.seconds * 1.5,
    warmUpSeconds: 0,
  })
  const loaded = await loadOn(bench, { loader, server: service, requests: cookies.map(firstPage), atOnce: connections })
  await delivering
  await deliverer.stop()
  return loaded
}

export function firstPage(proof: ProofLine): string {
  return requestText('GET', '/api/notifications?page=1&limit=20', { proof })
}

function countsOf(proof: ProofLine): string {
  return requestText('GET', '/api/notifications/counts', { proof })
}

/** Each full page of each user, starting at every notification: shuffled, no user twice in a row. */
export function placesOf(readers: readonly Reader[], kind: 'cookies' | 'tokens', size: number): string[] {
  const places = Array.from({ length: inboxSize - size }, (_, i) => size + 1 + i)
  return shuffled(places).flatMap((place, i) =>
    readers.map((reader) => {
      const proof = reader[kind][i % reader[kind].length] as ProofLine
      return requestText('GET', `/api/notifications?before=${place}&limit=${size}`, { proof })
    }),
  )
}

/** The same order in every run: steps of a prime that does not divide the length of any list used here. */
function shuffled(places: readonly number[]): number[] {
  const step = 389
  return places.map((_, i) => places[(i * step) % places.length] as number)
}
