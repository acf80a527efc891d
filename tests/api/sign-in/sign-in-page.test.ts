import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { refusalIn } from '../../support/http/envelope.ts'
import { type HttpResponse, type Proof, startTestService } from '../../support/service.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'

const publicUrl = 'https://example.org/bell'
const shop = 'https://app.example'
const app = await startTestService({
  env: {
    CARILLON_PUBLIC_URL: publicUrl,
    CARILLON_ALLOWED_ORIGINS: `${shop},http://localhost:3000`,
    CARILLON_SMTP_URL: 'smtp://127.0.0.1:9',
  },
})
after(() => app.stop())
// A user may sign in 60 times at once, and then once in ten seconds.
beforeEach(() => app.pass(600_000))
const ann = await app.user('ann')
const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

function send(
  fields: Record<string, string>,
  headers: Proof = asBrowser,
  path = '/sign-in',
): Promise<HttpResponse> {
  return app.request(path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })
}

const right = { username: ann.username, password: ann.password }
const sentenceIn = ({ text }: HttpResponse) => /role="alert">([^<]*)</.exec(text)?.[1]
const isPage = ({ headers }: HttpResponse) =>
  headers.get('content-type') === 'text/html; charset=utf-8'

test('the form leads with 303 and a session to return_to, or to the inbox', async () => {
  for (const [place, location] of [
    [undefined, '/bell/inbox'],
    ['', '/bell/inbox'],
    ['/bell/inbox?category=a#b', '/bell/inbox?category=a#b'],
    ['/other-application', '/other-application'],
    [`${shop}/orders?id=7#top`, `${shop}/orders?id=7#top`],
    [shop, `${shop}/`],
  ] as const) {
    const { status, headers } = await send({
      ...right,
      ...(place !== undefined && { return_to: place }),
    })
    assert.deepEqual([status, headers.get('location')], [303, location])
    const [session = ''] = headers.getSetCookie()
    assert.match(
      session,
      /^__Secure-carillon=[^;]+; Path=\/bell; .*HttpOnly; SameSite=Lax; Secure$/,
    )
    assert.equal((await app.get('/api/me', { cookie: session.split(';')[0] ?? '' })).status, 200)
  }
})

// server/pages/places.test.ts has the tricks that an address can hold.
test('a return_to to another site is ignored by the form, the page, its button and the way back from a provider (P1)', async () => {
  const proof = { ...asBrowser, ...(await app.signIn(ann, 'stateful')) }
  const trick = '/\\evil.example'
  const query = `return_to=${encodeURIComponent(trick)}`
  const form = await send({ ...right, return_to: trick })
  assert.deepEqual([form.status, form.headers.get('location')], [303, '/bell/inbox'])
  const page = await app.get(`/sign-in?${query}`, asBrowser)
  assert.doesNotMatch(page.text, /name="return_to"|evil/)
  for (const [wanted, place] of [
    [trick, '/bell/inbox'],
    [`${shop}/a`, `${shop}/a`],
  ] as const) {
    const path = `/sign-in?return_to=${encodeURIComponent(wanted)}`
    const { text } = await app.get(path, proof)
    assert.equal(/class="button primary whole" href="([^"]*)"/.exec(text)?.[1], place)
    const { status, headers } = await app.request(`${path}&after=provider`, {
      headers: proof,
      redirect: 'manual',
    })
    assert.deepEqual([status, headers.get('location')], [303, place])
  }
  for (const malformed of ['return_to=/a&return_to=/b', 'return_to=%ff', 'return_to'])
    assert.match(
      (await app.get(`/sign-in?${malformed}`, asBrowser)).text,
      /data-next="\/bell\/inbox"/,
    )
})

test('a browser gets a page for every refusal, with its status, the username and a sentence; a program gets the envelope', async () => {
  const wrong = { ...right, password: 'not the password' }
  const cases: [HttpResponse, number, string][] = [
    [await send(wrong), 401, 'The username or the password is wrong.'],
    [
      await send({ username: 'nobody', password: 'x' }),
      401,
      'The username or the password is wrong.',
    ],
    [
      await send({ ...right, password: 'x'.repeat(300) }),
      401,
      'The username or the password is wrong.',
    ],
    [
      await send({ username: ann.username, password: '' }),
      400,
      'Enter your username and password.',
    ],
    [await send({}), 400, 'Enter your username and password.'],
    [
      await send({ challenge: 'none', code: '123456', username: 'ann' }),
      401,
      'This took longer than 5 minutes',
    ],
    [await send({ challenge: 'none', code: ' ', username: 'ann' }), 400, 'Enter a code.'],
    [await send({ ...right, password: 'x'.repeat(20_000) }), 413, 'The service refused this.'],
  ]
  for (const [response, status, sentence] of cases) {
    assert.equal(response.status, status, sentence)
    assert.ok(isPage(response), sentence)
    assert.ok(
      sentenceIn(response)?.startsWith(sentence),
      `${sentenceIn(response)} is not ${sentence}`,
    )
    assert.match(response.headers.get('cache-control') ?? '', /no-store/)
    assert.deepEqual(response.headers.getSetCookie(), [])
  }
  assert.match((await send(wrong)).text, /name="username" value="ann"/)
  assert.equal(refusalIn(await send(wrong, { accept: '*/*' })).code, 'INVALID_CREDENTIALS')
})

test('the forms take what the longest values need, and the page repeats no longer name than a user can have (I2)', async () => {
  const longest = {
    username: '\u{20000}'.repeat(64),
    password: '\u4e00'.repeat(256),
    return_to: `/${'&'.repeat(1_023)}`,
  }
  assert.equal((await send(longest)).status, 401)
  const oversized = { username: ann.username, password: 'p'.repeat(8 * 1024) }
  assert.equal((await send(oversized)).status, 413)
  assert.equal((await send({ account: 'a'.repeat(4 * 1024) }, asBrowser, '/forgot')).status, 413)
  const long = await send({ username: '"'.repeat(2_000), password: 'x' })
  assert.equal(long.status, 401)
  assert.match(long.text, /name="username" value=""/)
  const step = await send({ username: '"'.repeat(2_000), challenge: 'a', factors: 'totp' })
  assert.match(step.text, /name="username" value=""/)
})

test('a form sent as JSON has the same refusals: no value of another type is a failure of the service (L1)', async () => {
  const json = (body: unknown) =>
    app.request('/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...asBrowser },
      body: JSON.stringify(body),
    })
  const strange = [
    { username: 5 },
    { username: ['ann'] },
    { challenge: 5 },
    { challenge: 'a', factors: 5 },
    { return_to: {} },
  ]
  for (const body of [...strange, { challenge: 'x'.repeat(129), code: '1' }, null, [], 'ann']) {
    const response = await json(body)
    assert.equal(response.status, 400, JSON.stringify(body))
    assert.ok(isPage(response), JSON.stringify(body))
  }
})

test('too many wrong passwords are 429 with the time to wait in words', async () => {
  const wrong = { username: 'guessed', password: 'not the password' }
  for (let n = 0; n < 5; n++) assert.equal((await send(wrong)).status, 401)
  const delayed = await send(wrong, { ...asBrowser, 'accept-language': 'de' })
  assert.equal(delayed.status, 429)
  assert.ok(Number(delayed.headers.get('retry-after')) > 0)
  assert.match(
    sentenceIn(delayed) ?? '',
    /^Das waren zu viele Versuche\. Versuchen Sie es in \d+ \S+ noch einmal\.$/,
  )
  assert.match(delayed.text, /value="guessed"/)
})

test('a form of another site is refused with a page, with or without a cookie, and signs nobody in (C1)', async () => {
  const { cookie } = await app.signIn(ann, 'stateful')
  for (const from of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
  ])
    for (const path of ['/sign-in', '/forgot'])
      for (const own of [{}, { cookie: cookie ?? '' }]) {
        const response = await send(
          { ...right, account: 'ann' },
          { ...asBrowser, ...from, ...own },
          path,
        )
        assert.equal(response.status, 403)
        assert.ok(isPage(response))
        assert.match(
          response.text,
          /role="alert">The form was sent from another site, so it was refused\./,
        )
        assert.deepEqual(response.headers.getSetCookie(), [])
      }
  assert.equal(refusalIn(await send(right, { origin: 'https://evil.example' })).code, 'FORBIDDEN')
})

test('what a link or a form chose is text in the page, never markup', async () => {
  const markup = '"><script>alert(1)</script>'
  const page = await send({
    username: markup,
    password: 'x',
    challenge: markup,
    factors: `totp ${markup}`,
  })
  assert.match(page.text, /value="&quot;&gt;&lt;script&gt;/)
  assert.doesNotMatch(page.text, /<script>/)
})

test('the page may send its form to the allowed origins and load nothing but its own files', async () => {
  const { headers } = await app.get('/sign-in', asBrowser)
  assert.equal(
    headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      `form-action 'self' https://example.org ${shop} http://localhost:3000; frame-ancestors 'none'; base-uri 'none'`,
  )
})

test('the second step is a page with status 200, and its code completes the sign-in with a session', async () => {
  const careful = await carefulUser(app)
  const { username, password } = careful
  const step = await send({ username, password, return_to: shop })
  assert.equal(step.status, 200)
  const field = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(step.text)?.[1] ?? ''
  const form = {
    challenge: field('challenge'),
    factors: field('factors'),
    username,
    return_to: field('return_to'),
  }
  assert.deepEqual([form.factors, form.return_to], ['totp recovery-code', `${shop}/`])
  const refused = await send({ ...form, code: careful.app.wrongCode(app.now()) })
  assert.equal(refused.status, 401)
  assert.ok(refused.text.includes(`name="challenge" value="${form.challenge}"`))
  const { status, headers } = await send({ ...form, code: careful.app.code(app.now()) })
  assert.deepEqual([status, headers.get('location')], [303, `${shop}/`])
  const late = await send({ ...form, code: careful.app.code(app.now(), 1) })
  assert.equal(late.status, 401)
  assert.match(sentenceIn(late) ?? '', /^This took longer than 5 minutes/)
  assert.match(late.text, /id="password"/)
})

test('without a store the form is displayed again with 503, and nothing but the password is lost', async () => {
  const without = await startTestService()
  await without.store.close()
  const response = await without.request('/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...asBrowser },
    body: 'username=ann&password=violet&return_to=/inbox',
  })
  await without.stop()
  assert.equal(response.status, 503)
  assert.match(sentenceIn(response) ?? '', /^The service is busy\. Try again in \d+ seconds?\.$/)
  for (const kept of ['name="username" value="ann"', 'name="return_to" value="/inbox"'])
    assert.ok(response.text.includes(kept), kept)
  assert.ok(!response.text.includes('violet'))
})

test('the page asks for a username alone, until a user of no application has a verified address', async () => {
  const own = await startTestService()
  try {
    const labelOf = async () => {
      const { text } = await own.get('/sign-in', asBrowser)
      return /<label for="username">([^<]*)</.exec(text)?.[1]
    }
    const create = async (user: object, application?: string) => {
      const { key } = await own.producerKey(['users'], null, application)
      const made = await own.post('/api/users', user, { authorization: `Bearer ${key}` })
      assert.equal(made.status, 201, made.text)
    }
    await create({ username: 'ann', email: 'ann@example.org' })
    await create({ username: 'ben', email: 'ben@example.org', emailVerified: true }, 'shop')
    assert.equal(await labelOf(), 'Username')
    await create({ username: 'lee', email: 'lee@example.org', emailVerified: true })
    assert.equal(await labelOf(), 'Username or e-mail address')
  } finally {
    await own.stop()
  }
})
