// The route by which users receive everything that the service keeps of them.
import { Readable } from 'node:stream'
import { forUser } from '../../http/operation.ts'
import { failurePage, type PageNeeds } from '../../pages/page.ts'
import type { Store } from '../../store/store.ts'
import { findEnabledUser } from '../users.ts'
import { exportOf } from './export.ts'

export const exportAll = forUser({
  summary: 'Everything that the service keeps of the signed-in user, one JSON object per line, without secrets',
  responses: { 200: 'lines' },
  // The account page leads a browser here.
  failurePage,
  async handle(dependencies: { store: Store } & PageNeeds, { caller, method }, reply) {
    const user = await findEnabledUser(dependencies, caller)
    const lines = method === 'HEAD' ? [] : exportOf(dependencies, user)
    reply.header('content-disposition', 'attachment; filename="carillon-export.jsonl"').type('application/x-ndjson')
    return reply.send(Readable.from(lines, { objectMode: false }))
  },
})
