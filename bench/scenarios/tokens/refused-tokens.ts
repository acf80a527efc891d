// The cost of a refused access token compared with a list for a valid one, and the effect of a flood of forged tokens on other
// clients.
import { randomBytes } from 'node:crypto'
import { rate, requestsOf } from '../../floors/compare.ts'
import { type Loaded, Loader } from '../../load/loader.ts'
import { type ProofLine, requestText } from '../../load/requests.ts'
import { inTurns, median, ratios, type Samples } from '../../report/rounds.ts'
import type { Scenario } from '../../report/scenario.ts'
import { asMs, asRatio, type Row } from '../../report/table.ts'
import { expiredTokens, fillInboxes, prepareReaders } from '../../setup/inboxes.ts'
import { startService } from '../../setup/service.ts'

/** Connections of the flood. Each sends its next token after the previous one was refused. */
const connections = 16
/** More than the service can check per second, so that each is sent once. */
const forgedPerSecond = 4_000
const maxRatio = 2

export const refusedTokens: Scenario = {
  name: 'refused-tokens',
  question: 'the cost of a refused access token, and the effect of a flood of forged ones on other clients',
  async run(bench) {
    const { dir, rounds, seconds, progress } = bench
    const { readers } = await prepareReaders(dir, { users: 100, proofs: 10 })
    await fillInboxes(dir, { userIds: readers.map(({ userId }) => userId), count: 1_000 })
    const expired = (await expiredTokens(dir, readers, 1_000)).map(listed)
    const service = bench.using(await startService({ dir, role: 'anywhere' }))
    const [attacker, lister] = [bench.using(new Loader('anywhere')), bench.using(new Loader('anywhere'))]
    const lists = requestsOf(readers, 'tokens', listed)
    const on = { port: service.port, seconds, warmUpSeconds: 0.7 }
    const listQuietly = () =>
      lister.measure(service.process, { ...on, status: 200, connections: 8, everyMs: 40, requests: lists })
    const flood = () => {
      const forged = forgeries(readers[0]?.tokens[0] ?? '', forgedPerSecond * (seconds + 1))
      return attacker.measure(service.process, { ...on, status: 401, connections, requests: forged.map(listed) })
    }
    const load = (status: number, requests: readonly string[]) => () =>
      lister.measure(service.process, { ...on, status, connections, requests })
    const taken = await inTurns<'served' | 'expired' | 'idle' | 'flooded', Loaded>({
      rounds,
      progress,
      contenders: {
        served: load(200, lists),
        expired: load(401, expired),
        idle: listQuietly,
        flooded: async () => (await Promise.all([listQuietly(), flood()]))[0],
      },
    })
    return {
      rows: rows(taken),
      notes: [
        `The flood: ${connections} connections, each token different: a valid one with a new token id and 64 random bytes as its signature.`,
        'Other clients: 8 connections that list a page every 40 ms, with tokens that were verified before. Expired: 1,000 tokens, one after another.',
      ],
    }
  },
}

function rows({ served, expired, idle, flooded }: Samples<'served' | 'expired' | 'idle' | 'flooded', Loaded>): Row[] {
  const cost = ratios(expired.map(costUs), served.map(costUs))
  const latency = (what: string, of: (sample: Loaded) => number, isTarget: boolean): Row => {
    const ratio = ratios(flooded.map(of), idle.map(of))
    return {
      what,
      measured: asMs(median(flooded.map(of))),
      floor: `no flood: ${asMs(median(idle.map(of)))}`,
      ratio: asRatio(ratio),
      target: isTarget ? `<= ${maxRatio}` : '',
      met: isTarget ? ratio.median <= maxRatio : undefined,
    }
  }
  return [
    {
      what: 'processor time of a refused token, expired',
      measured: `${median(expired.map(costUs)).toFixed(0)} us`,
      floor: `a list with a valid one: ${median(served.map(costUs)).toFixed(0)} us`,
      ratio: asRatio(cost),
      target: '<= 1',
      met: cost.median <= 1,
    },
    latency('p50 of others’ lists in a flood of forged tokens', ({ p50Ms }) => p50Ms, true),
    latency('p99 of others’ lists in a flood of forged tokens', ({ p99Ms }) => p99Ms, false),
  ]
}

/** Processor time of the server per request, in microseconds. */
function costUs(sample: Loaded): number {
  return (sample.serverShare * 1_000_000) / rate(sample)
}

/** Tokens that are valid except for their signature. */
function forgeries(proof: ProofLine, count: number): ProofLine[] {
  const [, header = '', payload = ''] = /Bearer ([^.]+)\.([^.]+)\./.exec(proof) ?? []
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return Array.from({ length: count }, () => {
    const forged = Buffer.from(JSON.stringify({ ...claims, jti: crypto.randomUUID() })).toString('base64url')
    return `Authorization: Bearer ${header}.${forged}.${randomBytes(64).toString('base64url')}`
  })
}

function listed(proof: ProofLine): string {
  return requestText('GET', '/api/notifications', { proof })
}
