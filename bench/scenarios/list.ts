// Lists per second, by session and by access token: the first page of an unchanged inbox, which is cached, and pages that were
// not rendered before.
import { floorRow, isDisturbed, requestsOf, type Server, saturation, startFloor } from '../floors/compare.ts'
import { Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import type { Scenario } from '../report/scenario.ts'
import { fillInboxes, prepareReaders, type Reader } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const connections = 64
export const inboxSize = 1_000
export const limit = 20

export const list: Scenario = {
  name: 'list',
  question: 'first 20 of 1,000 notifications, 1,000 proofs of 100 users, compared with a bare node:http server',
  async run(bench) {
    const { dir, rounds, seconds, progress } = bench
    progress('making 100 inboxes of 1,000 notifications and 2,000 proofs')
    const { readers } = await prepareReaders(dir, { users: 100, proofs: 10 })
    await fillInboxes(dir, { userIds: readers.map(({ userId }) => userId), count: inboxSize, readThrough: 900 })
    const loader = bench.using(new Loader())
    const service = bench.using(await startService({ dir }))
    const known = {
      cookies: requestsOf(readers, 'cookies', firstPage),
      tokens: requestsOf(readers, 'tokens', firstPage),
    }
    const floor = await startFloor(bench, service, known.tokens.slice(0, readers.length))

    const loadOn = (server: Server, requests: readonly string[]) =>
      loader.measure(server.process, {
        port: server.port,
        connections,
        requests,
        status: 200,
        staysAwake: true,
        seconds,
        warmUpSeconds: seconds / 4,
      })
    const loadOnFresh = async (kind: 'cookies' | 'tokens') => {
      const fresh = await startService({ dir })
      const load = { port: fresh.port, connections, status: 200, staysAwake: true }
      await loader.measure(fresh.process, { ...load, requests: warmUps[kind], seconds, warmUpSeconds: 0 })
      const loaded = await loader.measure(fresh.process, {
        ...load,
        requests: unrendered[kind],
        isOnce: true,
        seconds,
        warmUpSeconds: 0,
      })
      await fresh.stop()
      return loaded
    }
    // More requests than a server completes in that time.
    const count = seconds * 50_000
    const places = (size: number) => ({
      cookies: placesOf(readers, 'cookies', size).slice(0, count),
      tokens: placesOf(readers, 'tokens', size).slice(0, count),
    })
    const [unrendered, warmUps] = [places(limit), places(limit + 1)]
    const all = await inTurns({
      rounds,
      progress,
      isDisturbed,
      contenders: {
        'known by cookie': () => loadOn(service, known.cookies),
        floor: () => loadOn(floor, known.tokens),
        'known by token': () => loadOn(service, known.tokens),
        'not rendered by cookie': () => loadOnFresh('cookies'),
        'not rendered by token': () => loadOnFresh('tokens'),
      },
    })
    const row = (what: string, name: keyof typeof all, target: number) =>
      floorRow({ what, of: all[name], floor: all.floor, target })
    return {
      rows: [
        row('list, inbox unchanged, cookie', 'known by cookie', 0.6),
        row('list, inbox unchanged, token', 'known by token', 0.6),
        row('list, page not rendered before, cookie', 'not rendered by cookie', 0.3),
        row('list, page not rendered before, token', 'not rendered by token', 0.3),
      ],
      notes: [
        `${connections} connections; 20 of 1,000 notifications, some 7 KB; 1,000 proofs of 100 users, one after another.`,
        'Page not rendered before: 20 notifications from every place of every inbox (`before=`), each requested once from a ' +
          'service that has just started, so nothing is cached. The ambitious target is 0.40.',
        saturation(all),
      ],
    }
  },
}

export function firstPage(proof: ProofLine): string {
  return requestText('GET', '/api/notifications?page=1&limit=20', { proof })
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
