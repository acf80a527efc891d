import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { iso } from '../../../server/basics/clock.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const keyOf = async (application = '', scope: 'send' | 'users' = 'send'): Promise<Proof> => ({
  authorization: `Bearer ${(await app.producerKey([scope], null, application)).key}`,
})
const put = (path: string, body: unknown, proof: Proof) =>
  app.request(path, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...proof },
    body: JSON.stringify(body),
  })
const pathOf = (category: string) => `/api/categories/${encodeURIComponent(category)}`
const mute = (body: object, proof: Proof) => put('/api/me/preferences', body, proof)
const preferencesOf = async (proof: Proof) =>
  (await app.get('/api/me/preferences', proof)).json().data
const hour = 3_600_000
const inAnHour = () => iso(app.now() + hour)

async function ann(locale: string | null = null) {
  const user = await app.user()
  await app.store.write(updateUser, { userId: user.id, locale })
  return { user, proof: await app.signIn(user, 'stateless') }
}

suite('PUT and GET /api/categories/:name', () => {
  test('declares a category of the application, and replaces what was declared', async () => {
    const shop = await keyOf('shop')
    const full = {
      name: { en: 'Orders', de: 'Bestellungen' },
      description: { en: 'Each step' },
      mandatory: true,
      mail: null,
    }
    for (let n = 0; n < 2; n++) {
      const response = await put(pathOf('orders/é 1'), full, shop)
      assert.deepEqual([response.status, response.text], [204, ''])
    }
    assert.deepEqual((await app.get(pathOf('orders/é 1'), shop)).json().data, full)
    await put(pathOf('orders/é 1'), { name: 'Orders', description: null }, shop)
    const replaced = { name: 'Orders', description: null, mandatory: false, mail: null }
    assert.deepEqual((await app.get(pathOf('orders/é 1'), shop)).json().data, replaced)
  })

  test('a category that the application has not declared is 404, also if another application has', async () => {
    await put(pathOf('parcels'), { name: 'Parcels' }, await keyOf('shop'))
    for (const application of ['', 'club']) {
      const response = await app.get(pathOf('parcels'), await keyOf(application))
      assert.deepEqual([response.status, refusalIn(response).code], [404, 'NOT_FOUND'])
    }
  })

  test('a declaration with a fault is 400 and names the field', async () => {
    const shop = await keyOf('shop')
    const wrong: [category: string, body: unknown, field: string][] = [
      ['a', {}, 'name'],
      ['a', { name: { en: 'x'.repeat(65) } }, 'name.en'],
      ['a', { name: { english_us: 'A' } }, 'name.english_us'],
      ['a', { name: 'A', description: { 'not a tag': 'x' } }, 'description.not a tag'],
      ['a', { name: 'A', label: 'A' }, 'label'],
      ['x'.repeat(65), { name: 'A' }, 'category'],
      ['a\nb', { name: 'A' }, 'category'],
      ['__proto__', { name: 'A' }, 'category'],
      ['security', { name: 'A' }, 'category'],
    ]
    for (const [category, body, field] of wrong) {
      const response = await put(pathOf(category), body, shop)
      assert.equal(response.status, 400, `${response.text} ${JSON.stringify(body)}`)
      assert.equal(refusalIn(response).details?.[0]?.field, field, response.text)
    }
    assert.equal((await app.get(pathOf('a'), shop)).status, 404)
  })

  test('an application can declare 200 categories, and replace each', async () => {
    const many = await keyOf('many')
    const declare = async (n: number) => (await put(pathOf(`c${n}`), { name: 'A' }, many)).status
    for (let n = 0; n < 200; n++) assert.equal(await declare(n), 204)
    const refused = await put(pathOf('more'), { name: 'A' }, many)
    assert.deepEqual([refused.status, refusalIn(refused).code], [409, 'CONFLICT'])
    assert.match(refusalIn(refused).message, /200 categories at most/)
    assert.deepEqual([await declare(7), (await app.get(pathOf('more'), many)).status], [204, 404])
  })
})

suite('GET and PUT /api/me/preferences', () => {
  test('mutes everything or a category, and ends a mute, also with a token of an application', async () => {
    const proof = await app.issueToken(await app.user())
    assert.equal((await preferencesOf(proof)).mutedUntil, null)
    const until = inAnHour()
    const response = await mute(
      { mutedUntil: until, categories: { a: { mutedUntil: 'forever' } } },
      proof,
    )
    assert.deepEqual([response.status, response.text], [204, ''])
    await mute({ categories: { b: { mutedUntil: '2099-12-31T23:59:59+02:00' } } }, proof)
    const { mutedUntil, categories } = await preferencesOf(proof)
    assert.equal(mutedUntil, until)
    const undeclared = {
      description: null,
      mandatory: false,
      mail: null,
      push: null,
      usualMail: 'off',
    }
    assert.deepEqual(categories.a, { mutedUntil: 'forever', label: 'a', ...undeclared })
    assert.deepEqual(categories.b, {
      mutedUntil: '2099-12-31T21:59:59.000Z',
      label: 'b',
      ...undeclared,
    })
    await mute({ mutedUntil: null, categories: { a: { mutedUntil: null } } }, proof)
    const ended = await preferencesOf(proof)
    assert.deepEqual(
      [ended.mutedUntil, ended.categories.a, ended.categories.b],
      [null, undefined, categories.b],
    )
  })

  test('has what is declared and what is in the inbox, in the language of the user', async () => {
    const key = await keyOf()
    const texts = { fr: 'Paiements', de: 'Zahlungen', en: 'Payments' }
    await put(
      pathOf('payments'),
      { name: texts, description: { fr: 'Chaque paiement' }, mandatory: true },
      key,
    )
    for (const [locale, label] of [
      ['de-CH', 'Zahlungen'],
      [null, 'Payments'],
    ] as const) {
      const { user, proof } = await ann(locale)
      await app.deliver({ to: user, title: 'Hi', category: 'constructor' })
      const preferences = await preferencesOf(proof)
      assert.equal((await mute(preferences, proof)).status, 204, 'they can be sent back')
      const { categories } = preferences
      const payments = {
        mutedUntil: null,
        mail: null,
        push: null,
        usualMail: 'off',
        label,
        description: 'Chaque paiement',
        mandatory: true,
      }
      assert.deepEqual(categories.payments, payments)
      assert.equal(
        Object.getOwnPropertyDescriptor(categories, 'constructor')?.value.label,
        'constructor',
      )
    }
  })

  test('what was chosen before a category became mandatory can be sent back, and nothing else be turned off', async () => {
    const producer = await keyOf()
    const { proof } = await ann()
    const off = { categories: { alarms: { mail: 'off', mutedUntil: 'forever' } } }
    assert.equal((await mute(off, proof)).status, 204)
    await put(pathOf('alarms'), { name: 'Alarms', mandatory: true }, producer)
    const preferences = await preferencesOf(proof)
    assert.equal((await mute(preferences, proof)).status, 204)
    assert.equal((await mute({ categories: { alarms: { push: 'off' } } }, proof)).status, 409)
  })

  test('a user of an application has its categories and those of none, and not those of another', async () => {
    const users = await keyOf('shop', 'users')
    const inbox = await keyOf('', 'users')
    for (const [application, name] of [
      ['', 'both'],
      ['shop', 'both'],
      ['', 'of none'],
      ['club', 'of the club'],
    ] as const)
      await put(pathOf(name), { name: `${name} by ${application}` }, await keyOf(application))
    const { id } = (await put('/api/users/external/rosa', {}, users)).json().data
    const issued = await app.post(`/api/users/${id}/tokens`, { scope: 'inbox' }, inbox)
    const { categories } = await preferencesOf({
      authorization: `Bearer ${issued.json().data.token}`,
    })
    assert.deepEqual(
      [categories.both.label, categories['of none'].label],
      ['both by shop', 'of none by '],
    )
    assert.equal(categories['of the club'], undefined)
  })

  test('a body with a fault is 400 and names the field, and nothing is changed', async () => {
    const { proof } = await ann()
    const time = 'must be a time in the future (ISO 8601, with a time zone), "forever" or null'
    const wrong: [body: unknown, field: string, reason?: string][] = [
      [{ mutedUntil: iso(app.now()) }, 'mutedUntil', time],
      [{ mutedUntil: '2099-12-31T23:59:59' }, 'mutedUntil', time],
      [{ mutedUntil: '9999-12-31T23:59:59-05:00' }, 'mutedUntil', time],
      [{ mutedUntil: 'forever', until: null }, 'until'],
      [
        { mutedUntil: 'forever', categories: { a: { mutedUntil: 'x' } } },
        'categories.a.mutedUntil',
        time,
      ],
      [{ mutedUntil: 'forever', categories: { a: { mail: '2h' } } }, 'categories.a.mail'],
      [
        { mutedUntil: 'forever', timeZone: 'Europe/Nowhere' },
        'timeZone',
        'must be a time zone such as Europe/Berlin, or null',
      ],
      [{ mutedUntil: 'forever', quietHours: { from: '22:00', to: '7' } }, 'quietHours.to'],
      [{ quietHours: { from: '22:00', to: '22:00' } }, 'quietHours'],
      [{ mutedUntil: 'forever', digestAt: 24 }, 'digestAt'],
      [
        { mutedUntil: 'forever', categories: { a: { mutedUntil: null, name: 'A' } } },
        'categories.a.name',
      ],
      [{ categories: categoriesTo(201) }, 'categories'],
    ]
    for (const [body, field, reason] of wrong) {
      const response = await mute(body as object, proof)
      assert.equal(response.status, 400, `${response.text} ${JSON.stringify(body)}`)
      const [fault] = refusalIn(response).details ?? []
      assert.equal(fault?.field, field, response.text)
      if (reason !== undefined) assert.equal(fault?.reason, reason)
    }
    assert.equal((await preferencesOf(proof)).mutedUntil, null)
  })

  test('a mandatory category cannot be muted: 409, and nothing is changed', async () => {
    const { proof } = await ann()
    await put(pathOf('alarms'), { name: 'Alarms', mandatory: true }, await keyOf())
    const refused = await mute(
      { mutedUntil: 'forever', categories: { alarms: { mutedUntil: 'forever' } } },
      proof,
    )
    assert.deepEqual([refused.status, refusalIn(refused).code], [409, 'CONFLICT'])
    assert.match(refusalIn(refused).message, /alarms is mandatory/)
    const { mutedUntil, categories } = await preferencesOf(proof)
    assert.deepEqual([mutedUntil, categories.alarms.mutedUntil], [null, null])
    assert.equal((await mute({ categories: { alarms: { mutedUntil: null } } }, proof)).status, 204)
  })

  test('what the service reports about an account cannot be muted', async () => {
    const { user, proof } = await ann('fr')
    const before = await preferencesOf(proof)
    await app.deliver({ to: user, title: 'Hi', category: 'security' })
    const { security } = (await preferencesOf(proof)).categories
    assert.deepEqual(
      [before.categories.security, security.label, security.mandatory],
      [undefined, 'Sécurité', true],
    )
    const refused = await mute({ categories: { security: { mutedUntil: 'forever' } } }, proof)
    assert.equal(refused.status, 409)
  })

  test('a user can mute 200 categories, besides everything', async () => {
    const { proof } = await ann()
    assert.equal(
      (await mute({ mutedUntil: 'forever', categories: categoriesTo(200) }, proof)).status,
      204,
    )
    const one = { categories: { more: { mutedUntil: 'forever' } } }
    const refused = await mute(one, proof)
    assert.deepEqual([refused.status, refusalIn(refused).code], [409, 'CONFLICT'])
    assert.match(refusalIn(refused).message, /200 categories/)
    assert.equal(
      (await mute({ categories: { c0: { mutedUntil: null }, ...one.categories } }, proof)).status,
      204,
    )
  })
})

function categoriesTo(count: number) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`c${n}`, { mutedUntil: 'forever' }]),
  )
}

suite('the time zone of an application’s user', () => {
  test('comes with the user, in each way, and the user may choose another one', async () => {
    const key = await keyOf('shop', 'users')
    const path = '/api/users/external/zoned'
    const zoneOf = async () => {
      const issued = await app.request(`${path}/tokens`, {
        method: 'POST',
        headers: { ...key, 'content-type': 'application/json' },
        body: '{"scope":"inbox"}',
      })
      const proof = { authorization: `Bearer ${issued.json().data.token}` }
      return { proof, timeZone: (await preferencesOf(proof)).timeZone }
    }
    assert.equal((await put(path, { timeZone: 'Europe/Berlin' }, key)).status, 201)
    assert.equal((await zoneOf()).timeZone, 'Europe/Berlin')
    const entry = { externalId: 'zoned', timeZone: 'Asia/Tokyo' }
    assert.equal((await put('/api/users', { users: [entry] }, key)).status, 200)
    const { proof, timeZone } = await zoneOf()
    assert.equal(timeZone, 'Asia/Tokyo')
    await mute({ timeZone: 'UTC', quietHours: { from: '22:00', to: '06:00' } }, proof)
    await put(path, { displayName: 'Zoe' }, key)
    assert.equal((await zoneOf()).timeZone, 'UTC')
    const patched = await app.request(path, {
      method: 'PATCH',
      headers: { ...key, 'content-type': 'application/json' },
      body: '{"timeZone":null}',
    })
    assert.equal(patched.status, 200, patched.text)
    const { timeZone: none, quietHours } = await preferencesOf(proof)
    assert.deepEqual([none, quietHours], [null, { from: '22:00', to: '06:00' }])
    const refused = await put(path, { timeZone: 'Mars/Olympus' }, key)
    assert.equal(refused.status, 400)
    assert.match(refused.text, /"timeZone".*must be a time zone such as Europe\/Berlin/)
  })
})
