// The cost of a change signal per commit, and its delay to another node. Two nodes without HTTP on one PostgreSQL: A delivers,
// B listens.
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rate } from '../floors/compare.ts'
import type { ChangeSignalRequest, Delivered, Moments } from '../load/change-signal-loop.ts'
import { BenchProcess } from '../processes/processes.ts'
import { inTurns, median, ratios, spread } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asCount, asMs, asRatio, type Row } from '../report/table.ts'
import { prepareReadersAt } from '../setup/inboxes.ts'
import { type Database, settingsNote, startDatabase } from '../setup/postgres.ts'

const changeSignalLoop = fileURLToPath(new URL('../load/change-signal-loop.ts', import.meta.url))
const users = 1_000
const atOnce = 16
const minCommits = 500
const minShare = 0.9
const maxMs = 150
/** A change signal that is later than this is lost. */
const givenUpMs = 60_000

type Node = { request<HttpResponse = void>(question: ChangeSignalRequest): Promise<HttpResponse> }

export const postgresChangeSignals: Scenario = {
  name: 'postgres-change-signals',
  question: 'deliveries in PostgreSQL with and without change signals, and their delay to another node',
  async run(bench) {
    const { rounds, seconds, progress } = bench
    const database = await startDatabase(bench, 'anywhere')
    const { readers } = await prepareReadersAt(database.url, { users, proofs: 0 })
    const usernames = readers.map(({ username }) => username)
    const [a, silent, b] = [
      await startNode(bench, database, 'on'),
      await startNode(bench, database, 'off'),
      await startNode(bench, database, 'on'),
    ]
    await b.request({ step: 'listen' })
    const steady = { atOnce, everyMs: (atOnce / (minCommits * 1.1)) * 1_000 }
    const deliver = async (node: Node, pace: { atOnce: number; everyMs?: number }) => {
      await b.request<Moments>({ step: 'received' })
      const delivered = await node.request<Delivered>({ step: 'deliver', usernames, seconds, ...pace })
      // Longer than a change signal takes on an idle machine.
      await pause(500)
      const sample = { ...delivered, received: await b.request<Moments>({ step: 'received' }) }
      // At a steady rate every commit leads to a change signal, however busy the machine is.
      const giveUpAt = performance.now() + givenUpMs
      while (pace.everyMs !== undefined && delays(sample).includes(Infinity) && performance.now() < giveUpAt) {
        await pause(100)
        for (const [userId, moments] of await b.request<Moments>({ step: 'received' }))
          sample.received.set(userId, [...(sample.received.get(userId) ?? []), ...moments])
      }
      return sample
    }
    await deliver(a, { atOnce })
    await deliver(silent, { atOnce })
    const taken = await inTurns({
      rounds,
      progress,
      contenders: {
        off: () => deliver(silent, { atOnce }),
        on: () => deliver(a, { atOnce }),
        'at a steady rate': () => deliver(a, steady),
        'a few': () => deliver(a, { atOnce: 1, everyMs: 50 }),
      },
    })
    return {
      rows: [
        costRow(taken),
        delayRow(
          `from a commit at A to its change signal at B, ${asCount(median(taken['at a steady rate'].map(rate)))} commits/s`,
          taken['at a steady rate'],
        ),
        delayRow(
          `from a commit at A to its change signal at B, ${asCount(median(taken['a few'].map(rate)))} commits/s`,
          taken['a few'],
        ),
      ],
      notes: [
        `PostgreSQL ${database.version}. ${settingsNote}`,
        `By the store, without HTTP, on all cores. Each delivery goes to one of ${asCount(users)} users, ${atOnce} at once unless ` +
          'a rate is given. Another node listens all the time. Off: the same program sends no change signal.',
        `The delay starts when the call returns at A, after the commit. Sync: ${database.sync}.`,
      ],
    }
  },
}

async function startNode(bench: Bench, { url }: Database, changeSignals: 'on' | 'off'): Promise<Node> {
  const node = bench.using(new BenchProcess({ args: [changeSignalLoop], role: 'anywhere' }))
  await node.request({ step: 'open', url, changeSignals } satisfies ChangeSignalRequest)
  return node
}

type Sample = Delivered & { received: Moments }

function costRow({ on, off }: Record<'on' | 'off', Sample[]>): Row {
  const ratio = ratios(on.map(rate), off.map(rate))
  const perSecond = median(on.map(rate))
  return {
    what: 'deliveries in PostgreSQL, change signals on',
    measured: `${asCount(perSecond)} commits/s`,
    floor: `change signals off: ${asCount(median(off.map(rate)))} commits/s`,
    ratio: asRatio(ratio),
    target: `> ${minShare.toFixed(2)} at >= ${minCommits} commits/s`,
    met: ratio.median > minShare && perSecond >= minCommits,
  }
}

function delayRow(what: string, samples: readonly Sample[]): Row {
  const each = samples.map((sample) => delays(sample).sort((one, other) => one - other))
  const of = (share: number) => spread(each.map((sorted) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN))
  const [p50, p95] = [of(0.5), of(0.95)]
  return {
    what,
    measured: `p95 ${asMs(p95.median)} (${asMs(p95.min)}-${asMs(p95.max)}), p50 ${asMs(p50.median)}`,
    floor: '',
    ratio: '',
    target: `p95 < ${maxMs} ms`,
    met: p95.median < maxMs,
  }
}

/** Milliseconds from each commit to the next change signal of its user; Infinity if none arrived. */
function delays({ committed, received }: Sample): number[] {
  return [...committed].flatMap(([userId, moments]) =>
    moments.map((at) => (received.get(userId)?.find((moment) => moment > at) ?? Number.POSITIVE_INFINITY) - at),
  )
}
