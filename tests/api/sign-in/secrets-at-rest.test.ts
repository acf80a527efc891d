// docs/guarantees/secrets.md lists the secrets. On PostgreSQL the test reads the tables.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { ProviderBrowser, providerSetting } from '../../support/http/provider-browser.ts'
import { engine } from '../../support/network/database-behind.ts'
import { MailServer, shownMail } from '../../support/network/mail-server.ts'
import { clientSecret, startSignInProvider } from '../../support/network/sign-in-provider.ts'
import { addPasskey } from '../../support/passkeys.ts'
import { startTestService } from '../../support/service.ts'
import { carefulUser, challengeOf } from '../../support/sign-in/authenticator.ts'
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts'

// The test sees all that is passed to the log: every level, nothing redacted.
const lines: string[] = []
const log = pino({ level: 'trace', base: null }, { write: (line: string) => lines.push(line) })
const smtp = { user: 'bell', password: 'amber-harbour-of-the-mail-server' }
const mailServer = await MailServer.start({ auth: smtp, hasTls: false })
const provider = await startSignInProvider()
const env = {
  ...providerSetting(provider, { staff: { createUsers: true } }),
  CARILLON_SMTP_URL: mailServer.url.replace('//', `//${smtp.user}:${smtp.password}@`),
}
const app = await startTestService({ hashCost: usualCost, log, env })
provider.addClient(app.url, 'staff')
after(() => Promise.all([app.stop(), mailServer.stop(), provider.stop()]))

const json = { 'content-type': 'application/json' }

/** With mistakes and failures. Returns every secret that was in use. */
async function useEverything(): Promise<Record<string, string>> {
  const ann = await app.user('ann', 'violet kettle drum 77')
  const session = await app.signIn(ann, 'stateful')
  const token = await app.signIn(ann, 'stateless')
  const renewed = (await app.post('/token/renew', undefined, token)).json().token
  const { key } = await app.producerKey()
  await app.post(
    '/api/notifications',
    { recipients: [{ username: 'ann' }], title: 'Hi' },
    bearer(key),
  )
  await app.list(session)
  await app.list(token)
  app.pass(120_000)
  await app.list(session)

  // The same secrets in wrong places, and in invalid requests.
  const secret = session.cookie?.split('=')[1] ?? ''
  const bareToken = token.authorization?.split(' ')[1] ?? ''
  await app.get('/routeRestreinte', bearer(secret))
  await app.get('/routeRestreinte', { cookie: `carillon=${secret}x` })
  await app.get('/routeRestreinte', bearer(key))
  await app.get('/routeRestreinte', { cookie: `carillon=${bareToken}` })
  await app.get(`/routeRestreinte?access_token=${bareToken}`)
  await app.get(`/api/notifications?token=${bareToken}`, session)
  await app.get(`/${key}`)
  await app.post('/login', { username: 'ann', password: 'violet kettle drum 78' })
  await app.post('/login', { username: 'violet kettle drum 79', password: 'x' })
  await app.post('/login', {
    username: 'ann',
    password: ann.password,
    extra: 'violet kettle drum 80',
  })
  await app.request('/login', {
    method: 'POST',
    headers: json,
    body: '{"password":"violet kettle drum 81"',
  })
  await app.raw(
    `POST /login?violet+kettle+drum+82 HTTP/1.1\r\nConnection: close\r\nCookie: ${session.cookie}\r\n\r\n`,
  )

  const again = await app.post('/login', { username: 'ann', password: ann.password }, session)
  assert.equal(again.status, 200)

  // An internal failure, which is logged with all its properties.
  await app.database.change('alter table inbox rename to inbox_away')
  assert.equal((await app.get('/api/notifications', token)).status, 500)
  const failed = await app.post(
    '/api/notifications',
    { recipients: [{ username: 'ann' }], title: 'Hi' },
    bearer(key),
  )
  assert.equal(failed.status, 500)
  await app.database.change('alter table inbox_away rename to inbox')
  await app.post('/logout', undefined, { authorization: `Bearer ${renewed}` })
  // The sign-in above ended the session that it presented, so this sign-out ends nothing.
  await app.post('/logout', undefined, session)
  await app.post('/logout', undefined, {
    cookie: again.headers.getSetCookie()[0]?.split(';')[0] ?? '',
  })
  return {
    'the password': ann.password,
    'a wrong password': 'violet kettle drum 78',
    'a password in the field of the name': 'violet kettle drum 79',
    'a password in an unknown field': 'violet kettle drum 80',
    'a password in broken JSON': 'violet kettle drum 81',
    'a password in a query': 'violet+kettle+drum+82',
    'the cookie': secret,
    'the constant half of the cookie': secret.split('.')[1] ?? '',
    'the changing half of the cookie': secret.split('.')[2] ?? '',
    'the token': bareToken,
    'the signature of the token': bareToken.split('.')[2] ?? '',
    'the renewed token': renewed,
    'the signature of the renewed token': renewed.split('.')[2] ?? '',
    'the producer key': key,
    'the secret of the producer key': key.split('_').slice(2).join('_'),
  }
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const secrets: Record<string, string | Buffer> = await useEverything()
Object.assign(secrets, await useCredentials())

/** Returns every secret that was in use. */
async function useCredentials(): Promise<Record<string, string | Buffer>> {
  const { key } = await app.producerKey(['users'])
  const ben = await carefulUser(app, 'ben')
  const link = (
    await app.post(`/api/users/${ben.id}/links`, { purpose: 'reset' }, bearer(key))
  ).json().data.url
  const linkToken = link.split('#')[1]
  await app.get(`/reset?token=${linkToken}`)
  await app.get('/api/me', bearer(linkToken))
  await app.store.write(updateUser, { userId: ben.id, email: 'ben@example.org' })
  await app.post('/password/forgot', { username: 'ben' })
  const [mail] = await mailServer.received(1)
  const mailed = /reset#([\w-]{43})/.exec(mail ? shownMail(mail).text : '')?.[1] ?? ''
  const challenge = await challengeOf(app, ben, 'stateless')
  const code = ben.app.code(app.now())
  const signedIn = await app.post('/login/second-factor', { challenge, code })
  const { token, deviceToken } = signedIn.json()
  const other = await challengeOf(app, ben, 'stateful')
  await app.post('/login/second-factor', { challenge: other, recoveryCode: ben.recoveryCodes[0] })
  await app.post('/login/second-factor', {
    challenge: other,
    recoveryCode: `${ben.recoveryCodes[1]}x`,
  })
  await app.post('/login', {
    username: 'ben',
    password: ben.password,
    variant: 'stateless',
    deviceToken,
  })
  const used = await app.post('/password/reset', {
    token: linkToken,
    newPassword: 'seven quiet lanterns at sea',
  })
  assert.equal(used.status, 204)
  const { privateKey } = await addPasskey(app, new SoftwareAuthenticator({ origin: app.url }), ben)
  const visitor = new ProviderBrowser({
    app,
    provider,
    send: (path, headers, init) => app.request(path, { redirect: 'manual', headers, ...init }),
  })
  const signInCode = await visitor.code('staff', 'kim')
  const signedInWith = await app.post('/login/with/staff', { code: signInCode }, visitor.proof)
  assert.equal(signedInWith.status, 200)
  return {
    'the token of a link': linkToken,
    'the token of a mailed link': mailed,
    'the new password': 'seven quiet lanterns at sea',
    'the secret of an app': ben.app.base32,
    'the secret of an app, as bytes': ben.app.secret,
    'the recovery code that was used': ben.recoveryCodes[0] ?? '',
    'another recovery code': ben.recoveryCodes[1] ?? '',
    'a challenge': challenge.split('.')[1] ?? '',
    'the device token': deviceToken,
    'the seal of the device': deviceToken.split('.')[1],
    'the token after a second factor': token,
    'the private key of a passkey': `${privateKey.export({ format: 'jwk' }).d}`,
    'the client secret of a provider': clientSecret,
    'the code of a sign-in with a provider': signInCode,
    'the token after it': signedInWith.json().token,
    'the password of the mail server': smtp.password,
  }
}

test('S9: no secret of guarantees/secrets.md is readable in the database, its write-ahead log or a file beside it while the service runs', async () => {
  const files = await app.database.bytes()
  const places = {
    sqlite: [
      'carillon.db',
      'carillon.db-shm',
      'carillon.db-wal',
      'carillon.identity',
      'carillon.secret',
    ],
    postgres: Object.keys(await app.database.tables()),
  }
  assert.deepEqual(Object.keys(files).sort(), places[engine])
  if (engine === 'sqlite') assert.ok((files['carillon.db-wal']?.length ?? 0) > 0)
  isInNone(files)
})

test('S9: no secret is readable in the database files after a restart', async () => {
  await app.restart()
  isInNone(await app.database.bytes())
})

test('S9, A16: no secret is in any line of the log, and no hash of a password', () => {
  const failure = { sqlite: 'no such table', postgres: 'relation \\"inbox\\" does not exist' }[
    engine
  ]
  assert.ok(
    lines.some((line) => line.includes(failure)),
    'the failure was not logged',
  )
  isInNone({ log: Buffer.from(lines.join('')) })
  assert.ok(!lines.join('').includes('$argon2'))
})

test('S9, A8: the search works: it finds a username, a hash of a password with its parameters and that of a key', async () => {
  const bytes = Buffer.concat(Object.values(await app.database.bytes()))
  assert.ok(bytes.includes('$argon2id$v=19$m=19456,t=2,p=1$'))
  assert.ok(
    bytes.includes(
      createHash('sha256')
        .update(secrets['the secret of the producer key'] ?? '')
        .digest('base64url'),
    ),
  )
  assert.ok(bytes.includes('ann'))
})

test('S9: the signing key is stored only encrypted, and the secret of the service is in its own file only', async () => {
  const { 'carillon.secret': _, ...database } = await app.database.bytes()
  const sealing = app.sealingSecret
  assert.ok(sealing.length >= 43)
  for (const [name, bytes] of Object.entries(database)) {
    assert.ok(!bytes.includes(sealing), name)
    // The private part of an Ed25519 JWK is its member d (RFC 8037, section 2).
    assert.ok(!bytes.includes('"d":"'), name)
  }
})

function isInNone(places: Record<string, Buffer>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 20, name)
    for (const [place, bytes] of Object.entries(places))
      assert.ok(!bytes.includes(secret), `${name} is in ${place}`)
  }
}
