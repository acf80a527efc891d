// Stops a server without failing a request that it accepted (SECURITY.md, R9). From now on every response closes its connection. The
// server accepts no new connections, finishes the running requests, and only then disconnects what is still open.
import { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Grace period: an idle connection stays open this long after the listener closed, so that a request already on the wire gets its response. */
const idleMs = 500
/** A request that still runs this long after the signal is disconnected, or this long after the grace time if that is later. */
const fromSignalMs = 8_000
const fromGraceMs = 5_500
const everyMs = 20

const draining = new WeakSet<FastifyInstance>()

export function isDraining(app: FastifyInstance): boolean {
  return draining.has(app)
}

/**
 * `graceMs`: for how long new connections and streams are still accepted, so that a load balancer can see that the process is not
 * ready. `endStreams` runs when no new connection is accepted any more, so that a client that reconnects reaches another process.
 */
export async function drain(
  app: FastifyInstance,
  { graceMs, endStreams }: { graceMs: number; endStreams: () => Promise<void> },
): Promise<void> {
  const startedAt = performance.now()
  draining.add(app)
  if (graceMs > 0) await sleep(graceMs)
  const { server } = app
  const closed = new Promise((resolve) => {
    // http.Server's own close disconnects idle connections at once, also one on which a request is arriving.
    Server.prototype.close.call(server, resolve)
  })
  const closedAt = performance.now()
  const disconnectAt = Math.max(startedAt + fromSignalMs, closedAt + (graceMs > 0 ? fromGraceMs : 0))
  await endStreams()
  const isClosed = closed.then(() => true)
  while (!(await Promise.race([isClosed, sleep(everyMs, false)]))) {
    const now = performance.now()
    // After a stall of this process, read first what has arrived, so that a connection with a new request does not count as idle.
    await nextTurn()
    if (now - closedAt > idleMs) server.closeIdleConnections()
    if (now > disconnectAt) server.closeAllConnections()
  }
  await app.close()
}
