// Checks that a response is a complete error envelope without internal details (E1, E2, E3, C6).
// Follows the specification, not the code that it checks.
import assert from 'node:assert/strict'
import { statusOf } from '../../../server/basics/errors.ts'

export type Seen = { status: number; headers: Headers; text: string }
export type Refusal = {
  code: string
  status: number
  message: string
  requestId: string
  details?: { field: string; reason: string }[]
  challenge?: string
  factors?: string[]
}

const onEveryResponse: Record<string, string> = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const internals =
  /\n\s+at |node:|file:\/\/\/|[\w-]+\.[tj]s\b|node_modules|\/(?:home|root|tmp|usr|var|server)\/|\b(?:select|insert|update|delete|pragma) \w+ |sqlite|SQL\b|no such table|fastify|FST_|ERR_|HPE_|\bE[A-Z]{4,}:|ajv|undefined|\[object|prototype of/i

/** Throws unless the response is an error envelope with a correct `content-length`. */
export function refusalIn({ status, headers, text }: Seen): Refusal {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', text)
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)))
  const body = JSON.parse(text) as { success: unknown; error: Refusal }
  assert.deepEqual(Object.keys(body), ['success', 'error'])
  assert.equal(body.success, false)
  const { error } = body
  const { details, ...rest } = error
  const own = error.code === 'SECOND_FACTOR_REQUIRED' ? ['challenge', 'factors'] : []
  assert.deepEqual(Object.keys(rest), ['code', 'status', 'message', 'requestId', ...own])
  assert.equal(error.status, status)
  assert.equal(
    (statusOf as Record<string, number>)[error.code],
    status,
    `${error.code} is no code of status ${status}`,
  )
  assert.ok(error.message.length > 5)
  assert.match(error.requestId, /^[\w-]{8,64}$/)
  for (const fault of details ?? []) {
    assert.deepEqual(Object.keys(fault).slice(0, 2), ['field', 'reason'])
    for (const more of Object.keys(fault).slice(2)) assert.equal(more, 'code')
    assert.ok(fault.field !== '' && fault.reason !== '', text)
  }
  hasSecurityHeaders({ status, headers, text })
  assert.equal(headers.get('cache-control'), 'no-store')
  // Field names come from the client and may contain anything.
  const texts = [error.message, ...(details ?? []).map(({ reason }) => reason)]
  for (const words of texts) assert.doesNotMatch(words.replaceAll(/"[^"]*"/g, ''), internals)
  if (status === 401)
    assert.match(headers.get('www-authenticate') ?? '', /^Bearer(?: error="invalid_token")?$/)
  if (status === 405) assert.match(headers.get('allow') ?? 'absent', /^[A-Z]+(, [A-Z]+)*$/)
  if (status === 429 || status === 503) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  return error
}

/** Checks the header fields that every response has, and those that no response has. */
export function hasSecurityHeaders({ headers }: Seen): void {
  // With no-referrer, browsers send `Origin: null` with the forms of a page (docs/decisions/0052).
  const isPage = /^text\/html/.test(headers.get('content-type') ?? '')
  const sendsOrigin = isPage && headers.get('referrer-policy') === 'same-origin'
  for (const [name, value] of Object.entries(onEveryResponse))
    if (!sendsOrigin || name !== 'referrer-policy') assert.equal(headers.get(name), value, name)
  // A worker is of its own origin only.
  const isScript = /(?<!push[-\w]*)\.js\b/.test(`${headers.get('etag')} ${headers.get('location')}`)
  assert.equal(
    headers.get('cross-origin-resource-policy'),
    isScript ? 'cross-origin' : 'same-origin',
  )
  const policy = headers.get('content-security-policy')?.split('; ') ?? []
  for (const part of ['default-src', 'frame-ancestors', 'base-uri'])
    assert.ok(policy.includes(`${part} 'none'`), `${policy}`)
  // The forms of a page may lead to origins that the operator named, by the redirect after a sign-in.
  const forms = policy.find((part) => part.startsWith('form-action ')) ?? ''
  assert.match(
    forms,
    isPage ? /^form-action (?:'none'|'self'(?: https?:\/\/[\w.:-]+)*)$/ : /^form-action 'none'$/,
  )
  // A page of the demonstration may show its other name on this machine.
  const frames = /^frame-src 'self' http:\/\/(?:localhost|127\.0\.0\.1):\d+$/
  const loads = policy.filter((part) => part !== forms && !frames.test(part))
  assert.doesNotMatch(loads.join(), /unsafe|\*|https?:|data:/)
  assert.ok(headers.has('cache-control'))
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin'])
    assert.equal(headers.get(name), null)
}
