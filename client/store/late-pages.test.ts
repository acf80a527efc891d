// Pages and events come at chosen moments, from an inbox in memory.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCarillon } from '../carillon-client.ts'
import { until } from '../testing/clients.ts'
import { type ModelFilter, ModelInbox } from '../testing/model-inbox.ts'
import { eventText } from '../testing/stream-server.ts'
import type { StreamEvent } from '../transport/types.ts'

/** The inbox is read after `onPage`; for a list with categories before it. */
function listsOf(
  t: TestContext,
  inbox: ModelInbox,
  onPage = async (_query: URLSearchParams) => {},
) {
  const stream = new TransformStream<Uint8Array, Uint8Array>()
  const writer = stream.writable.getWriter()
  const send = (...texts: string[]) => void writer.write(new TextEncoder().encode(texts.join('')))
  const fetch = async (url: string) => {
    const { pathname, searchParams } = new URL(url)
    if (pathname === '/api/notifications/stream') {
      send(eventText('hello', inbox.version, inbox.counters))
      return new Response(stream.readable, { headers: { 'content-type': 'text/event-stream' } })
    }
    if (pathname === '/api/session')
      return Response.json({ success: true, data: { user: { id: 'ann' } } })
    const { category = [], status, limit } = Object.fromEntries(searchParams)
    const filter = {
      status,
      category: [category].flat(),
      limit: Number(limit ?? 20),
    } as ModelFilter
    const page = () =>
      inbox.page(filter, Number(searchParams.get('before') ?? Number.POSITIVE_INFINITY))
    const early = page()
    await onPage(searchParams)
    const data = category.length > 0 ? early : page()
    return Response.json({ success: true, data })
  }
  const { open } = createCarillon({ baseUrl: 'http://test', fetch }).inbox
  return {
    send,
    open: (options: Parameters<typeof open>[0]) => {
      const list = open(options)
      t.after(() => list.close())
      return list
    },
  }
}

function textOf({ type, position: _, version, ...data }: StreamEvent): string {
  return eventText(type, version, data)
}

test('a resync that follows other events at once sets unseen: theirs is older, and no page has it', async (t) => {
  const inbox = new ModelInbox()
  const { open, send } = listsOf(t, inbox)
  const list = open({})
  await until(() => list.state === 'live')
  const events = [inbox.deliver('a', false), inbox.deliver('b', false)].map(textOf)
  inbox.deliver('c', false)
  send(...events, eventText('resync', 3, inbox.counters))
  await until(() => list.items.length === 3)
  assert.deepEqual([list.unseen, list.total], [3, 3])
})

test('the next page leaves a list due that an event has made unclear: it has nothing of what may be missing above', async (t) => {
  const inbox = new ModelInbox()
  for (let count = 0; count < 6; count++) inbox.deliver(null, false)
  for (const id of ['n1', 'n2', 'n3']) inbox.act({ type: 'read', id })
  const { open, send } = listsOf(t, inbox)
  const list = open({ status: 'read', limit: 2 })
  await until(() => list.state === 'live')
  const readAll = inbox.act({ type: 'read-all', throughSeq: 6 })
  send(textOf(readAll as StreamEvent))
  await until(() => list.total === 6)
  await list.more()
  await until(() => list.items.map(({ seq }) => seq).join() === '6,5,4')
  assert.equal(list.hasMore, true)
})

test('a page that is older than that of another list does not take what only the other has for one of its own', async (t) => {
  const inbox = new ModelInbox()
  for (let count = 0; count < 3; count++) inbox.deliver('a', false)
  const { promise: isRead, resolve } = Promise.withResolvers<void>()
  let event = ''
  const { open, send } = listsOf(t, inbox, async (query) => {
    if (!query.has('category')) return isRead
    await new Promise(setImmediate)
    event ||= textOf(inbox.deliver('a', false))
    resolve()
  })
  const all = open({})
  const some = open({ category: 'a', limit: 1 })
  await until(() => some.state === 'live' && all.state === 'live')
  assert.deepEqual([all.items.length, some.items.length], [4, 2])
  send(event, textOf(inbox.deliver('b', false)))
  await until(() => all.items.length === 5)
  assert.equal(some.total, 4)
})

test('a list that is opened before the stream has begun is loading until it has its page, which it requests at once', async (t) => {
  const inbox = new ModelInbox()
  inbox.deliver('a', false)
  const { open } = listsOf(t, inbox)
  const timers = t.mock.method(globalThis, 'setTimeout')
  const first = open({})
  const states: string[] = []
  const { promise: opened, resolve } = Promise.withResolvers<ReturnType<typeof open>>()
  first.subscribe(({ state, items }) => {
    if (states.length || !items.length) return
    states.push(state)
    const second = open({ category: 'a' })
    second.subscribe((snapshot) => states.push(`${snapshot.state} ${snapshot.items.length}`))
    resolve(second)
  })
  const second = await opened
  await until(() => second.items.length === 1)
  const pauses = timers.mock.calls.map(({ arguments: [, ms] }) => ms)
  assert.ok(!pauses.includes(1_000), 'without the pause before a list is requested again')
  assert.deepEqual([...new Set(states)], ['loading', 'loading 0', 'live 1'])
})
