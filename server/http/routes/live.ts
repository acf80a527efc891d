// The routes by which a reader follows his inbox: the live stream, and the changes since a place in it.
import { invalidRequest, notAuthenticated } from '../../errors.ts'
import type { ChangesSince } from '../../inbox/live/changes.ts'
import type { Live } from '../../inbox/live/live.ts'
import { isPosition } from '../../inbox/live/position.ts'
import { ChangesQuery, StreamQuery } from '../openapi/schemas.ts'
import type { LongLivedCaller } from '../request/guards.ts'
import { eventStream, onGone } from '../response/event-stream.ts'
import { sendJson } from '../response/send.ts'
import type { Operation } from './operation.ts'

const positionReason = 'must be a version such as 42, or a position as an answer or an event names it'

export function liveOperations({ live, changes }: { live: Live; changes: ChangesSince }) {
  const stream: Operation<LongLivedCaller> = {
    summary: 'The live stream of what happens in the inbox (Server-Sent Events)',
    query: StreamQuery,
    headers: { 'Last-Event-ID': 'The id of the last event that was received: what follows it is sent' },
    responses: { 200: 'events', 429: ['Error'] },
    async handle(caller, request, reply) {
      const { since } = request.query as StreamQuery
      // A browser's EventSource sends the field when it comes back; an empty one is none (WHATWG HTML, section 9.2.4).
      const last = request.headers['last-event-id'] as string | undefined
      const events = eventStream(request, reply)
      if (request.method === 'HEAD') {
        events.begin()
        events.end()
      } else await live.open(caller, last || since, events)
      return reply
    },
  }

  const since: Operation<LongLivedCaller> = {
    summary:
      'What changed since a version, held until there is something on request; or that all has to be fetched anew',
    query: ChangesQuery,
    responses: { 200: ['Changes'], 429: ['Error'] },
    async handle(caller, request, reply) {
      const { since: place, limit = 100, wait = 0 } = request.query as ChangesQuery
      if (!isPosition(place)) throw invalidRequest([{ field: 'since', reason: positionReason }])
      const gone = new AbortController()
      if (wait > 0) {
        // Longer than a connection may usually be idle.
        request.raw.socket.setTimeout((wait + 10) * 1_000)
        onGone(reply, () => gone.abort())
      }
      const data = await changes.read(caller, { since: place, limit, waitMs: wait * 1_000, signal: gone.signal })
      // Much may have happened while it was held.
      if (wait > 0 && (await caller.validUntil()) === null) throw notAuthenticated()
      return sendJson(reply, `{"success":true,"data":${data}}`)
    },
  }

  return { stream, since }
}
