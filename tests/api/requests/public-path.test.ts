// A proxy strips the path: `CARILLON_PUBLIC_URL=https://app.example/bell/`.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createCarillon, createProducer } from '../../../client/carillon-client.ts'
import { CookieJar } from '../../../client/testing/cookie-jar.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'
import { startTestService } from '../../support/service.ts'

const behind = await startBehindPath()
const { service, url } = behind
after(() => behind.stop())
const ann = await service.user('ann')

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

test('the issuer and audience of a token are the public URL without its last slash, and the keys are below it', async () => {
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ann', password: ann.password, variant: 'stateless' }),
  })
  const { token } = (await login.json()) as { token: string }
  const { iss, aud } = claimsOf(token)
  assert.deepEqual({ iss, aud }, { iss: url, aud: url })
  const me = await fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(me.status, 200)
  const { keys } = (await (await fetch(`${iss}/.well-known/jwks.json`)).json()) as {
    keys: unknown[]
  }
  assert.equal(keys.length, 1)
})

test('the cookie has the path of the public URL; on HTTPS its name then has the prefix __Secure- (S1)', async (t) => {
  const secure = await startTestService({
    env: { CARILLON_PUBLIC_URL: 'https://app.example/bell/' },
  })
  t.after(() => secure.stop())
  const { username, password } = await secure.user()
  const login = await secure.post('/login', { username, password })
  const [line = ''] = login.headers.getSetCookie()
  assert.match(
    line,
    /^__Secure-carillon=\S+; Path=\/bell; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
  )
  const proof = { cookie: line.split(';')[0] ?? '' }
  assert.equal((await secure.get('/api/me', proof)).status, 200)
  const logout = await secure.post('/logout', undefined, proof)
  assert.deepEqual(logout.headers.getSetCookie(), [
    '__Secure-carillon=; Path=/bell; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
  ])
  const plain = await service.post('/login', { username: 'ann', password: ann.password })
  for (const [n, name] of ['carillon', 'carillon-device'].entries())
    assert.match(
      plain.headers.getSetCookie()[n] ?? '',
      new RegExp(`^${name}=\\S+; Path=/bell; Max-Age=\\d+; HttpOnly; SameSite=Lax$`),
    )
})

test('the client with a path in baseUrl signs in by cookie, lists, and follows the stream', async () => {
  const { fetch: fetchWithCookies } = new CookieJar()
  for (const baseUrl of [url, `${url}/`]) {
    const carillon = createCarillon({ baseUrl, fetch: fetchWithCookies })
    await carillon.login({ username: 'ann', password: ann.password, variant: 'stateful' })
    const { key } = await service.producerKey()
    for await (const event of carillon.inbox.subscribe()) {
      if (event.type !== 'hello') break
      await createProducer({ baseUrl, key }).send({
        recipients: [{ userId: ann.id }],
        title: `to ${baseUrl}`,
      })
    }
    const { items } = await carillon.inbox.list({ limit: 1 })
    assert.equal(items[0]?.title, `to ${baseUrl}`)
    await carillon.inbox.read(items[0]?.id ?? '')
    await carillon.logout()
  }
})

test('an id with a slash, percent-encoded in a path, arrives through the proxy as it was sent', async () => {
  const { key } = await service.producerKey(['send', 'users'])
  const authorization = `Bearer ${key}`
  const of = (id: string) => `${url}/api/users/external/${encodeURIComponent(id)}`
  const send = (method: string, address: string, body: object) =>
    fetch(address, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (const id of ['a/tokens', 'a'])
    assert.equal((await send('PUT', of(id), { displayName: id })).status, 201)
  const found = await fetch(of('a/tokens'), { headers: { authorization } })
  const { data } = (await found.json()) as { data: { externalId: string; displayName: string } }
  assert.deepEqual([data.externalId, data.displayName], ['a/tokens', 'a/tokens'])
  await send('POST', `${url}/api/notifications`, {
    recipients: [{ externalId: 'a/tokens' }],
    title: 'Hi',
  })
  const issued = await send('POST', `${of('a/tokens')}/tokens`, { scope: 'inbox' })
  assert.equal(issued.status, 201)
  const { token } = ((await issued.json()) as { data: { token: string } }).data
  const { unread } = await createCarillon({ baseUrl: url, auth: () => token }).inbox.counts()
  assert.equal(unread, 1)
})

test('/ greets a browser and leads to the documentation page, whose links all work below the path', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const start = await fetch(`${url}/`, { headers: { accept } })
  assert.equal(start.status, 200)
  const [, docs = ''] = /href="(docs)"/.exec(await start.text()) ?? []
  const page = await fetch(new URL(docs, start.url))
  const links = [...(await page.text()).matchAll(/href="([^"#]+)"/g)].map(
    ([, link = '']) => new URL(link, page.url),
  )
  for (const path of ['/', '/docs', '/docs/style.css', '/openapi.json', '/sign-in'])
    assert.ok(links.map(String).includes(url + path), `${path} is not among ${links}`)
  for (const link of links)
    assert.equal((await fetch(link, { headers: { accept } })).status, 200, link.href)
})

test('openapi.json names the public URL as its server', async () => {
  const { servers } = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: unknown }
  assert.deepEqual(servers, [{ url }])
})

test('a request that does not accept HTML gets JSON at /, which says that pages are for browsers and where the API is described', async (t) => {
  const app = await startTestService()
  t.after(() => app.stop())
  for (const accept of ['application/json', '*/*']) {
    const response = await app.get('/', { accept })
    assert.equal(response.status, 404)
    assert.match(
      response.json().error.message,
      /^Pages are for browsers\. \/docs and \/openapi\.json describe the API\.$/,
    )
  }
  assert.equal((await app.get('/', { accept: 'text/html' })).status, 200)
})
