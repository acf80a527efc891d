// Reads a page of one user's inbox. Changes are in changes.ts.
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import type { Reader } from '../../store/sqlite/reader.ts'
import { userBytes } from '../../store/statements.ts'
import type { Page, PageQuery } from '../inbox-state.ts'
import { inboxOf } from './found-inbox.ts'
import { maxSkipped, pageOf, placeOf } from './pages.ts'
import { seqsAt } from './runs.ts'

export const inboxVersion = 'select version from inbox where user_id = ?'

export async function readPage(reader: Reader, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, unlessVersion } = query
  // The version alone costs half as much as the whole row, and usually nothing has changed.
  if (
    unlessVersion !== undefined &&
    (reader.one<[number]>(inboxVersion, userBytes(userId))?.[0] ?? 0) === unlessVersion
  )
    return 'unchanged'
  const page = pageOf(reader, query, inboxOf(reader, userId))
  return page === 'far' ? reader.atOneMoment((moment) => readFarPage(moment, query)) : page
}

/** Passes over the notifications above the page, and lets the event loop turn in between. */
async function readFarPage(reader: Reader, query: PageQuery): Promise<Page> {
  const found = inboxOf(reader, query.userId)
  for (let place = placeOf(query, found.inbox); ; ) {
    const page = pageOf(reader, query, { ...found, place })
    if (page !== 'far') return page
    const [lowest = 0] = seqsAt(reader, query, { ...found, below: place.below, skipped: maxSkipped - 1, taken: 1 })
    place = { below: lowest, skipped: place.skipped - maxSkipped }
    await yieldToEventLoop()
  }
}
