// A reverse proxy lets only signed-in users through to an application below /wiki/, and passes
// every other path to Carillon. It asks `GET /verify` as Traefik and Caddy do.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'

type Place = { carillon: string; application: string; port: number }

export async function startForwardAuthProxy(place: Place): Promise<{ stop(): Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    const { url: path = '/' } = incoming
    if (!path.startsWith('/wiki/')) return pass(place.carillon, { incoming, outgoing })
    const { status, fields } = await verify(place, incoming)
    if (status === 200) return pass(place.application, { incoming, outgoing, ours: fields })
    const { location } = fields
    if (location !== undefined) outgoing.writeHead(302, { location }).end()
    else outgoing.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(place.port, '127.0.0.1', resolve))
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The application receives these in place of what the client sent. */
const ourFields = ['remote-user', 'remote-name', 'remote-user-id'] as const

function verify({ carillon }: Place, { headers, url = '/', method }: IncomingMessage) {
  const { host = '', cookie, accept } = headers
  // Proxies reach Carillon under an internal name.
  const sent = {
    host: 'carillon:7464',
    accept,
    cookie,
    'x-forwarded-proto': 'http',
    'x-forwarded-host': host,
    'x-forwarded-uri': url,
    'x-forwarded-method': method,
  }
  return new Promise<{ status: number; fields: IncomingHttpHeaders }>((resolve, reject) => {
    request(`${carillon}/verify`, { headers: present(sent) }, (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, fields: response.headers })
    })
      .on('error', reject)
      .end()
  })
}

type Passing = { incoming: IncomingMessage; outgoing: ServerResponse; ours?: IncomingHttpHeaders }

function pass(target: string, { incoming, outgoing, ours = {} }: Passing): void {
  const { method, url, headers } = incoming
  const replaced = Object.fromEntries(ourFields.map((name) => [name, ours[name]]))
  const inner = request(
    target + url,
    { method, headers: present({ ...headers, ...replaced }) },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    },
  )
  outgoing.on('close', () => inner.destroy())
  inner.on('error', () => outgoing.destroy())
  incoming.pipe(inner)
}

function present(
  fields: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there) as Record<string, string | string[]>
}
