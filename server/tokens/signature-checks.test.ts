import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { isUnavailable } from '../contract/world.ts'
import { isSignedByUs, type Signature, SignatureChecks } from './signature-checks.ts'

const { publicKey: key, privateKey } = generateKeyPairSync('ed25519')
const signed = 'what is signed'
const valid: Signature = {
  key,
  signed,
  signature: sign(null, Buffer.from(signed), privateKey).toString('base64url'),
}
const forged: Signature = { ...valid, signed: 'something else' }

/** Each reading takes a tenth of a millisecond, so each check does, too. */
function checksWithClock() {
  const clock = { ms: 0 }
  const checks = new SignatureChecks(isSignedByUs, () => {
    clock.ms += 0.1
    return clock.ms
  })
  const check = (signature: Signature) => checks.enqueue((isSigned) => isSigned(signature))
  return { clock, check }
}

test('after the first 200, failed checks use at most a tenth of the time (T21)', async () => {
  const { clock, check } = checksWithClock()
  const results = await Promise.all(Array.from({ length: 260 }, () => check(forged)))
  assert.equal(results.filter(Boolean).length, 0)
  const takenMs = 260 * 0.1
  assert.ok(takenMs <= 20 + clock.ms * 0.1 + 0.1, `${takenMs} of ${clock.ms} ms`)
})

test('successful checks are free: a thousand of them do not wait', async () => {
  const { clock, check } = checksWithClock()
  const results = await Promise.all(Array.from({ length: 1_000 }, () => check(valid)))
  assert.equal(results.filter(Boolean).length, 1_000)
  // One reading before each check and two around it. Waiting would need more readings.
  assert.ok(clock.ms < 1_000 * 0.1 * 3 + 1, `${clock.ms} ms`)
})

test('checks run in the order of arrival, also a valid one among forged ones', async () => {
  const { check } = checksWithClock()
  const order: number[] = []
  const arrive = async (n: number) => {
    await check(n === 220 ? valid : forged)
    order.push(n)
  }
  await Promise.all(Array.from({ length: 230 }, (_, n) => arrive(n)))
  assert.deepEqual(
    order,
    Array.from({ length: 230 }, (_, n) => n),
  )
})

test('at most a thousand checks wait; one more is refused as unavailable (T21)', async () => {
  const { check } = checksWithClock()
  const waiting = Array.from({ length: 1_001 }, () => check(valid))
  assert.throws(() => check(valid), isUnavailable)
  await Promise.all(waiting)
  assert.equal(await check(valid), true)
})

test('a check that throws does not affect the next one', async () => {
  const checks = new SignatureChecks(isSignedByUs)
  const failing = checks.enqueue(async () => {
    throw new Error('on purpose')
  })
  const next = checks.enqueue((isSigned) => isSigned(valid))
  await assert.rejects(failing, /on purpose/)
  assert.equal(await next, true)
})
