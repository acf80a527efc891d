// WHATWG HTML, section 9.2.6: a comparison with eventsource-parser, and the rules that it leaves
// out.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { createParser } from 'eventsource-parser'
import { EventStreamParser, type ServerSentEvent } from './event-stream.ts'

const encoder = new TextEncoder()

function eventsOf(
  text: string | Uint8Array,
  pieceBytes = Number.POSITIVE_INFINITY,
): ServerSentEvent[] {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text
  const parser = new EventStreamParser()
  const events: ServerSentEvent[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    events.push(...parser.push(bytes.subarray(at, at + pieceBytes)))
  return events
}

const rules: {
  rule: string
  stream: string
  events: (Partial<ServerSentEvent> & { data: string })[]
}[] = [
  {
    rule: 'a comment is ignored; an id applies until the next id; an empty id clears it (9.2.6, second example)',
    stream:
      ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
    events: [{ data: 'first event', id: '1' }, { data: 'second event' }, { data: ' third event' }],
  },
  {
    rule: 'one byte order mark at the start is removed',
    stream: '\uFEFFdata: a\n\n',
    events: [{ data: 'a' }],
  },
  {
    rule: 'a second byte order mark is part of the field name',
    stream: '\uFEFF\uFEFFdata: a\n\ndata: b\n\n',
    events: [{ data: 'b' }],
  },
  {
    rule: 'the id of an event without data applies to the next event',
    stream: 'id: 7\n\ndata: 1\n\n',
    events: [{ data: '1', id: '7' }],
  },
  {
    rule: 'an id that contains NUL is ignored',
    stream: 'id: 1\n\nid: 2\0\ndata: a\n\n',
    events: [{ data: 'a', id: '1' }],
  },
  {
    rule: 'field names match exactly, including case and spaces',
    stream: 'Data: a\ndata : b\n data: c\ndata: d\n\n',
    events: [{ data: 'd' }],
  },
]

for (const { rule, stream, events } of rules)
  test(`WHATWG HTML 9.2.6: ${rule}, in chunks of any size`, () => {
    const expected = events.map((event) => ({ type: 'message', id: '', ...event }))
    for (const pieceBytes of [Number.POSITIVE_INFINITY, 1, 2, 3, 5])
      assert.deepEqual(eventsOf(stream, pieceBytes), expected)
  })

test('WHATWG HTML 9.2.6: a retry field counts only if it consists of digits', () => {
  const retryOf = (stream: string) => {
    const parser = new EventStreamParser()
    parser.push(encoder.encode(stream))
    return parser.retryMs
  }
  assert.equal(retryOf('retry: 1500\n'), 1500)
  for (const value of ['', '1e3', '-5', '1.5', ' 7', '7 ', '٣'])
    assert.equal(retryOf(`retry: ${value}\n`), undefined, value)
})

test('a character split between two chunks is complete, and invalid UTF-8 becomes U+FFFD', () => {
  assert.equal(eventsOf('data: 🔔é\n\n', 1)[0]?.data, '🔔é')
  const broken = [...encoder.encode('data: '), 0xff, 0xc3, ...encoder.encode('x\n\n')]
  assert.equal(eventsOf(Uint8Array.from(broken))[0]?.data, '\uFFFD\uFFFDx')
})

test('an event of more than 8 Mi characters is refused, in one line or in many; a shorter one is accepted', () => {
  const piece = encoder.encode('x'.repeat(2 ** 20))
  const lines = encoder.encode(`data: ${'x'.repeat(1_023)}\n`.repeat(2 ** 10))
  const line = encoder.encode('data: ')
  const end = encoder.encode('\n\n')
  const feed = (...pieces: Uint8Array[]) => {
    const parser = new EventStreamParser()
    return pieces.flatMap((bytes) => parser.push(bytes)).length
  }
  assert.throws(() => feed(line, ...Array(9).fill(piece)), RangeError)
  assert.throws(() => feed(...Array(9).fill(lines)), RangeError)
  assert.equal(
    feed(
      ...Array(5)
        .fill([line, ...Array(7).fill(piece), end])
        .flat(),
    ),
    5,
  )
})

test('the parser agrees with eventsource-parser on 2,000 random streams in random chunks', (t) => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
  t.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  const words = [
    'data',
    'id',
    'event',
    'retry',
    ':',
    ': ',
    ' ',
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    '\r\n\r\n',
    'x',
    '🔔',
    '12',
    'data: a\n',
    '',
  ]
  let compared = 0
  for (let run = 0; run < 2_000; run++) {
    const text = Array.from({ length: random(60) }, () => words[random(words.length)]).join('')
    const bytes = encoder.encode(text)
    const parser = new EventStreamParser()
    const ours: ServerSentEvent[] = []
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + 1 + random(12))
      ours.push(...parser.push(piece))
      at += piece.length
    }
    const theirs = theirEventsOf(text)
    assert.deepEqual(
      ours.map(({ type, data }) => ({ type, data })),
      theirs,
      JSON.stringify(text),
    )
    compared += ours.length
  }
  assert.ok(compared > 1_000, `only ${compared} events were compared`)
})

/** eventsource-parser reports only an id in the same event. */
function theirEventsOf(text: string) {
  const events: { type: string; data: string }[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ type: event || 'message', data }),
  })
  parser.feed(text)
  return events
}

/** mulberry32 repeats its numbers for a seed. They are below `bound`. */
function randomFrom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}
