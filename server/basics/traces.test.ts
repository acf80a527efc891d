import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteTrace, traceOf } from './traces.ts'

const id = '4bf92f3577b34da6a3ce929d0e0e4736'

test('a valid traceparent names the trace of its request, and an invalid one is ignored (W3C Trace Context)', () => {
  noteTrace('1', `00-${id}-00f067aa0ba902b7-01`)
  noteTrace('2', `cc-${id}-00f067aa0ba902b7-01-what-a-later-version-adds`)
  assert.deepEqual([traceOf('1'), traceOf('2')], [id, id])
  const invalid = [
    `ff-${id}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${id}-0000000000000000-01`,
    `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${id}-00f067aa0ba902b7-01, 00-${id}-00f067aa0ba902b7-01`,
    `00-${id}-00f067aa0ba902b7-01-more`,
    `00-${id}`,
    undefined,
  ]
  for (const [n, text] of invalid.entries()) {
    noteTrace(`invalid ${n}`, text)
    assert.equal(traceOf(`invalid ${n}`), undefined, String(text))
  }
})
