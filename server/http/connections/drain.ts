// Stops a server without failing a request that it took: every request from now on is told that it is the last of its
// connection, no new connections, what runs is finished, and only then is closed what hangs on (TRUST, fact 2; row R9).
import { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** An idle connection stays open this long after the listener closed, so that a request already on the wire is answered. */
const idleMs = 500
/** What still runs this long after the signal is disconnected, or this long after the grace if that is later. */
const fromSignalMs = 8_000
const fromGraceMs = 5_500
const everyMs = 20

const draining = new WeakSet<FastifyInstance>()

/** Whether an answer should say that it is the last of its connection. */
export function isDraining(app: FastifyInstance): boolean {
  return draining.has(app)
}

/**
 * `graceMs`: how long everything goes on as before, new connections and streams included, so that a load balancer can see
 * that the process is not ready. `endStreams` runs once no new connection is accepted: a stream that is opened again then
 * goes to another process.
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
    // http.Server's own close would cut idle connections at once, and with them a request that is on its way.
    Server.prototype.close.call(server, resolve)
  })
  const closedAt = performance.now()
  const disconnectAt = Math.max(startedAt + fromSignalMs, closedAt + (graceMs > 0 ? fromGraceMs : 0))
  await endStreams()
  const isClosed = closed.then(() => true)
  while (!(await Promise.race([isClosed, sleep(everyMs, false)]))) {
    const now = performance.now()
    // Where this process stood still, what came meanwhile is read first: it makes its connection a busy one.
    await nextTurn()
    if (now - closedAt > idleMs) server.closeIdleConnections()
    if (now > disconnectAt) server.closeAllConnections()
  }
  await app.close()
}
