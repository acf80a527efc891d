import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Body } from './body.ts'

test('a body is kept as text, at most 16 KiB of it', () => {
  const body = new Body()
  const text = () => body.text
  body.add('é')
  body.add(Buffer.from('a'), undefined)
  body.add('62', 'hex')
  assert.equal(text(), 'éab')
  body.add('c')
  assert.equal(text(), 'éabc')
  body.add('d'.repeat(20_000))
  assert.equal(text().length, 16 * 1024 - 1)
})

test('a body that came byte by byte keeps little more than its bytes (S16)', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const dripped = () => {
    const body = new Body()
    for (let n = 0; n < 4_096; n++) body.add(Buffer.from('a'))
    assert.equal(body.text.length, 4_096)
    return body
  }
  const used = async () => {
    // The memory of buffers is freed after a collection.
    for (let n = 0; n < 3; n++) {
      collect()
      await setImmediate()
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = await used()
  const bodies = Array.from({ length: 50 }, dripped)
  const each = ((await used()) - before) / bodies.length
  assert.ok(each < 20_000, `${each} bytes for a body of 4,096`)
  assert.equal(bodies.length, 50)
})
