import assert from 'node:assert/strict'
import { openStream, type StreamOptions, type Timing } from '../stream/subscription.ts'
import { type Auth, type Connection, Requests } from '../transport/requests.ts'
import type { StreamEvent } from '../transport/types.ts'
import { until } from './clients.ts'
import type { StreamServer } from './stream-server.ts'

/** A slow machine reaches none of these limits. */
const timing: Timing = {
  heartbeatMs: 600_000,
  connectMs: 600_000,
  retryMs: 20,
  maxRetryMs: 100,
  random: () => 0.5,
}

export type Options = StreamOptions & {
  auth?: Auth
  fetch?: Connection['fetch']
  timing?: Partial<Timing>
}

export function subscribe(
  { url }: { url: string },
  { auth = 'cookie', fetch, timing: more, ...options }: Options = {},
) {
  return openStream(new Requests({ baseUrl: url, fetch }, auth), options, { ...timing, ...more })
}

/** Returns all events as `type version`. */
export async function received(
  events: AsyncIterable<StreamEvent>,
  notifications: number,
  seen: string[] = [],
): Promise<string[]> {
  for await (const { type, version } of events) {
    seen.push(`${type} ${version}`)
    if (seen.filter((one) => one.startsWith('created')).length === notifications) break
  }
  return seen
}

export async function failureOf(events: AsyncIterable<StreamEvent>): Promise<unknown> {
  try {
    for await (const _ of events);
  } catch (error) {
    return error
  }
  return assert.fail('the loop ended without an error')
}

/** Returns the milliseconds between the first and the last connection. */
export async function connecting(
  server: StreamServer,
  times: number,
  options: Options,
): Promise<number> {
  const controller = new AbortController()
  const failing = failureOf(subscribe(server, { signal: controller.signal, ...options }))
  await until(() => server.streams.length >= times)
  controller.abort()
  await failing
  const first = server.streams[0]
  const last = server.streams[times - 1]
  return (last?.at ?? 0) - (first?.at ?? 0)
}
