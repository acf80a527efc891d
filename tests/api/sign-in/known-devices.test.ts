// A user signs in while others guess the password (A23).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  type HttpResponse,
  startTestService,
  type TestUser,
  type Variant,
  variants,
} from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
after(() => app.stop())

const second = 1_000
const wrong = 'plum orchard gate 42'
let addressesUsed = 0
const newAddress = () => `198.18.${Math.floor(++addressesUsed / 256)}.${addressesUsed % 256}`

/** In its cookie, or (stateless) as the application does. */
class Device {
  readonly variant: Variant
  readonly address = newAddress()
  token: string | undefined
  #cookies = new Map<string, string>()

  constructor(variant: Variant) {
    this.variant = variant
  }

  async login({ username, password }: Omit<TestUser, 'id'>): Promise<HttpResponse> {
    const deviceToken =
      this.variant === 'stateless' && this.token ? { deviceToken: this.token } : {}
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { 'x-forwarded-for': this.address, ...(cookie !== '' && { cookie }) }
    const response = await app.post(
      '/login',
      { username, password, variant: this.variant, ...deviceToken },
      headers,
    )
    if (this.variant === 'stateless') this.token = response.json().deviceToken ?? this.token
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
      if (name === 'carillon-device') this.token = value
    }
    return response
  }
}

/** The delay is 1,024 s; each guess has a new address. */
async function attack({ username }: TestUser): Promise<void> {
  for (let n = 0; n < 40; n++) {
    const response = await app.post(
      '/login',
      { username, password: wrong },
      { 'x-forwarded-for': newAddress() },
    )
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after'))
      if (seconds === 1_024) return
      app.pass(seconds * second)
    }
  }
  assert.fail('the account was not delayed')
}

for (const variant of variants) {
  test(`during an attack, the owner signs in on a known device, and on no other (${variant}, A23)`, async () => {
    const ann = await app.user()
    const known = new Device(variant)
    const other = new Device(variant)
    assert.equal((await known.login(ann)).status, 200)
    await attack(ann)
    assert.equal((await known.login(ann)).status, 200)
    assert.equal((await other.login(ann)).status, 429)
    assert.equal(
      (await app.post('/login', { ...ann, id: undefined, password: wrong })).status,
      429,
      'the attack is still delayed',
    )
    await app.restart()
    assert.equal((await known.login(ann)).status, 200, 'also after a restart')
  })
}

test('100 guesses that wait together, of its user or of whatever name, do not delay a known device (A23, A12)', async () => {
  const ann = await app.user()
  const known = new Device('stateless')
  await known.login(ann)
  for (const username of [
    ann.username,
    `${ann.username} on a known device`,
    `known device of ${ann.username}`,
  ]) {
    const guesses = Array.from({ length: 100 }, () =>
      app.post('/login', { username, password: wrong }, { 'x-forwarded-for': newAddress() }),
    )
    assert.equal((await known.login(ann)).status, 200, username)
    await Promise.all(guesses)
  }
})

test('a known device has failures of its own, with the same delays (A9)', async () => {
  const ann = await app.user()
  const variant = 'stateful'
  const known = new Device(variant)
  const another = new Device(variant)
  for (const device of [known, another]) assert.equal((await device.login(ann)).status, 200)
  for (let n = 0; n < 5; n++)
    assert.equal((await known.login({ ...ann, password: wrong })).status, 401)
  const refused = await known.login(ann)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1'])
  assert.equal((await another.login(ann)).status, 200)
  assert.equal(
    (await new Device(variant).login(ann)).status,
    200,
    'nor do they delay an unknown device',
  )
  app.pass(1_000)
  assert.equal((await known.login(ann)).status, 200)
})

test('a sign-out keeps the device', async () => {
  const ann = await app.user()
  const device = new Device('stateful')
  const login = await device.login(ann)
  const cookie = login.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const logout = await app.post('/logout', undefined, { cookie })
  assert.ok(logout.headers.getSetCookie().every((line) => !line.startsWith('carillon-device=')))
})
