// A reverse proxy that passes everything on unchanged, or changes one thing.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export type Passing = {
  method: string
  path: string
  headers: Record<string, string | string[] | undefined>
}
export type Returning = {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}
export type Spoil = {
  onTheWay?: (passing: Passing) => unknown
  onTheWayBack?: (returning: Returning, passing: Passing) => unknown
  /** A buffering proxy holds a live stream back until it ends. */
  buffers?: boolean
  tls?: boolean
  port?: number
}
export type RunningProxy = { url: string; stop(): Promise<void> }

export async function startProxy(
  target: string,
  { tls = false, port = 0, ...spoil }: Spoil = {},
): Promise<RunningProxy> {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    passOn(target, spoil, { incoming, outgoing })
  const server = tls ? createTlsServer(certificate, pass) : createServer(pass)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.address() as AddressInfo
  return {
    url: tls ? `https://localhost:${taken}` : `http://127.0.0.1:${taken}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function passOn(
  target: string,
  { onTheWay, onTheWayBack, buffers = false }: Spoil,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
): Promise<void> {
  const passing: Passing = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: { ...incoming.headers },
  }
  onTheWay?.(passing)
  const body = Buffer.concat(await incoming.toArray())
  const { hostname, port } = new URL(target)
  const { method, path, headers } = passing
  const inner = request(
    { hostname, port, method, path, headers: present(headers) },
    async (response) => {
      if (!buffers && response.headers['content-type']?.startsWith('text/event-stream')) {
        outgoing.on('close', () => response.destroy())
        outgoing.writeHead(response.statusCode ?? 0, response.headers)
        response.on('error', () => outgoing.destroy()).pipe(outgoing)
        return
      }
      const chunks = await response.toArray().catch(() => null)
      // The client closed the connection.
      if (chunks === null) return
      const returning: Returning = {
        status: response.statusCode ?? 0,
        headers: { ...response.headers },
        body: Buffer.concat(chunks),
      }
      onTheWayBack?.(returning, passing)
      outgoing.sendDate = false
      outgoing.writeHead(returning.status, present(returning.headers)).end(returning.body)
    },
  )
  outgoing.on('close', () => inner.destroy())
  inner.on('error', () =>
    outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
  )
  inner.end(body)
}

function present(headers: Passing['headers']): Record<string, string | string[]> {
  const there = Object.entries(headers).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there) as Record<string, string | string[]>
}

/**
 * Only these tests use it; the key is public and protects nothing. Valid from 2020 to 2120, for
 * `localhost`.
 */
export const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/kyWEs32Dw8gk2+r
fJA45bPO68yj5/r7vbINasHgdyehRANCAATlik6lo2NvhWU119m3ymrNkD46+hRZ
fzuJbXFGBXmu9gv26lMdgmbe7vGHDjOFFi8IeaLa/MqgjCYnGehdda8t
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBdDCCARqgAwIBAgIUNAeKQODXvhBlSYVKuUsmfb3VmZcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATlik6lo2NvhWU119m3ymrNkD46+hRZfzuJbXFGBXmu9gv26lMdgmbe
7vGHDjOFFi8IeaLa/MqgjCYnGehdda8to0gwRjAUBgNVHREEDTALgglsb2NhbGhv
c3QwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUw2N9ydYbPeZIyzFTFMS91Gly
LrQwCgYIKoZIzj0EAwIDSAAwRQIhAKdT8tsvorlAZxP9l0/8XcoS+M0u0rdB4NFw
TIZSu6YUAiBuyOZQr7E2pnzS0VniQ/rTtV8BWx+Z0MxZ0qHj4AI2Sw==
-----END CERTIFICATE-----`,
}
