// Counts requests by route, for metrics. Those without a route share a row, so that no client adds
// names.
import type { ServerResponse } from 'node:http'
import { Durations } from '../../basics/counts.ts'
import type { Route } from '../operation.ts'

export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

export class RequestCount {
  readonly route: string
  readonly method: string
  readonly byStatus: number[] = statusClasses.map(() => 0)
  /** A client decides how long streams and held polls stay open. */
  readonly durations: Durations | undefined

  constructor({
    path,
    method,
    takesPlace,
  }: { path: string; method: string; takesPlace?: boolean | undefined }) {
    this.route = path
    this.method = method
    this.durations = takesPlace ? undefined : new Durations()
  }

  add(status: number, ms: number): void {
    const index = Math.min(Math.max(Math.floor(status / 100), 1), statusClasses.length) - 1
    this.byStatus[index] = (this.byStatus[index] ?? 0) + 1
    this.durations?.add(ms)
  }
}

export class RequestCounts {
  readonly unrouted = new RequestCount({ path: 'none', method: 'any' })
  readonly #ofRoutes: RequestCount[] = []

  of({
    path,
    method,
    operation: { takesPlace },
  }: Pick<Route, 'path' | 'method' | 'operation'>): RequestCount {
    const count = new RequestCount({ path, method, takesPlace })
    this.#ofRoutes.push(count)
    return count
  }

  durationsOf(method: string, route: string): Durations | undefined {
    return this.#ofRoutes.find((one) => one.method === method && one.route === route)?.durations
  }

  all(): readonly RequestCount[] {
    return [...this.#ofRoutes, this.unrouted]
  }
}

export type Counted = ServerResponse & { count?: RequestCount | undefined; beganAt?: number }

export function beginCount(response: Counted, { unrouted }: RequestCounts): void {
  response.count = unrouted
  response.beganAt = performance.now()
}

/** A Fastify hook after each response would take 3 % of a list. */
export function endCount(response: Counted): void {
  const { count, beganAt = 0, statusCode } = response
  if (count === undefined) return
  response.count = undefined
  count.add(statusCode, performance.now() - beganAt)
}
