// Stops a server without failing a request that it took: every request from now on is told that it is the last of its
// connection, no new connections, what runs is finished, and only then is closed what hangs on (TRUST, fact 2; row R9).
import { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/**
 * A client that is just sending on an idle connection gets so long to be answered before that is closed; and where a
 * balancer watches, so long it finds somebody listening, until it has seen that it should send no more: whoever waits to be
 * accepted when a listener closes is cut off.
 */
const graceMs = 500
/** What still runs after this is cut. */
const patienceMs = 8_000
const everyMs = 20

const draining = new WeakSet<FastifyInstance>()

/** Whether an answer should say that it is the last of its connection. */
export function isDraining(app: FastifyInstance): boolean {
  return draining.has(app)
}

export async function drain(app: FastifyInstance, { isWatched }: { isWatched: boolean }): Promise<void> {
  draining.add(app)
  if (isWatched) await sleep(graceMs)
  const { server } = app
  const closed = new Promise((resolve) => {
    // http.Server's own close would cut idle connections at once, and with them a request that is on its way.
    Server.prototype.close.call(server, resolve)
  })
  const startedAt = performance.now()
  const isClosed = closed.then(() => true)
  while (!(await Promise.race([isClosed, sleep(everyMs, false)]))) {
    const elapsed = performance.now() - startedAt
    // Where this process stood still, what came meanwhile is read first: it makes its connection a busy one.
    await nextTurn()
    if (elapsed > graceMs) server.closeIdleConnections()
    if (elapsed > patienceMs) server.closeAllConnections()
  }
  await app.close()
}
