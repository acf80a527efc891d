// Requests per second of the restricted route, which only checks the proof, by session and by access token.
import { floorRow, isDisturbed, requestsOf, type Server, saturation, startFloor } from '../floors/compare.ts'
import { Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import type { Scenario } from '../report/scenario.ts'
import { prepareReaders } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const connections = 64

export const restricted: Scenario = {
  name: 'restricted',
  question: 'the restricted route, 1,000 proofs of 100 users, compared with a bare node:http server',
  async run(bench) {
    const { dir, rounds, seconds, progress } = bench
    const { readers } = await prepareReaders(dir, { users: 100, proofs: 10 })
    const loader = bench.using(new Loader())
    const service = bench.using(await startService({ dir }))
    const cookies = requestsOf(readers, 'cookies', restrictedRoute)
    const tokens = requestsOf(readers, 'tokens', restrictedRoute)
    const floor = await startFloor(bench, service, tokens.slice(0, readers.length))
    const load = (server: Server, requests: readonly string[]) => () =>
      loader.measure(server.process, {
        port: server.port,
        connections,
        requests,
        status: 200,
        staysAwake: true,
        seconds,
        warmUpSeconds: seconds / 4,
      })
    const all = await inTurns({
      rounds,
      progress,
      isDisturbed,
      contenders: { floor: load(floor, tokens), cookie: load(service, cookies), token: load(service, tokens) },
    })
    return {
      rows: [
        floorRow({ what: 'restricted route, cookie', of: all.cookie, floor: all.floor, target: 0.6 }),
        floorRow({ what: 'restricted route, token', of: all.token, floor: all.floor, target: 0.6 }),
      ],
      notes: [`${connections} connections; 1,000 proofs of 100 users in turn.`, saturation(all)],
    }
  },
}

function restrictedRoute(proof: ProofLine): string {
  return requestText('GET', '/routeRestreinte', { proof })
}
