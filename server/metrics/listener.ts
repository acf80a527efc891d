// A separate listener, so that no proxy publishes the metrics by mistake.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { oneAtATime } from '../basics/event-loop.ts'
import { equalSecrets } from '../basics/secrets.ts'
import { listenFailure } from '../http/listen-failure.ts'
import { knownHosts } from '../http/requests.ts'
import { Drift } from './drift.ts'
import { type Family, familiesOf, type Sources } from './families.ts'

/** In milliseconds. */
const timeouts = {
  headersTimeout: 2_000,
  requestTimeout: 4_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
const idleSocketMs = 20_000
const maxConnections = 16
const maxHeaderSize = 8 * 1024

type MetricsPlace = { host: string; port: number; token?: string | undefined }

const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Throws UNAVAILABLE if the address is taken or not this machine's. */
type Wanted = Omit<Sources, 'drift'> & ConstructorParameters<typeof Drift>[0]

export async function openMetrics(
  place: MetricsPlace,
  wanted: Wanted,
): Promise<{ url: string; close(): Promise<void> }> {
  const drift = new Drift(wanted)
  const scrape = await scraper(familiesOf({ ...wanted, drift }))
  const refusal = refusalsAt(place)
  const server = createServer({ ...timeouts, maxHeaderSize }, (request, response) => {
    const refused = refusal(request)
    if (refused !== undefined) return send(response, refused)
    scrape().then(
      ({ text, type }) => send(response, { status: 200, text, type }),
      (error: Error) =>
        send(response, { status: 500, text: `The metrics could not be read: ${error.message}` }),
    )
  })
  server.maxConnections = maxConnections
  server.timeout = idleSocketMs
  await listen(server, place)
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`,
    async close() {
      drift.end()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function scraper(families: readonly Family[]) {
  const { Registry, collectDefaultMetrics } = (await import('prom-client')).default
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name, help, type, samples } of families) {
    // What cannot be read must not hide other numbers.
    const readable = async () => samples()
    const get = async () => ({
      name,
      help,
      type,
      values: await readable().catch(() => []),
      aggregator: 'sum',
    })
    registry.registerMetric({ name, help, get } as never)
  }
  return oneAtATime(async () => ({ text: await registry.metrics(), type: registry.contentType }))
}

type Answer = { status: number; text: string; type?: string }

function refusalsAt({
  host,
  token,
}: MetricsPlace): (request: IncomingMessage) => Answer | undefined {
  const isKnownHost = knownHosts([host])
  return ({ method, url, headers }) => {
    if (token !== undefined && !equalSecrets(headers.authorization ?? '', `Bearer ${token}`))
      return {
        status: 401,
        text: 'Send the content of CARILLON_METRICS_TOKEN_FILE as "Authorization: Bearer ..."',
      }
    // Against DNS rebinding: no browser's page knows the token.
    if (token === undefined && headers.host !== undefined && !isKnownHost(headers.host))
      return {
        status: 421,
        text: 'This host is not a name of the metrics. Use the address, or CARILLON_METRICS_HOST',
      }
    if (url !== '/metrics') return { status: 404, text: 'The metrics are at /metrics' }
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'The metrics take GET' }
    return undefined
  }
}

function send(
  response: ServerResponse,
  { status, text, type = 'text/plain; charset=utf-8' }: Answer,
): void {
  const headers = { ...securityHeaders, 'content-type': type }
  if (status === 200) response.writeHead(200, headers).end(text)
  else
    response
      .writeHead(status, { ...headers, connection: 'close', ...extraHeaders[status] })
      .end(`${text}\n`)
}

const extraHeaders: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer' },
  405: { allow: 'GET, HEAD' },
}

function listen(server: Server, { host, port }: MetricsPlace): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (cause) =>
    reject(listenFailure(cause, { host, port, settings: 'CARILLON_METRICS_' })),
  )
  server.listen({ host, port }, resolve)
  return promise
}
