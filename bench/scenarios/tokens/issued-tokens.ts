// The cost of issuing a token for a user of an application, compared with a renewal, which also reads the user and signs a token.
import { asLoad, isDisturbed, rate, requestsOf, saturation } from '../../floors/compare.ts'
import { type Loaded, Loader } from '../../load/loader.ts'
import { type ProofLine, requestText } from '../../load/requests.ts'
import { inTurns, median, ratios } from '../../report/rounds.ts'
import type { Bench, Scenario } from '../../report/scenario.ts'
import { asRatio, type Row } from '../../report/table.ts'
import { type Prepared, prepareReaders, prepareReadersAt } from '../../setup/inboxes.ts'
import { settingsNote, startDatabase, startServiceOn } from '../../setup/postgres.ts'
import { type Service, startService } from '../../setup/service.ts'

const connections = 16
const maxRatio = 1.2
const preparation = { users: 100, proofs: 1 }

export const issuedTokens: Scenario = {
  name: 'issued-tokens',
  question: 'the cost of a token that an application issues for its user, compared with a renewal',
  async run(bench) {
    const onSqlite = await prepareReaders(bench.dir, preparation)
    const sqlite = await measure(bench, {
      prepared: onSqlite,
      service: bench.using(await startService({ dir: bench.dir })),
      loader: bench.using(new Loader()),
    })
    const database = await startDatabase(bench, 'load')
    const postgres = await measure(bench, {
      prepared: await prepareReadersAt(database.url, preparation),
      service: bench.using(await startServiceOn(database, { dir: bench.dir })),
      loader: bench.using(new Loader('load', database.processorUs)),
    })
    return {
      rows: [rowOf('SQLite', sqlite), rowOf('PostgreSQL', postgres)],
      notes: [
        `${connections} connections; tokens of 100 users in turn. The figure is the processor time of the server per request.`,
        saturation({ ...sqlite, ...postgres }),
        settingsNote,
      ],
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
  const ratio = ratios(issued.map(costUs), renewed.map(costUs))
  return {
    what: `processor time of an issued token, ${engine}: ${median(issued.map(costUs)).toFixed(0)} us`,
    measured: asLoad(issued),
    floor: `a renewal, ${median(renewed.map(costUs)).toFixed(0)} us: ${asLoad(renewed)}`,
    ratio: asRatio(ratio),
    target: `<= ${maxRatio}`,
    met: ratio.median <= maxRatio,
  }
}

/** Processor time of the server per request, in microseconds. */
function costUs(sample: Loaded): number {
  return (sample.serverShare * 1_000_000) / rate(sample)
}
