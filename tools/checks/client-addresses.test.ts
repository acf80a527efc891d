// Checks that only server/http/request/address.ts determines the address of a client, and that nothing else but original-url.ts reads a
// forwarding header: anywhere else it could be the client's own claim (A11). It reads the source as text.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { codeOf, productFiles } from './product-files.ts'

const home = 'server/http/request/address.ts'
/** The peer of a connection, Fastify's own reading of forwarding headers, and the headers themselves. */
const forms = [
  /\bremoteAddress\b/g,
  /\btrustProxy\b/g,
  /\b(?:request|req)\.(?:ip|ips|host|hostname|protocol)\b/g,
  /['"](?:x-)?forwarded(?:-[a-z]+)?['"]/gi,
  /['"](?:x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip|fastly-client-ip)['"]/gi,
]

/** The description of `GET /verify` names such headers. */
const description = 'server/sign-in/verify.routes.ts'
/** Reads no address, and only what a trusted proxy sent. */
const originalUrl = 'server/sign-in/original-url.ts'

test('only one function reads the peer of a connection or a forwarding header (A11)', () => {
  assert.ok(productFiles.includes(home), 'address.ts was not found: this test looks in the wrong place.')
  const breaches = productFiles.flatMap((path) => {
    if ([home, originalUrl, description].includes(path)) return []
    const code = codeOf(path)
    return forms.flatMap((form) =>
      (code.match(form) ?? []).map((what) => `${path}: ${what}. Call addressOf (${home}).`),
    )
  })
  assert.deepEqual(breaches, [])
  const own = readFileSync(home, 'utf8')
  assert.match(own, /remoteAddress/)
  assert.match(own, /'x-forwarded-for'/)
  assert.match(readFileSync(originalUrl, 'utf8'), /comesFromTrustedProxy\(request/)
})
