// Passes requests on to Carillon as they were sent, without the path under which Express mounts this. Streams stay streams.
import { request } from 'node:http'

export function passTo(target) {
  const { hostname, port } = new URL(target)
  return (incoming, outgoing) => {
    const { forwarded: _, ...headers } = incoming.headers
    headers['x-forwarded-for'] = incoming.socket.remoteAddress
    const passed = request(
      { hostname, port, method: incoming.method, path: incoming.url, headers },
      (response) => {
        outgoing.writeHead(response.statusCode, response.headers)
        response.on('error', () => outgoing.destroy()).pipe(outgoing)
      },
    )
    outgoing.on('close', () => passed.destroy())
    passed.on('error', () =>
      outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(),
    )
    incoming.pipe(passed)
  }
}
