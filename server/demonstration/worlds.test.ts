import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worlds } from './worlds.ts'

test('attempts from 10,000 addresses are counted, and no more: their number cannot fill the memory (S16)', async () => {
  const worlds = new Worlds({
    compose: () => assert.fail('no folder, no world'),
    hasTrace: false,
    parent: '/nowhere',
    wall: Date.now,
    monotonic: () => 0,
    base: () => '/demonstration',
    isSecure: () => false,
    onFailure: () => {},
  })
  const attempts: Promise<string>[] = []
  const attempt = (address: string) => {
    const code = worlds.open(address, undefined).then(
      () => 'opened',
      (error) => error.code,
    )
    attempts.push(code)
    return code
  }
  for (let n = 0; n < 30; n++) void attempt('192.0.2.1')
  assert.equal(await attempt('192.0.2.1'), 'TOO_MANY_REQUESTS')
  for (let n = 0; n < 9_999; n++) void attempt(`10.0.${n >> 8}.${n & 255}`)
  assert.equal(await attempt('192.0.2.1'), 'TOO_MANY_REQUESTS')
  void attempt('198.51.100.1')
  assert.equal(await attempt('192.0.2.1'), 'UNAVAILABLE', 'the oldest count is gone')
  await Promise.all(attempts)
})
