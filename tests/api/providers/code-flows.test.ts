// Only the page that began by a form gets a token for the code, wherever a link or a page redirects
// to (RFC 9700, sections 2.1 and 4.1).
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, suite, test } from 'node:test'
import { linkProviderAccount } from '../../../server/providers/provider-accounts.store.ts'
import {
  factsIn,
  ProviderBrowser,
  providerSetting,
  startWithProvider,
} from '../../support/http/provider-browser.ts'
import { type Proof, startTestService } from '../../support/service.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'

const page = 'https://shop.example'
const other = 'https://blog.example'
const env = { CARILLON_ALLOWED_ORIGINS: `${page},${other}` }
const { app, provider, browser, stop } = await startWithProvider({ createUsers: true }, { env })
after(stop)

function newVerifier() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

const exchange = (body: object, headers: Proof = {}) => app.post('/login/with/staff', body, headers)
const link = (userId: string, subject: string) =>
  app.store.write(linkProviderAccount, {
    issuer: provider.url,
    subject,
    userId,
    email: null,
    at: app.now(),
    audit: [],
  })
const reasonOf = (response: Awaited<ReturnType<typeof app.get>>) =>
  JSON.stringify(response.json().error.details)

test('an attacker gets no token by a link with an own challenge and an open redirect at an allowed origin (P6)', async () => {
  const { verifier, challenge } = newVerifier()
  const open = encodeURIComponent(`${page}/go?to=https://evil.example`)
  const victim = browser()
  for (const query of [
    `?variant=stateless&challenge=${challenge}&return_to=${open}`,
    `?challenge=${challenge}&return_to=/account`,
    `?variant=stateful&challenge=${challenge}`,
    `?variant=stateless&return_to=${open}`,
  ]) {
    const refused = await victim.start('staff', query)
    assert.equal(refused.status, 400, query)
    assert.match(reasonOf(refused), /POST \/login\/with\/staff\/start/)
  }
  for (const origin of [
    'https://evil.example',
    'null',
    undefined,
    `${page}.evil.example`,
    app.url.replace('http', 'https'),
  ]) {
    const refused = await victim.startByForm('staff', { return_to: open, challenge }, origin)
    assert.equal(refused.status, 403, String(origin))
  }
  assert.deepEqual(victim.begun, [])

  // The page itself may still send the browser on to the attacker, with the fragment.
  const own = newVerifier()
  const form = { return_to: `${page}/go?to=https://evil.example`, challenge: own.challenge }
  const code = await victim.codeByForm('staff', 'ann', { form, origin: page })
  for (const [body, headers] of [
    [{ code }, {}],
    [{ code, verifier }, { origin: page }],
    [{ code, verifier: own.verifier }, {}],
    [{ code, verifier: own.verifier }, { origin: other }],
    [
      { code, verifier: own.verifier },
      { origin: other, ...victim.proof },
    ],
    [{ code }, { origin: page, ...victim.proof }],
  ] as const)
    assert.equal((await exchange(body, headers)).status, 401)
  assert.equal(
    (await exchange({ code, verifier: own.verifier }, { origin: 'https://evil.example' })).status,
    403,
  )
  const done = await exchange({ code, verifier: own.verifier }, { origin: page })
  assert.equal(done.status, 200, done.text)
})

test('with the default variant stateless, a link to another origin is refused, too (P6)', async (t) => {
  const stateless = await startWithProvider({}, { env: { ...env, CARILLON_VARIANT: 'stateless' } })
  t.after(stateless.stop)
  assert.equal((await stateless.browser().start('staff', `?return_to=${page}/`)).status, 400)
  assert.equal(
    (await stateless.browser().start('staff', `?variant=stateful&return_to=${page}/`)).status,
    302,
  )
  assert.equal((await stateless.browser().start('staff', '?return_to=/app')).status, 302)
})

suite('a form begins the flow', () => {
  test('the browser goes on to the provider by 303 and keeps the flow in its cookie', async () => {
    const ann = browser()
    const begun = await ann.startByForm(
      'staff',
      { return_to: `${page}/app`, challenge: newVerifier().challenge },
      page,
    )
    assert.equal(begun.status, 303, begun.text)
    assert.equal(new URL(begun.location).origin, new URL(provider.url).origin)
    assert.equal(ann.begun.length, 1)
  })

  test('`return_to` has exactly the origin of the page', async () => {
    for (const [wanted, origin] of [
      [`${other}/app`, page],
      ['/app', page],
      [undefined, page],
      [`${page}/app`, app.url],
      [`${page}.evil.example/`, page],
    ] as const) {
      const refused = await browser().startByForm(
        'staff',
        wanted === undefined ? {} : { return_to: wanted },
        origin,
      )
      assert.equal(refused.status, 400, `${wanted} ${origin}`)
      assert.match(reasonOf(refused), /return_to/)
    }
  })

  test('from a page of the service, the code belongs to the cookie of the browser, and to the verifier if there is one', async () => {
    const ann = browser()
    const { verifier, challenge } = newVerifier()
    const code = await ann.codeByForm('staff', 'ann', {
      form: { return_to: '/app', challenge },
      origin: app.url,
    })
    assert.equal((await exchange({ code, verifier })).status, 401)
    assert.equal((await exchange({ code }, ann.proof)).status, 401)
    const done = await exchange({ code, verifier }, ann.proof)
    assert.equal(done.status, 200, done.text)
    ann.keep(done)
    assert.deepEqual(ann.begun, [])
    const plain = await ann.codeByForm('staff', 'ann', {
      form: { return_to: '/app' },
      origin: app.url,
    })
    assert.equal((await exchange({ code: plain })).status, 401)
    assert.equal((await exchange({ code: plain }, ann.proof)).status, 200)
  })

  test('from another origin of the same site, without a challenge, it belongs to the cookie and to that origin', async () => {
    const ann = browser()
    const code = await ann.codeByForm('staff', 'ann', {
      form: { return_to: `${page}/app` },
      origin: page,
    })
    assert.equal((await exchange({ code }, { origin: page })).status, 401)
    assert.equal((await exchange({ code }, { ...ann.proof, origin: other })).status, 401)
    assert.equal((await exchange({ code }, { ...ann.proof, origin: page })).status, 200)
  })
})

test('the challenge of a second factor in the fragment is of use only in the browser that began (P6)', async () => {
  const user = await carefulUser(app)
  await link(user.id, 'careful')
  const careful = browser()
  const { challenge = '' } = factsIn(
    (await careful.signIn('staff', 'careful', `?return_to=${page}/go`)).location,
  )
  const code = user.app.code(app.now())
  const complete = (headers: Proof) =>
    app.post('/login/second-factor', { challenge, code }, headers)
  const stranger = browser()
  await stranger.start('staff')
  for (const headers of [{}, stranger.proof]) assert.equal((await complete(headers)).status, 401)
  const form = await app.request('/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ challenge, code }).toString(),
  })
  assert.equal(form.status, 401)
  const done = await complete(careful.proof)
  assert.equal(done.status, 200, done.text)
  careful.keep(done)
  assert.deepEqual([careful.jar.has('carillon'), careful.begun], [true, []])
})

test('a new password between the way back and the exchange makes the code worthless', async () => {
  const user = await app.user()
  await link(user.id, 'changes')
  const changing = browser()
  const code = await changing.code('staff', 'changes')
  const body = { currentPassword: user.password, newPassword: 'grey herons at the gate' }
  const changed = await app.request('/api/me/password', {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...(await app.signIn(user, 'stateful')) },
    body: JSON.stringify(body),
  })
  assert.equal(changed.status, 204, changed.text)
  assert.equal((await exchange({ code }, changing.proof)).status, 401)
})

test('a code is of use at its own provider only', async (t) => {
  const two = { staff: { createUsers: true }, guests: { issuer: 'https://guests.example' } }
  const both = await startTestService({ env: { ...env, ...providerSetting(provider, two) } })
  t.after(() => both.stop())
  provider.addClient(both.url, 'staff')
  const send: ConstructorParameters<typeof ProviderBrowser>[0]['send'] = (path, headers, init) =>
    both.request(path, { redirect: 'manual', headers, ...init })
  const ann = new ProviderBrowser({ app: both, provider, send })
  const code = await ann.code('staff', 'ann')
  assert.equal((await both.post('/login/with/guests', { code }, ann.proof)).status, 401)
  assert.equal((await both.post('/login/with/staff', { code }, ann.proof)).status, 200)
})

suite('CARILLON_RETURN_URLS', async () => {
  const listed = `${page}/signed-in?shop=1`
  const strict = await startWithProvider(
    { createUsers: true },
    { env: { ...env, CARILLON_RETURN_URLS: `${listed}, https://app.example.net/back` } },
  )
  after(strict.stop)

  test('no other `return_to` is accepted, by link and by form (P6)', async () => {
    for (const place of [
      `${page}/signed-in`,
      `${listed}#x`,
      `${listed}&more=1`,
      `${page}/`,
      '/kitchen',
      '/account/x',
      `${strict.app.url}/account`,
    ]) {
      const refused = await strict
        .browser()
        .start('staff', `?return_to=${encodeURIComponent(place)}`)
      assert.equal(refused.status, 400, place)
      assert.match(reasonOf(refused), /CARILLON_RETURN_URLS/)
      if (place.startsWith(page))
        assert.equal(
          (await strict.browser().startByForm('staff', { return_to: place }, page)).status,
          400,
          place,
        )
    }
    for (const place of [listed, 'https://app.example.net/back', '/account#factors'])
      assert.equal(
        (await strict.browser().signIn('staff', 'ann', `?return_to=${encodeURIComponent(place)}`))
          .location,
        place,
      )
    assert.equal(
      (await strict.browser().startByForm('staff', { return_to: listed }, page)).status,
      303,
    )
    assert.equal(
      (await strict.browser().startByForm('staff', { return_to: listed }, other)).status,
      400,
    )
  })

  test('the pages of the service itself stay in use, and lead on to the listed URLs only', async () => {
    const providerLink = async (place: string) => {
      const { text } = await strict.app.get(`/sign-in?return_to=${encodeURIComponent(place)}`)
      return /href="(login\/with\/staff[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    }
    const ann = strict.browser()
    const start = await ann.send(`/${await providerLink(listed)}`)
    const back = await ann.comeBack(start.location, 'ann')
    assert.equal(back.location, `/sign-in?after=provider&return_to=${encodeURIComponent(listed)}`)
    assert.equal((await ann.send(back.location)).location, listed)
    assert.doesNotMatch(await providerLink(`${page}/go`), /shop\.example/)
    assert.equal(
      (await ann.send(`/sign-in?after=provider&return_to=${page}/go`)).location,
      '/inbox',
    )
  })
})
