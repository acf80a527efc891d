// Lists per second from PostgreSQL: the first page of an unchanged inbox costs one round trip, so its floor is a bare server
// that makes one; and pages that were not rendered before.
import { type Server, startFloor } from '../floors/start-floor.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { inTurns } from '../report/rounds.ts'
import { rateRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { fillInboxes, prepare, requestsOf } from '../setup/inboxes.ts'
import { startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'
import { connections, firstPage, inboxSize, loadOnFresh, placesOf } from './list.ts'

const minShare = 0.8

export const postgresList: Scenario = {
  name: 'postgres-list',
  question: 'the list from PostgreSQL, compared with a bare node:http server that makes a round trip, too',
  async run(bench) {
    const { seconds, progress } = bench
    const database = await startDatabase(bench, 'load')
    progress(`making 100 inboxes of ${inboxSize} notifications and 2,000 proofs`)
    const place = { ...bench, database: database.url }
    const service = bench.using(await startService(place))
    const prepared = await prepare(service, { users: 100, proofs: 10 })
    const { readers } = prepared
    await fillInboxes(service, prepared, inboxSize)
    const loader = bench.using(new Loader('load', database.processorUs))
    const [cookies, tokens] = [requestsOf(readers, 'cookies', firstPage), requestsOf(readers, 'tokens', firstPage)]
    const texts = tokens.slice(0, readers.length)
    const floor = await startFloor(bench, { port: service.port, texts, database: database.url })
    // The load sleeps while it waits, since PostgreSQL shares its core.
    const on = (server: Server, requests: readonly string[]) => (): Promise<Loaded> => {
      const load = { port: server.port, connections, status: 200, requests, seconds, warmUpSeconds: seconds / 4 }
      return loader.measure(server.process, load)
    }
    const all = await inTurns(bench, {
      cookie: on(service, cookies),
      floor: on(floor, tokens),
      token: on(service, tokens),
      fresh: () => loadOnFresh(bench, { loader, place, requests: placesOf(readers, 'tokens'), staysAwake: false }),
    })
    return [
      rateRow({
        what: 'list from PostgreSQL, inbox unchanged, cookie',
        of: all.cookie,
        floor: all.floor,
        min: minShare,
      }),
      rateRow({ what: 'list from PostgreSQL, inbox unchanged, token', of: all.token, floor: all.floor, min: minShare }),
      rateRow({ what: 'list from PostgreSQL, page not rendered before, token', of: all.fresh }),
    ]
  },
}
