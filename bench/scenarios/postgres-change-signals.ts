// What does it cost that every commit is told to all nodes, and how soon does another node hear of it? Two nodes without
// HTTP on one PostgreSQL: A delivers, B listens.
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rate } from '../floors/compare.ts'
import type { ChangeSignalQuestion, Delivered, Moments } from '../load/change-signal-loop.ts'
import { Asked } from '../processes/processes.ts'
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
/** A ring that has not come by then never will. */
const givenUpMs = 60_000

type Node = { ask<Answer = void>(question: ChangeSignalQuestion): Promise<Answer> }

export const postgresChangeSignals: Scenario = {
  name: 'postgres-rings',
  question: 'deliveries with rings on and off in PostgreSQL, and how soon another node hears of a commit',
  async run(bench) {
    const { rounds, seconds, tell } = bench
    const database = await startDatabase(bench, 'anywhere')
    const { readers } = await prepareReadersAt(database.url, { users, proofs: 0 })
    const usernames = readers.map(({ username }) => username)
    const [a, silent, b] = [
      await startNode(bench, database, 'on'),
      await startNode(bench, database, 'off'),
      await startNode(bench, database, 'on'),
    ]
    await b.ask({ step: 'listen' })
    const steady = { atOnce, everyMs: (atOnce / (minCommits * 1.1)) * 1_000 }
    const deliver = async (node: Node, pace: { atOnce: number; everyMs?: number }) => {
      await b.ask<Moments>({ step: 'heard' })
      const delivered = await node.ask<Delivered>({ step: 'deliver', usernames, seconds, ...pace })
      // Longer than a ring may take on an idle machine.
      await pause(500)
      const sample = { ...delivered, heard: await b.ask<Moments>({ step: 'heard' }) }
      // At a pace, every commit is heard of, however busy the machine is.
      const giveUpAt = performance.now() + givenUpMs
      while (pace.everyMs !== undefined && delays(sample).includes(Infinity) && performance.now() < giveUpAt) {
        await pause(100)
        for (const [userId, moments] of await b.ask<Moments>({ step: 'heard' }))
          sample.heard.set(userId, [...(sample.heard.get(userId) ?? []), ...moments])
      }
      return sample
    }
    await deliver(a, { atOnce })
    await deliver(silent, { atOnce })
    const taken = await inTurns({
      rounds,
      tell,
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
        hearingRow(
          `at B of a commit at A, ${asCount(median(taken['at a steady rate'].map(rate)))} commits/s`,
          taken['at a steady rate'],
        ),
        hearingRow(`at B of a commit at A, ${asCount(median(taken['a few'].map(rate)))} commits/s`, taken['a few']),
      ],
      notes: [
        `PostgreSQL ${database.version}. ${settingsNote}`,
        `By the store, without HTTP, on all cores; deliveries to one of ${asCount(users)} users each, ${atOnce} at once where ` +
          'no pace is set. Another node listens all the time. ChangeSignals off: the same program, whose rings tell nobody.',
        `Until B hears: from the moment at which A has its answer, which comes after the commit. Sync: ${database.sync}.`,
      ],
    }
  },
}

async function startNode(bench: Bench, { url }: Database, rings: 'on' | 'off'): Promise<Node> {
  const node = bench.using(new Asked({ args: [changeSignalLoop], role: 'anywhere' }))
  await node.ask({ step: 'open', url, rings } satisfies ChangeSignalQuestion)
  return node
}

type Sample = Delivered & { heard: Moments }

function costRow({ on, off }: Record<'on' | 'off', Sample[]>): Row {
  const ratio = ratios(on.map(rate), off.map(rate))
  const perSecond = median(on.map(rate))
  return {
    what: 'deliveries in PostgreSQL, rings on',
    measured: `${asCount(perSecond)} commits/s`,
    floor: `rings off: ${asCount(median(off.map(rate)))} commits/s`,
    ratio: asRatio(ratio),
    target: `> ${minShare.toFixed(2)} at >= ${minCommits} commits/s`,
    met: ratio.median > minShare && perSecond >= minCommits,
  }
}

function hearingRow(what: string, samples: readonly Sample[]): Row {
  const each = samples.map((sample) => delays(sample).sort((one, other) => one - other))
  const of = (share: number) => spread(each.map((sorted) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN))
  const [p50, p95] = [of(0.5), of(0.95)]
  return {
    what,
    measured: `p95 ${asMs(p95.median)} (${asMs(p95.least)}-${asMs(p95.most)}), p50 ${asMs(p50.median)}`,
    floor: '',
    ratio: '',
    target: `p95 < ${maxMs} ms`,
    met: p95.median < maxMs,
  }
}

/** From each commit to the first ring about its user that was heard after it; one that never came is endless. */
function delays({ committed, heard }: Sample): number[] {
  return [...committed].flatMap(([userId, moments]) =>
    moments.map((at) => (heard.get(userId)?.find((moment) => moment > at) ?? Number.POSITIVE_INFINITY) - at),
  )
}
