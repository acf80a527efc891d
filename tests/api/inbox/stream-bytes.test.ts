// Text of a producer never leaves the one line of its event, and every event has its published
// shape (N1, N6).
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { EventStreamParser } from '../../../client/stream/event-stream.ts'
import { events as published } from '../../../server/live/live.schemas.ts'
import { anyCharacter } from '../../support/any-character.ts'
import {
  EventReader,
  type StreamEvent,
  streamPath,
} from '../../support/event-source/event-source.ts'
import { DescribedApi, type Document } from '../../support/http/described-api.ts'
import { hasSecurityHeaders } from '../../support/http/envelope.ts'
import { startTestService, type TestUser } from '../../support/service.ts'

const runs = process.env.SOAK === undefined ? 100 : 2_000
const listed = 'https://app.example'

const app = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: listed } })
after(() => app.stop())
const { key } = await app.producerKey()
const producer = { authorization: `Bearer ${key}` }

type Sent = {
  title: string
  body?: string
  url?: string
  category?: string
  data?: object
  key?: string
}

const send = (to: TestUser, content: Sent) =>
  app.post('/api/notifications', { recipients: [{ username: to.username }], ...content }, producer)

const forged = 'event: read\ndata: {"version":9,"unread":0,"total":0}'
const nasty = [
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  '\r\r',
  '\r\n\r\n',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u000b\u000c',
  `\n\n${forged}\n\n`,
  `\r\r${forged}\r\r`,
  `\r\n\r\n${forged}\r\n\r\n`,
  `\u2028\u2028${forged}\u2028\u2028`,
  '\nid: 1-00000000',
  '\nretry: 1\n',
  'data: x',
  ':',
  '"',
  `'`,
  '\\n\\n',
  '\\',
  '"}\n\ndata: {"',
  '\ufeff',
  '\u0001\u001f\u007f',
  '🔔👩‍👩‍👧‍👦 e\u0301 ﷽',
  'ends with a line break\n',
]

/** One line without control characters, and none of a JavaScript object (`__proto__`). */
const categoryOf = (text: string) => `.${text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')}`

/** Two independent parsers read them. */
function readTwice(bytes: Buffer): EventSourceMessage[][] {
  const theirs: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => theirs.push(event) })
  parser.feed(bytes.toString('utf8'))
  const own = new EventStreamParser().push(bytes)
  // The other parser gives the id of the event itself, ours the last id of the stream.
  let id: string | undefined
  const ownForm = own.map(({ type, data, id: last }) => ({ event: type, data, id: last }))
  const theirForm = theirs.map(({ event, data, id: named }) => {
    id = named ?? id
    return { event: event ?? 'message', data, id: id ?? '' }
  })
  return [theirForm, ownForm]
}

function isReadAlike(reader: EventReader): void {
  const strict = reader.events.map(({ type, text, id }) => ({ event: type, data: text, id }))
  for (const events of readTwice(reader.bytes)) assert.deepEqual(events, strict)
}

const contentOf = ({ data }: StreamEvent) => {
  const { title, body, url, category, data: more, key: about } = data.notification
  return { title, body, url, category, data: more, key: about }
}

test('line breaks, quotes and whole events in any field of a notification forge no event (N1)', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  using reader = await EventReader.of(app.url, proof)
  for (const [index, text] of nasty.entries()) {
    const content = {
      title: text,
      body: text,
      category: categoryOf(text),
      data: { [text]: [text] },
      key: `${text}${index}`,
    }
    assert.equal((await send(ann, content)).status, 201, JSON.stringify(text))
    assert.deepEqual(contentOf(await reader.next('created')), { ...content, url: null })
  }
  assert.ok(reader.isUpToDate)
  isReadAlike(reader)
  // As a client that reconnects gets it.
  using again = await EventReader.of(app.url, proof, `${streamPath}?since=0`)
  await again.until(() => again.events.length === reader.events.length)
  isReadAlike(again)
  assert.deepEqual(again.events.slice(1).map(contentOf), reader.events.slice(1).map(contentOf))
})

test('random text arrives in the stream as it was sent, for every parser (N1)', async () => {
  const ann = await app.user()
  using reader = await EventReader.of(app.url, await app.signIn(ann, 'stateless'))
  const piece = fc.oneof(
    fc.constantFrom(...nasty),
    fc.string({ unit: anyCharacter, maxLength: 8 }).map((s) => s.replaceAll('\0', '')),
  )
  const text = (maxLength: number) =>
    fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) =>
      Array.from(`.${pieces.join('')}`)
        .slice(0, maxLength)
        .join(''),
    )
  const contents = fc.record({
    title: text(200),
    body: text(4_000),
    category: text(63).map(categoryOf),
    data: fc.dictionary(text(50), text(200)),
  })
  await fc.assert(
    fc.asyncProperty(contents, async (content) => {
      const response = await send(ann, content)
      assert.equal(response.status, 201, response.text)
      // Compared as JSON, in which __proto__ is a name like any other.
      const received = contentOf(await reader.next('created'))
      assert.deepEqual(received, JSON.parse(JSON.stringify({ ...content, url: null, key: null })))
      assert.ok(reader.isUpToDate)
    }),
    { numRuns: runs },
  )
  isReadAlike(reader)
})

test('every event has its own schema of the published description, and the schema StreamEvent', async () => {
  const api = new DescribedApi((await app.get('/openapi.json')).json() as Document)
  const checks = new Map(
    Object.entries(published).map(([type, schema]) => [type, api.compile(schema)]),
  )
  const anyEvent = api.compile(api.document.components.schemas.StreamEvent ?? assert.fail())
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  using reader = await EventReader.of(app.url, proof)
  await send(ann, { title: 'Hi', body: 'b', url: '/a', category: 'c', data: { a: 1 }, key: 'k' })
  await send(ann, { title: 'Ho', key: 'k' })
  await send(ann, { title: 'Hu' })
  const { id } = (await app.list(proof)).items[0] ?? assert.fail()
  await app.patch(`/api/notifications/${id}/read`, proof)
  await app.patch(`/api/notifications/${id}/unread`, proof)
  await reader.until(() => reader.events.some(({ type }) => type === 'unread'))
  await app.post('/api/notifications/read-all', undefined, proof)
  const until = new Date(app.now() + 60_000).toISOString()
  for (const [type, act] of [
    ['snoozed', () => app.patch(`/api/notifications/${id}/snooze`, proof, { until })],
    ['archived', () => app.patch(`/api/notifications/${id}/archive`, proof)],
    ['unarchived', () => app.patch(`/api/notifications/${id}/unarchive`, proof)],
    ['archive-read', () => app.post('/api/notifications/archive-read', undefined, proof)],
    ['seen', () => app.post('/api/notifications/seen', { throughSeq: 1 }, proof)],
    ['removed', () => app.delete(`/api/notifications/${id}`, proof)],
  ] as const) {
    await act()
    await reader.until(() => reader.events.at(-1)?.type === type)
  }
  using lost = await EventReader.of(app.url, proof, `${streamPath}?since=x`)
  await lost.next('resync')
  await app.post('/logout', undefined, proof)
  await Promise.all([reader.ended(), lost.ended()])
  const events = [...reader.events, ...lost.events]
  for (const { type, text } of events) {
    assert.deepEqual(checks.get(type)?.(JSON.parse(text)), [], `${type}: ${text}`)
    assert.deepEqual(anyEvent(JSON.parse(text)), [], `${type}: ${text}`)
  }
  assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(Object.keys(published)))
  for (const { type, id: position, data } of reader.events)
    if (type === 'session-ended') assert.equal(position, undefined)
    else if (type !== 'hello')
      assert.match(position ?? '', new RegExp(`^${data.version}-[0-9a-f]{8}$`))
})

suite("the header of the stream's response", () => {
  test('no cache keeps a stream, no proxy buffers or compresses it, and it ends with its connection (N6)', async () => {
    const proof = await app.signIn(await app.user(), 'stateless')
    using reader = await EventReader.of(app.url, proof)
    const { headers } = reader
    assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store, no-transform')
    assert.equal(headers.get('x-accel-buffering'), 'no')
    assert.equal(headers.get('connection'), 'close')
    for (const name of ['content-length', 'transfer-encoding', 'content-encoding', 'keep-alive'])
      assert.equal(headers.get(name), null, name)
    hasSecurityHeaders({ status: reader.status, headers, text: '' })
    using ofOrigin = await EventReader.of(app.url, { ...proof, origin: listed })
    assert.equal(ofOrigin.headers.get('access-control-allow-origin'), listed)
    assert.equal(ofOrigin.headers.get('access-control-allow-credentials'), 'true')
    assert.equal(ofOrigin.headers.get('vary'), 'Origin')
  })

  test('each stream first sends its own random time to reconnect, from 1 to 4 seconds (N6)', async () => {
    const times = new Set<number>()
    for (let user = 0; user < 2; user++) {
      const proof = await app.signIn(await app.user(), 'stateful')
      for (let n = 0; n < 15; n++) {
        using reader = await EventReader.of(app.url, proof)
        assert.match(reader.text, /^retry: \d{4}\n\nevent: hello\n/)
        const [retry = 0, ...more] = reader.retries
        assert.deepEqual(more, [])
        assert.ok(retry >= 1_000 && retry <= 4_000, `${retry}`)
        times.add(retry)
      }
    }
    assert.ok(times.size > 20, `${times.size} different ones of 30`)
    assert.ok(Math.max(...times) - Math.min(...times) > 1_000, `${[...times]}`)
  })

  test('HEAD has the same header fields, ends at once, and does not count against the stream limits', async () => {
    const proof = await app.signIn(await app.user(), 'stateful')
    using got = await EventReader.of(app.url, proof)
    for (let n = 0; n < 30; n++) {
      using head = await EventReader.open(app.url, { headers: proof, method: 'HEAD' })
      assert.equal(head.status, 200)
      await head.ended()
      assert.equal(head.text, '')
      for (const name of ['content-type', 'x-accel-buffering', 'cache-control'])
        assert.equal(head.headers.get(name), got.headers.get(name), name)
    }
    using refused = await EventReader.open(app.url, { method: 'HEAD' })
    assert.equal(refused.status, 401)
  })
})
