// Real issuers run on this machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIssuer } from '../../tests/support/network/issuer.ts'
import { readIssuers } from '../config/issuers.ts'
import { examineIssuers } from './configuration.ts'

test('finds an issuer whose keys cannot be read, with what to change, and nothing wrong with another', async (t) => {
  const issuer = await startIssuer(Date.now)
  t.after(issuer.stop)
  const entry = { issuer: issuer.url, audience: 'bell', algorithms: ['RS256', 'ES256'] }
  const wrong = { ...entry, issuer: 'elsewhere', jwks: `${issuer.url}/keys`, algorithms: ['EdDSA'] }
  issuer.keys.splice(2)
  assert.deepEqual(await examineIssuers(readIssuers(JSON.stringify([entry, wrong]))), [
    {
      check: 'issuer',
      state: 'ok',
      found: `the keys of ${issuer.url} for RS256, ES256 can be read`,
    },
    {
      check: 'issuer',
      state: 'fault',
      found: `${issuer.url}/keys has no key for EdDSA`,
      change: 'Write the algorithms with which the issuer signs tokens in CARILLON_ISSUERS.',
    },
  ])
})
