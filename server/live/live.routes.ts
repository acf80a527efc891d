import { invalidField } from '../basics/errors.ts'
import { type LongLivedCaller, operationFor } from '../http/operation.ts'
import { goneSignal, sendJson } from '../http/response/send.ts'
import { isPosition } from './events.ts'
import { ChangesQuery, ChangesResponse, EventTexts, StreamQuery } from './live.schemas.ts'
import type { Live } from './live.ts'
import { EventStream } from './live-stream.ts'

export const stream = operationFor<LongLivedCaller>()({
  summary: 'The live stream of what happens in the inbox (Server-Sent Events)',
  query: StreamQuery,
  takesPlace: true,
  headers: {
    'Last-Event-ID': 'The id of the last event that was received; the events after it are sent',
  },
  responses: { 200: EventTexts },
  refusals: ['TOO_MANY_REQUESTS'],
  async handle({ live }: { live: Live }, request, reply) {
    const { since } = request.query
    // An empty field is none (WHATWG HTML, section 9.2.4).
    const last = request.headers['last-event-id'] as string | undefined
    const events = new EventStream(reply)
    if (request.method === 'HEAD') {
      events.begin()
      events.end()
    } else await live.open(request.caller, last || since, events)
    return reply
  },
})

export const changes = operationFor<LongLivedCaller>()({
  summary:
    'What changed since a version, on request held until there is a change; or that everything has to be fetched again',
  query: ChangesQuery,
  takesPlace: true,
  responses: { 200: ChangesResponse },
  refusals: ['TOO_MANY_REQUESTS'],
  async handle({ live }: { live: Live }, request, reply) {
    const { since, limit = 100, wait = 0 } = request.query
    if (!isPosition(since))
      throw invalidField(
        'since',
        'must be a version such as 42, or a position from a response or an event',
      )
    const query = { since, limit, waitMs: wait * 1_000, signal: goneSignal(reply) }
    const data = await live.changes.read(request.caller, query)
    return sendJson(reply, `{"success":true,"data":${data}}`)
  },
})
