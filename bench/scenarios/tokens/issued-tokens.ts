// The cost of issuing a token for a user of an application, compared with a renewal, which also reads the user and signs a token.
import { isDisturbed, requestsOf } from '../../floors/compare.ts'
import { type Loaded, Loader } from '../../load/loader.ts'
import { type ProofLine, requestText } from '../../load/requests.ts'
import { inTurns, median, ratios } from '../../report/rounds.ts'
import type { Bench, Scenario } from '../../report/scenario.ts'
import { asMs, asRatio, type Row } from '../../report/table.ts'
import { type Prepared, prepareReaders, prepareReadersAt } from '../../setup/inboxes.ts'
import { settingsNote, startDatabase, startServiceOn } from '../../setup/postgres.ts'
import { type Service, startService } from '../../setup/service.ts'

/** As an application's server sends them, one for each page that it makes. */
const connections = 1
const maxRatio = 1.2
const preparation = { users: 100, proofs: 1 }

export const issuedTokens: Scenario = {
  name: 'issued-tokens',
  question: 'the cost of a token that an application issues for its user, compared with a renewal',
  async run(bench) {
    const onSqlite = await prepareReaders(bench.dir, preparation)
    const sqlite = await measure(bench, {
      prepared: onSqlite,
      service: bench.using(await startService({ dir: bench.dir, role: 'anywhere' })),
      loader: bench.using(new Loader('anywhere')),
    })
    const database = await startDatabase(bench, 'anywhere')
    const postgres = await measure(bench, {
      prepared: await prepareReadersAt(database.url, preparation),
      service: bench.using(await startServiceOn(database, { dir: bench.dir, role: 'anywhere' })),
      loader: bench.using(new Loader('anywhere', database.processorUs)),
    })
    return {
      rows: [rowOf('SQLite', sqlite), rowOf('PostgreSQL', postgres)],
      notes: [`${connections} connection; tokens of 100 users in turn, on all cores.`, settingsNote],
    }
  },
}

type On = { prepared: Prepared; service: Service; loader: Loader }
type Contenders = Record<'renewed' | 'issued', Loaded[]>

function measure({ rounds, seconds, progress }: Bench, { prepared, service, loader }: On): Promise<Contenders> {
  const { readers, producer } = prepared
  const load = (requests: readonly string[], status: number) => () =>
    loader.measure(service.process, {
      port: service.port,
      connections,
      requests,
      status,
      seconds,
      warmUpSeconds: seconds / 4,
    })
  return inTurns({
    rounds,
    progress,
    isDisturbed,
    contenders: {
      renewed: load(requestsOf(readers, 'tokens', renewal), 200),
      issued: load(
        readers.map(({ userId }) => issue(producer, userId)),
        201,
      ),
    },
  })
}

function renewal(proof: ProofLine): string {
  return requestText('POST', '/token/renew', { proof })
}

function issue(proof: ProofLine, userId: string): string {
  return requestText('POST', `/api/users/${userId}/tokens`, { proof, body: JSON.stringify({ scope: 'inbox' }) })
}

function rowOf(engine: string, { renewed, issued }: Contenders): Row {
  const ratio = ratios(issued.map(p50), renewed.map(p50))
  return {
    what: `p50 of issuing a token, ${engine}`,
    measured: asMs(median(issued.map(p50))),
    floor: `a renewal: ${asMs(median(renewed.map(p50)))}`,
    ratio: asRatio(ratio),
    target: `<= ${maxRatio}`,
    met: ratio.median <= maxRatio,
  }
}

function p50({ p50Ms }: Loaded): number {
  return p50Ms
}
