import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { notAuthenticated } from '../basics/errors.ts'
import { type LongLivedCaller, operationFor } from '../http/operation.ts'
import { failurePage, type PageNeeds } from '../pages/page.ts'
import type { Store } from '../store/store.ts'
import { findEnabledUser } from '../users/find-user.ts'
import { type Exports, exportOf } from './export.ts'

export const exportAll = operationFor<LongLivedCaller>()({
  summary:
    'Everything that the service keeps of the signed-in user, one JSON object per line, without secrets',
  responses: { 200: 'lines' },
  takesPlace: true,
  refusals: ['TOO_MANY_REQUESTS'],
  failurePage,
  async handle(dependencies: ExportNeeds, { caller, method }, reply) {
    const user = await findEnabledUser(dependencies, caller)
    const { exports, users } = dependencies
    const isRead = method !== 'HEAD'
    if (isRead) exports.begin(user.id, reply.raw, users.now())
    const lines = isRead ? whenTaken(exportOf(dependencies, user), caller, reply.raw) : []
    reply
      .header('content-disposition', 'attachment; filename="carillon-export.jsonl"')
      .type('application/x-ndjson')
    return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 1 }))
  },
})

type ExportNeeds = PageNeeds & { store: Store; users: { now: () => number }; exports: Exports }

/** When the proof has ended it throws, which ends the connection. */
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
