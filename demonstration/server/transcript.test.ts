import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Body, maskedCookies, onlyCookies } from './transcript.ts'

const names = new Set(['demo', 'demo-device'])

test('a world gets the pairs of its own cookies and no others, however they are written (S14)', () => {
  for (const [field, own] of [
    ['carillon=secret; demo=a; theme=dark; demo-device=b', 'demo=a; demo-device=b'],
    ['demo=a', 'demo=a'],
    ['carillon=secret;demo=a=b;', 'demo=a=b'],
    ['demo =a; xdemo=secret; demo.=secret; Demo=secret', 'demo =a'],
    ['\xa0demo=secret; demo\xa0=secret; secret', ''],
    ['demo', ''],
    ['', ''],
  ] as const)
    assert.equal(onlyCookies(field, names), own, field)
})

test('the transcript has the field as it was sent, but for the values of other cookies (S14)', () => {
  for (const [field, shown] of [
    ['carillon=secret; demo=a;  theme=dark', 'carillon=…; demo=a;  theme=…'],
    ['demo =a;demo-device=b', 'demo =a;demo-device=b'],
    ['\xa0demo=secret; secret; demo=c=d', '\xa0demo=…; …; demo=c=d'],
    ['carillon=a=b', 'carillon=…'],
  ] as const)
    assert.equal(maskedCookies(field, names), shown)
})

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
