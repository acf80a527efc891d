import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { CarillonError, notAuthenticated, overloaded } from '../basics/errors.ts'
import { streams } from '../http/connections.ts'
import { type LongLivedCaller, operationFor } from '../http/operation.ts'
import { onGone } from '../http/response/send.ts'
import { failurePage, type PageNeeds } from '../pages/page.ts'
import type { Store } from '../store/store.ts'
import type { User } from '../users/users.store.ts'
import { findEnabledUser } from '../users/users.ts'
import { exportOf } from './export.ts'

export const exportAll = operationFor<LongLivedCaller>()({
  summary:
    'Everything that the service keeps of the signed-in user, one JSON object per line, without secrets',
  responses: { 200: 'lines' },
  takesPlace: true,
  refusals: ['TOO_MANY_REQUESTS'],
  failurePage,
  async handle(dependencies: ExportNeeds, { caller, method }, reply) {
    const user = await findEnabledUser(dependencies, caller)
    if (method !== 'HEAD') begin(dependencies, user, reply)
    const lines =
      method === 'HEAD' ? [] : whenTaken(exportOf(dependencies, user), caller, reply.raw)
    reply
      .header('content-disposition', 'attachment; filename="carillon-export.jsonl"')
      .type('application/x-ndjson')
    return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 1 }))
  },
})

type ExportNeeds = PageNeeds & {
  store: Store
  users: { now: () => number }
  exports: Set<{ userId: string; since: number; response: ServerResponse }>
}

const maxExports = 4
/** Then another export gets the place, so that no slow or stolen one keeps it. */
const placeMs = 30_000

/** Its client may read as slowly as that of a stream. */
function begin(
  { exports, users }: ExportNeeds,
  { id: userId }: User,
  { raw: response }: FastifyReply,
): void {
  const since = users.now()
  const own = exports.values().find((one) => one.userId === userId)
  const [oldest] = exports.size < maxExports ? [] : exports
  const before = own ?? oldest
  if (before !== undefined && since < before.since + placeMs) {
    if (own === undefined) throw overloaded(`This process has ${maxExports} exports in progress`)
    throw new CarillonError('TOO_MANY_REQUESTS', 'An export of your data is in progress', {
      remedy: 'Wait until it is complete.',
      retryAfter: 5,
    })
  }
  before?.response.destroy()
  const begun = { userId, since, response }
  exports.add(begun)
  const { socket } = response.req
  streams.add(socket)
  socket.setTimeout(0)
  onGone(response, () => {
    exports.delete(begun)
    streams.delete(socket)
  })
}

/** After the proof has ended it throws, which ends the connection. */
async function* whenTaken(
  pages: AsyncIterable<string>,
  { validUntil }: LongLivedCaller,
  response: ServerResponse,
): AsyncGenerator<string> {
  for await (const page of pages) {
    if ((await validUntil()) === null) throw notAuthenticated()
    yield page
    await nextTurn()
    if (response.writableNeedDrain) await once(response, 'drain')
  }
}
