// A client that floods waits for each response; the store, the outbox and users are tested with the
// whole service (tests/api/passwords).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ForgottenPasswords } from './forgotten.ts'

const source = { address: '198.51.100.1', userAgent: null }

function withBudget(hasBudget: boolean) {
  const needs = {
    guesses: { acceptsMailRequest: () => hasBudget },
    signInLog: { refused: () => {} },
    log: { warn: () => {} },
  }
  return new ForgottenPasswords(needs as never)
}

async function isOpenNow(response: Promise<void>): Promise<boolean> {
  const turn = new Promise((done) => setImmediate(done, 'next turn'))
  return (await Promise.race([response, turn])) !== 'next turn'
}

test('a client beyond its budget gets its response after 200 ms, unless a thousand wait already (A19)', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const forgotten = withBudget(false)
  const ask = () => forgotten.request({ username: 'ann' }, source as never)
  const responses = Array.from({ length: 1_000 }, ask)
  assert.equal(await isOpenNow(ask()), true)
  t.mock.timers.tick(199)
  assert.equal(await isOpenNow(Promise.race(responses)), false)
  t.mock.timers.tick(1)
  await Promise.all(responses)
  assert.equal(await isOpenNow(ask()), false)
})

test('a client within its budget gets its response at once, before anything is looked up (A19)', async () => {
  const response = withBudget(true).request({ username: 'ann' }, source as never)
  assert.equal(await isOpenNow(response), true)
})
