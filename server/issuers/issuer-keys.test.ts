import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIssuer } from '../../tests/support/network/issuer.ts'
import { readIssuers } from '../config/issuers.ts'
import { IssuerKeys } from './issuer-keys.ts'

test('while an issuer does not respond, 1,000 tokens wait for its keys, and the next one is refused at once (T16)', async (t) => {
  const issuer = await startIssuer(Date.now)
  t.after(() => issuer.stop().catch(() => {}))
  const { promise: requested, resolve } = Promise.withResolvers<void>()
  issuer.responses.set(issuer.jwksPath, () => resolve())
  const [setting = assert.fail()] = readIssuers(
    JSON.stringify([
      { issuer: issuer.url, audience: 'bell', algorithms: ['RS256'], jwks: issuer.jwks },
    ]),
  )
  const keys = new IssuerKeys({ issuer: setting, now: () => 0, onFailure() {} })
  const header = { alg: 'RS256', kid: 'r1' } as const
  const waiting = Array.from({ length: 1_000 }, () => keys.find(header))
  await requested
  const refused = keys.find(header)
  let isOver = false
  void Promise.allSettled(waiting).then(() => {
    isOver = true
  })
  await assert.rejects(refused, {
    code: 'UNAVAILABLE',
    problem: 'Too many tokens wait for the keys of their issuer',
  })
  assert.equal(isOver, false)
  await issuer.stop()
  const outcomes = await Promise.allSettled(waiting)
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  await assert.rejects(keys.find(header), {
    problem: 'The keys of the issuer of this token cannot be read now',
  })
})
