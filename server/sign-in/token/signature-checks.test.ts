// Do forged tokens take more than their share of the event loop, and do valid ones get their turn all the same?
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { isUnavailable } from '../../store/contract/world.ts'
import { type Signature, SignatureChecks } from './signature-checks.ts'

const { publicKey: key, privateKey } = generateKeyPairSync('ed25519')
const signed = 'what is signed'
const valid: Signature = { key, signed, signature: sign(null, Buffer.from(signed), privateKey).toString('base64url') }
const forged: Signature = { ...valid, signed: 'something else' }

/** Every look at this clock takes a tenth of a millisecond, so a check does too. */
function checksWithClock() {
  const clock = { ms: 0 }
  const checks = new SignatureChecks(() => {
    clock.ms += 0.1
    return clock.ms
  })
  const check = (signature: Signature) => checks.inTurn((isSigned) => isSigned(signature))
  return { clock, check }
}

test('a signature of the key is one, and any other is not', async () => {
  const { check } = checksWithClock()
  assert.deepEqual(await Promise.all([valid, forged, valid].map(check)), [true, false, true])
})

test('checks that fail take a tenth of the time, after the first 200', async () => {
  const { clock, check } = checksWithClock()
  const results = await Promise.all(Array.from({ length: 260 }, () => check(forged)))
  assert.equal(results.filter(Boolean).length, 0)
  const takenMs = 260 * 0.1
  assert.ok(takenMs <= 20 + clock.ms * 0.1 + 0.1, `${takenMs} of ${clock.ms} ms`)
})

test('checks that succeed are free: a thousand of them wait for nothing', async () => {
  const { clock, check } = checksWithClock()
  const results = await Promise.all(Array.from({ length: 1_000 }, () => check(valid)))
  assert.equal(results.filter(Boolean).length, 1_000)
  // A look before each, and two around it. Waiting would look again and again.
  assert.ok(clock.ms < 1_000 * 0.1 * 3 + 1, `${clock.ms} ms`)
})

test('each has its turn in the order in which it came, a valid one among forged ones too', async () => {
  const { check } = checksWithClock()
  const order: number[] = []
  const come = async (n: number) => {
    await check(n === 220 ? valid : forged)
    order.push(n)
  }
  await Promise.all(Array.from({ length: 230 }, (_, n) => come(n)))
  assert.deepEqual(
    order,
    Array.from({ length: 230 }, (_, n) => n),
  )
})

test('at most a thousand wait; one more is told to try again', async () => {
  const { check } = checksWithClock()
  const waiting = Array.from({ length: 1_001 }, () => check(valid))
  assert.throws(() => check(valid), isUnavailable)
  await Promise.all(waiting)
  assert.equal(await check(valid), true)
})

test('a check that throws fails alone', async () => {
  const checks = new SignatureChecks()
  const failing = checks.inTurn(() => {
    throw new Error('on purpose')
  })
  const next = checks.inTurn((isSigned) => isSigned(valid))
  await assert.rejects(failing, /on purpose/)
  assert.equal(await next, true)
})
