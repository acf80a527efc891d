// Which share of a bare node:http server's requests per second does a route of Carillon reach? Starts the floor with an
// answer that Carillon gave, and makes the rows that compare the two.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import type { Loaded } from '../load/loader.ts'
import { type Answer, ask, type ProofLine } from '../load/requests.ts'
import { Asked } from '../processes/processes.ts'
import { median, ratios } from '../report/rounds.ts'
import type { Bench } from '../report/scenario.ts'
import { asCount, asMs, asRatio, type Row } from '../report/table.ts'
import type { Reader } from '../setup/inboxes.ts'
import type { Service } from '../setup/service.ts'

export type Server = { port: number; process: Asked }

/** A floor that answers what `service` answers to each of `texts`, in turn, to the byte but for the date. */
export async function startFloor(bench: Bench, service: Service, texts: readonly string[]): Promise<Server> {
  const answers = await Promise.all(texts.map((text) => ask(service.port, text)))
  for (const { status, body } of answers) assert.equal(status, 200, body)
  const process = bench.using(
    new Asked({ args: [fileURLToPath(new URL('./floor.ts', import.meta.url))], role: 'server' }),
  )
  const { port } = await process.ask<{ port: number }>({ answers })
  assertSameAnswer(await ask(port, texts[0] as string), answers[0] as Answer)
  return { port, process }
}

/** To the byte but for the date. */
export function assertSameAnswer(answer: Answer, wanted: Answer): void {
  assert.deepEqual(dateless(answer), dateless(wanted))
}

function dateless(answer: Answer): Answer {
  return { ...answer, headers: answer.headers.map(([name, value]) => [name, name === 'Date' ? '' : value]) }
}

/** One text for each proof of each reader; those that follow each other are of different readers. */
export function requestsOf(
  readers: readonly Reader[],
  kind: 'cookies' | 'tokens',
  text: (proof: ProofLine) => string,
): string[] {
  const each = readers[0]?.[kind].length ?? 0
  return Array.from({ length: each }, (_, i) => readers.map((reader) => text(reader[kind][i] as ProofLine))).flat()
}

export function floorRow({
  what,
  of,
  floor,
  target,
}: {
  what: string
  of: Loaded[]
  floor: Loaded[]
  target: number
}): Row {
  const ratio = ratios(of.map(rate), floor.map(rate))
  return {
    what,
    measured: asLoad(of),
    floor: asLoad(floor),
    ratio: asRatio(ratio),
    target: `>= ${target.toFixed(2)}`,
    met: ratio.median >= target,
  }
}

export function rate({ perSecond }: { perSecond: number }): number {
  return perSecond
}

export function asLoad(samples: readonly Loaded[]): string {
  const of = (pick: (sample: Loaded) => number) => median(samples.map(pick))
  return `${asCount(of(rate))}/s, p99 ${asMs(of(({ p99Ms }) => p99Ms))}, core ${of(({ serverShare }) => serverShare).toFixed(2)}`
}

/** More than this of a core used by what is no part of the bench, and the sample says too little of the server. */
const maxStrangersShare = 0.15

export function isDisturbed({ strangersShare }: { strangersShare: number }): boolean {
  return strangersShare > maxStrangersShare
}

/** How busy the server was: where it was not, its load was what was measured. */
export function saturation(all: Record<string, readonly Loaded[]>): string {
  const samples = Object.values(all).flat()
  const server = Math.min(...samples.map(({ serverShare }) => serverShare)).toFixed(2)
  const strangers = Math.max(0, ...samples.map(({ strangersShare }) => strangersShare)).toFixed(2)
  return (
    `Of one core each: the server used at least ${server}, what is no part of the bench at most ${strangers}; the load, on ` +
    'the other core, does not sleep, since waking it would be charged to the server.'
  )
}
