// Header fields arrive as latin1, and trim(), \s and URL.parse know more spaces and letters than
// HTTP.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sessionSecret, sessionSecrets } from '../../../server/http/request/credentials.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const https = await startTestService({ env: { CARILLON_PUBLIC_URL: 'https://bell.example.org' } })
const plain = await startTestService()
after(() => Promise.all([https.stop(), plain.stop()]))

/** Among them the blanks and letters that trim() and \s and toLowerCase() know. */
const bytesBeyondAscii = ['\x80', '\x85', '\xa0', '\xad', '\xc3', '\xff']
const controls = [...Array.from({ length: 32 }, (_, i) => String.fromCharCode(i)), '\x7f']
const blanks = [' ', '\t']

/** 0 if the connection ended without a response. */
async function statusOf(
  service: TestService,
  lines: readonly string[],
  start = 'GET /api/me',
  body = '',
): Promise<number> {
  const head = [
    `${start} HTTP/1.1`,
    `Host: ${new URL(service.url).host}`,
    'Connection: close',
    ...lines,
  ]
  const response = await service.raw(Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1'))
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1] ?? 0)
}

for (const [name, service] of [
  ['__Host-carillon', https],
  ['carillon', plain],
] as const)
  test(`a byte before or after the name makes ${name} another cookie, which neither signs in nor prevents a sign-in (S1)`, async () => {
    const victim = await service.user()
    const attacker = await service.user()
    const own = (await service.signIn(victim, 'stateful')).cookie ?? ''
    const planted = (await service.signIn(attacker, 'stateful')).cookie ?? ''
    const imitations = [
      ...bytesBeyondAscii,
      ...controls.filter((byte) => !blanks.includes(byte)),
    ].flatMap((byte) => [byte + planted, planted.replace('=', `${byte}=`)])
    for (const imitation of imitations) {
      const alone = await statusOf(service, [`Cookie: ${imitation}`])
      // HTTP allows no control byte in a field, so these are 400.
      assert.ok(
        alone === 401 || alone === 400,
        `${JSON.stringify(imitation)} alone returned ${alone}`,
      )
      if (alone === 400) continue
      for (const both of [`${imitation}; ${own}`, `${own}; ${imitation}`])
        assert.equal(await statusOf(service, [`Cookie: ${both}`]), 200, JSON.stringify(both))
      assert.equal(await statusOf(service, [`Cookie: ${imitation}`, `Cookie: ${own}`]), 200)
    }
    for (const blank of blanks)
      assert.equal(
        await statusOf(service, [
          `Cookie: a=b;${blank}${own.replace('=', `${blank}=${blank}`)}${blank};`,
        ]),
        200,
      )
  })

test('a byte before or after the value makes it another value, which opens nothing (S1)', async () => {
  const ann = await https.user()
  const cookie = (await https.signIn(ann, 'stateful')).cookie ?? ''
  for (const byte of [...bytesBeyondAscii, '"', "'", ',', '\\'])
    for (const other of [
      cookie.replace('=', `=${byte}`),
      cookie + byte,
      `${cookie.replace('=', `=${byte}`)}${byte}`,
    ])
      assert.equal(await statusOf(https, [`Cookie: ${other}`]), 401, JSON.stringify(other))
})

test('the values of a cookie header are those with exactly the name, each once', () => {
  assert.deepEqual(sessionSecrets(undefined, 'c'), [])
  assert.deepEqual(sessionSecrets('', 'c'), [])
  assert.deepEqual(
    sessionSecrets('c=1; d=2;c = 3 ;\tc\t=\t1;C=4;c;cc=5;=c=6;\xa0c=7;c\xa0=8;c=\xa09', 'c'),
    ['1', '3', '\xa09'],
  )
  assert.equal(sessionSecret('c=1; c=2', 'c'), null)
  assert.equal(sessionSecret('c=1; c=1', 'c'), '1')
  assert.equal(sessionSecret('c=1; \xa0c=2; c\xa0=2', 'c'), '1')
})

test('a byte around a media type or a charset is part of it, so the body is 415 (I1)', async () => {
  const types = bytesBeyondAscii.flatMap((byte) => [
    `${byte}application/json`,
    `application/json${byte}`,
    `application${byte}/json`,
    `application/${byte}json`,
    `application/json${byte};charset=utf-8`,
    `application/json;${byte}charset=utf-16`,
    `application/json;charset${byte}=utf-16`,
    `application/json;charset=${byte}utf-8`,
    `application/json;charset=utf-8${byte}`,
    `application/x-www-form-urlencoded${byte}`,
  ])
  const body = '{"username":"x","password":"y"}'
  const post = (type: string) =>
    statusOf(
      plain,
      [`Content-Type: ${type}`, `Content-Length: ${body.length}`],
      'POST /login',
      body,
    )
  for (const type of [
    ...types,
    'application/json;charset=utf-8;charset=utf-16',
    'application/json;charset=\tutf-16',
  ])
    assert.equal(await post(type), 415, JSON.stringify(type))
  for (const type of ['application/json\t;\tcharset=utf-8', 'Application/JSON; Charset="UTF-8"'])
    assert.equal(await post(type), 401, type)
})

test('a byte around the value of Authorization makes it no bearer token (T9)', async () => {
  const ann = await plain.user()
  const { authorization = '' } = await plain.signIn(ann, 'stateless')
  const { key } = await plain.producerKey()
  const delivery = JSON.stringify({ recipients: [{ username: ann.username }], title: 'Hi' })
  const deliver = (proof: string) =>
    statusOf(
      plain,
      [
        `Authorization: ${proof}`,
        'Content-Type: application/json',
        `Content-Length: ${delivery.length}`,
      ],
      'POST /api/notifications',
      delivery,
    )
  assert.deepEqual(
    [await statusOf(plain, [`Authorization: ${authorization}`]), await deliver(`Bearer ${key}`)],
    [200, 201],
  )
  for (const byte of bytesBeyondAscii)
    for (const place of [`${byte}Bearer`, `Bearer${byte}`, `Bear${byte}er`, `Bearer ${byte}`]) {
      assert.equal(
        await statusOf(plain, [`Authorization: ${authorization.replace('Bearer', place)}`]),
        401,
      )
      assert.equal(await deliver(`${place} ${key}`), 401)
    }
  for (const byte of bytesBeyondAscii) {
    assert.equal(await statusOf(plain, [`Authorization: ${authorization}${byte}`]), 401)
    assert.equal(await deliver(`Bearer ${key}${byte}`), 401)
  }
})

test("an Origin counts only in a browser's spelling: no byte, letter case or rest of a URL is repaired (C1)", async () => {
  const { username, password } = await plain.user()
  const body = JSON.stringify({ username, password })
  const { host } = new URL(plain.url)
  const login = (origin: string) =>
    statusOf(
      plain,
      [`Origin: ${origin}`, 'Content-Type: application/json', `Content-Length: ${body.length}`],
      'POST /login',
      body,
    )
  assert.equal(await login(`http://${host}`), 200)
  const others = bytesBeyondAscii.flatMap((byte) => [
    `http://${host}${byte}`,
    `${byte}http://${host}`,
    `http://${byte}${host}`,
    `http://${host.replace(':', `${byte}:`)}`,
  ])
  for (const other of [
    ...others,
    `http://${host}/`,
    `HTTP://${host}`,
    `http://a@${host}`,
    `http:\\\\${host}`,
    `http:${host}`,
  ])
    assert.equal(await login(other), 403, JSON.stringify(other))
})
