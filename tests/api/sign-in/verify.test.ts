// Forward authentication (`GET /verify`).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { type Proof, startTestService, variants } from '../../support/service.ts'

const origin = 'https://home.example.org'
const env = {
  CARILLON_PUBLIC_URL: origin,
  CARILLON_ALLOWED_ORIGINS: 'https://home.example.org:8443',
}
const app = await startTestService({ env: { ...env, CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
const untrusting = await startTestService({ env: { ...env, CARILLON_PAGES_PREFIX: '/hello' } })
after(() => Promise.all([app.stop(), untrusting.stop()]))
const ann = await app.user('ann')

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const verify = (headers: Proof = {}, service = app) =>
  service.request('/verify', { headers, redirect: 'manual' })
const forwarded = (url: string): Proof => {
  const [, scheme = '', host = '', target = ''] = /^(\w+):\/\/([^/]*)(.*)$/.exec(url) ?? []
  return { 'x-forwarded-proto': scheme, 'x-forwarded-host': host, 'x-forwarded-uri': target }
}
const signIn = `${origin}/sign-in`
const signInFor = (url: string) => `${signIn}?return_to=${encodeURIComponent(url)}`
/** HTTP clients read its bytes as latin1. */
const utf8 = (headers: Headers, name: string) =>
  Buffer.from(headers.get(name) ?? '', 'latin1').toString('utf8')

for (const variant of variants)
  test(`a proof of a sign-in gets 200 with the user, and nothing may keep that response (${variant}, F1)`, async () => {
    const proof = await app.signIn(ann, variant)
    const { status, headers, text } = await verify(proof)
    assert.deepEqual([status, text], [200, ''])
    assert.equal(headers.get('remote-user'), 'ann')
    assert.equal(headers.get('remote-name'), 'ann')
    assert.equal(headers.get('remote-user-id'), ann.id)
    assert.equal(headers.get('cache-control'), 'no-store')
    await app.post('/logout', undefined, proof)
    assert.equal((await verify(proof)).status, 401)
  })

test('a name is sent as UTF-8, and no character of it ends the field', async () => {
  const user = await app.user('zoë')
  await app.store.write(updateUser, { userId: user.id, displayName: ' Zoë Ødegård 李\u0085 ' })
  const { status, headers } = await verify(await app.signIn(user, 'stateful'))
  assert.deepEqual([status, utf8(headers, 'remote-user')], [200, 'zoë'])
  assert.equal(utf8(headers, 'remote-name'), 'Zoë Ødegård 李')
  for (const displayName of ['a\r\nRemote-User: ann', 'a\nb', 'a\u0001b', 'a\u007fb', 'a\u0085b']) {
    await app.store.write(updateUser, { userId: user.id, displayName })
    const raw = await verify(await app.signIn(user, 'stateful'))
    assert.deepEqual(
      [raw.status, utf8(raw.headers, 'remote-user')],
      [200, 'zoë'],
      JSON.stringify(displayName),
    )
    assert.doesNotMatch(utf8(raw.headers, 'remote-name'), /\p{Cc}/u)
  }
})

test('a user without a username is known by the id, never by the external id, which could be the name of another (F1)', async () => {
  const nameless = await app.user()
  const proof = await app.signIn(nameless, 'stateful')
  await app.database.change(
    `update "user" set username = null, external_id = 'ann' where id = '${nameless.id}'`,
  )
  const { status, headers } = await verify(proof)
  assert.equal(status, 200)
  for (const name of ['remote-user', 'remote-name', 'remote-user-id'])
    assert.equal(headers.get(name), nameless.id, name)
})

test('a username that looks like the id of another user is not sent: the id is (F1)', async () => {
  const nameless = await app.user()
  await app.database.change(`update "user" set username = null where id = '${nameless.id}'`)
  const impostor = await app.user(nameless.id.toUpperCase())
  const { status, headers } = await verify(await app.signIn(impostor, 'stateful'))
  assert.equal(status, 200)
  for (const name of ['remote-user', 'remote-name', 'remote-user-id'])
    assert.equal(headers.get(name), impostor.id, name)
})

test('a disabled user, an unknown proof and no proof get 401, and a token of scope inbox 403, all without a name (F1)', async () => {
  const gone = await app.user('gone')
  const proofs = await Promise.all(variants.map((variant) => app.signIn(gone, variant)))
  await app.store.write(disableUser, { userId: gone.id, at: app.now() })
  const { key } = await app.producerKey(['users'])
  const unknown = [
    { cookie: `__Host-carillon=${gone.id}.${'A'.repeat(22)}.${'A'.repeat(43)}` },
    { authorization: `Bearer ${key}` },
  ]
  for (const proof of [...proofs, ...unknown, {}, { authorization: 'Basic YTpi' }]) {
    const { status, headers } = await verify(proof)
    assert.deepEqual([status, headers.get('remote-user')], [401, null], JSON.stringify(proof))
    assert.equal(headers.get('location'), null)
  }
  const scoped = await verify(await app.issueToken(ann))
  assert.deepEqual([scoped.status, scoped.headers.get('remote-user')], [403, null])
})

test('a browser behind Traefik or Caddy gets 302 to the sign-in page, which leads back', async () => {
  for (const url of [`${origin}/wiki/?page=1&x=%2F`, `${origin}:8443/`, `${origin}/sch%C3%B6n`]) {
    const { status, headers } = await verify({
      ...browser,
      ...forwarded(url),
      'x-forwarded-method': 'POST',
    })
    assert.deepEqual([status, headers.get('location')], [302, signInFor(url)])
  }
  const program = await verify({ accept: 'application/json', ...forwarded(`${origin}/wiki`) })
  assert.deepEqual([program.status, program.json().error.code], [401, 'UNAUTHORIZED'])
})

test('nginx gets 401 with the sign-in page in Location, because auth_request passes no redirect on', async () => {
  for (const accept of [browser, {}]) {
    const { status, headers } = await verify({
      ...accept,
      'x-original-url': `${origin}/wiki/?a=b&c`,
    })
    assert.deepEqual([status, headers.get('location')], [401, signInFor(`${origin}/wiki/?a=b&c`)])
  }
  const proof = await app.signIn(ann, 'stateful')
  assert.equal((await verify({ ...proof, 'x-original-url': `${origin}/wiki/` })).status, 200)
})

test('a URL of another site is left out of the way back (P1)', async () => {
  const elsewhere = [
    'https://evil.example/',
    'https://home.example.org.evil.example/',
    'https://home.example.org:444/',
    'http://home.example.org/',
    'https://ann@home.example.org/',
    'https://home.example.org@evil.example/',
    'https://evil.example\\@home.example.org/',
    'javascript:alert(1)',
    'https:evil.example',
    '//evil.example/',
    '/wiki',
    'https://',
    `${origin}/${'x'.repeat(1_024)}`,
    `${origin}/, https://evil.example/`,
  ]
  for (const url of elsewhere) {
    const nginx = await verify({ ...browser, 'x-original-url': url })
    assert.deepEqual([nginx.status, nginx.headers.get('location')], [401, signIn], url)
    const { status, headers } = await verify({ ...browser, ...forwarded(url) })
    assert.deepEqual([status, headers.get('location')], [302, signIn], url)
  }
  for (const missing of ['proto', 'host', 'uri']) {
    const { [`x-forwarded-${missing}`]: _, ...rest } = forwarded(`${origin}/wiki`)
    assert.equal((await verify({ ...browser, ...rest })).headers.get('location'), signIn, missing)
  }
})

test('a forwarding header of a peer that is not a trusted proxy does not choose the way back (A11)', async () => {
  for (const claimed of [forwarded(`${origin}/wiki`), { 'x-original-url': `${origin}/wiki` }]) {
    const { headers } = await verify({ ...browser, ...claimed }, untrusting)
    assert.equal(headers.get('location'), `${origin}/hello/sign-in`)
  }
})

test('an internal host name of a proxy is accepted, because a page that rebinds its name has no cookie here (L6)', async () => {
  const { cookie = '' } = await app.signIn(ann, 'stateful')
  const statusFor = async (...lines: string[]) => {
    const head = ['GET /verify HTTP/1.1', 'Host: carillon:7464', 'Connection: close', ...lines]
    return /^HTTP\/1\.1 (\d+)/.exec(await app.raw(`${head.join('\r\n')}\r\n\r\n`))?.[1]
  }
  assert.equal(await statusFor(), '401')
  assert.equal(await statusFor(`Cookie: ${cookie}`), '200')
})
