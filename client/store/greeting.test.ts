// The counters that an open list takes from the events of one chunk of its stream.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCarillon } from '../carillon-client.ts'
import { until } from '../testing/clients.ts'
import { ModelInbox } from '../testing/model-inbox.ts'
import { eventText } from '../testing/stream-server.ts'

test('a resync that follows other events at once sets unseen: theirs is older, and no page has it', async (t) => {
  const inbox = new ModelInbox()
  const stream = new TransformStream<Uint8Array, Uint8Array>()
  const writer = stream.writable.getWriter()
  const send = (...texts: string[]) => void writer.write(new TextEncoder().encode(texts.join('')))
  const fetch = async (url: string) => {
    const { pathname } = new URL(url)
    if (pathname !== '/api/notifications/stream')
      return Response.json({
        success: true,
        data: pathname === '/api/session' ? { user: { id: 'ann' } } : inbox.page({ limit: 20 }),
      })
    send(eventText('hello', 0, inbox.counters))
    return new Response(stream.readable, { headers: { 'content-type': 'text/event-stream' } })
  }
  const list = createCarillon({ baseUrl: 'http://test', fetch }).inbox.open()
  t.after(() => list.close())
  await until(() => list.state === 'live')
  const events = ['a', 'b'].map((category) => {
    const { type, position: _, version, ...data } = inbox.deliver(category, false)
    return eventText(type, version, data)
  })
  inbox.deliver('c', false)
  send(...events, eventText('resync', 3, inbox.counters))
  await until(() => list.items.length === 3)
  assert.deepEqual([list.unseen, list.total], [3, 3])
})
