// Compares a route of Carillon with its floor: a bare node:http server that sends the same bytes. Starts the floor with
// responses that Carillon sent, and makes the rows of the table.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import type { Loaded } from '../load/loader.ts'
import { type HttpResponse, type ProofLine, request } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import { median, ratios } from '../report/rounds.ts'
import type { Bench } from '../report/scenario.ts'
import { asCount, asMs, asRatio, asUs, type Row } from '../report/table.ts'
import type { Reader } from '../setup/inboxes.ts'
import type { Service } from '../setup/service.ts'

export type Server = { port: number; process: BenchProcess }

/**
 * A server that sends the responses of `service` to `texts`, one after another, equal in every byte except the date. If all texts are
 * one, it sends a fixed response.
 */
export async function startFloor(
  bench: Bench,
  { service, texts, status: wanted = 200 }: { service: Service; texts: readonly string[]; status?: number },
): Promise<Server> {
  const responses = await Promise.all(texts.map((text) => request(service.port, text)))
  for (const { status, body } of responses) assert.equal(status, wanted, body)
  const process = bench.using(
    new BenchProcess({ args: [fileURLToPath(new URL('./floor.ts', import.meta.url))], role: 'server' }),
  )
  const { port } = await process.request<{ port: number }>({ responses })
  assertSameResponse(await request(port, texts[0] as string), responses[0] as HttpResponse)
  return { port, process }
}

/** Compares every byte except the `Date` field. */
export function assertSameResponse(response: HttpResponse, wanted: HttpResponse): void {
  assert.deepEqual(dateless(response), dateless(wanted))
}

function dateless(response: HttpResponse): HttpResponse {
  return { ...response, headers: response.headers.map(([name, value]) => [name, name === 'Date' ? '' : value]) }
}

/** One request text per proof of each reader. Neighbours in the list belong to different readers. */
export function requestsOf(
  readers: readonly Reader[],
  kind: 'cookies' | 'tokens',
  text: (proof: ProofLine) => string,
): string[] {
  const each = readers[0]?.[kind].length ?? 0
  return Array.from({ length: each }, (_, i) => readers.map((reader) => text(reader[kind][i] as ProofLine))).flat()
}

/** Compares the rates. The processor time of a request, which two machines can compare, is beside the ratio. */
export function floorRow({
  what,
  of,
  floor,
  target,
}: {
  what: string
  of: Loaded[]
  floor: Loaded[]
  target?: number
}): Row {
  const ratio = ratios(of.map(rate), floor.map(rate))
  return {
    what,
    measured: asLoad(of),
    floor: asLoad(floor),
    ratio: `${asRatio(ratio)}; CPU ${ratios(of.map(cpuUs), floor.map(cpuUs)).median.toFixed(2)}x`,
    target: target === undefined ? '' : `>= ${target.toFixed(2)}`,
    met: target === undefined ? undefined : ratio.median >= target,
    figures: of.map(rate),
  }
}

export function rate({ perSecond }: { perSecond: number }): number {
  return perSecond
}

/** The server's processor time for a request, all threads, in microseconds. */
export function cpuUs({ serverShare, perSecond }: Pick<Loaded, 'serverShare' | 'perSecond'>): number {
  return (serverShare / perSecond) * 1e6
}

export function asLoad(samples: readonly Loaded[]): string {
  const of = (pick: (sample: Loaded) => number) => median(samples.map(pick))
  const core = of(({ serverShare }) => serverShare).toFixed(2)
  return `${asCount(of(rate))}/s, p99 ${asMs(of(({ p99Ms }) => p99Ms))}, core ${core}, CPU ${asUs(of(cpuUs))} each`
}

/** Share of one core. If other programs use more, the sample is taken again. */
const maxOtherProgramsShare = 0.15

export function isDisturbed({ otherProgramsShare }: { otherProgramsShare: number }): boolean {
  return otherProgramsShare > maxOtherProgramsShare
}

/** How busy the server was. If its core was not fully used, the sample measures the load generator instead. */
export function saturation(all: Record<string, readonly Loaded[]>): string {
  const samples = Object.values(all).flat()
  const server = Math.min(...samples.map(({ serverShare }) => serverShare)).toFixed(2)
  const others = Math.max(0, ...samples.map(({ otherProgramsShare }) => otherProgramsShare)).toFixed(2)
  return (
    `Shares of one core: the server used at least ${server}, other programs at most ${others}. The load does not sleep on its ` +
    'core, since waking it would cost the server processor time.'
  )
}
