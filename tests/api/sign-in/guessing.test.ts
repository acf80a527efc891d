// Per account, per address, and both together (A9, A10).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type HttpResponse, startTestService, variants } from '../../support/service.ts'
import { inTurns } from '../../support/soak.ts'

const app = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
after(() => app.stop())

const second = 1_000
const day = 24 * 3_600 * second
const wrong = 'plum orchard gate 42'
let addressesUsed = 0
const newAddress = () => `198.18.${Math.floor(++addressesUsed / 256)}.${addressesUsed % 256}`
const from = (address: string) => ({ 'x-forwarded-for': address })

function retryAfter({ status, headers, text }: HttpResponse): number {
  assert.equal(status, 429, text)
  assert.equal(JSON.parse(text).error.code, 'TOO_MANY_REQUESTS')
  return Number(headers.get('retry-after'))
}

test('the audit log says which account is being guessed, once, and names no unknown user', async () => {
  const ann = await app.user()
  const address = newAddress()
  for (const username of [ann.username, 'nobody at all'])
    for (let n = 0; n < 9; n++)
      await app.post('/login', { username, password: wrong }, from(address))
  const delayed = async () =>
    ((await app.database.tables()).audit ?? []).filter((row) => row.event === 'account-delayed')
  while ((await delayed()).length === 0) await setImmediate()
  const [entry, ...others] = await delayed()
  assert.deepEqual([entry?.user_id, entry?.actor, others], [ann.id, 'service', []])
  assert.deepEqual(JSON.parse(String(entry?.detail)), {
    kind: 'password',
    until: new Date(app.now() + 1_000).toISOString(),
  })
})

// Guesses are counted before the variant matters.
for (const variant of inTurns(variants, { every: 2 })) {
  const login = (username: string, password: string, address: string) =>
    app.post('/login', { username, password, variant }, from(address))

  test(`five failures cost nothing; then each one doubles the delay, for known and unknown users alike (${variant}, A9)`, async () => {
    const ann = await app.user()
    for (const username of [ann.username, `nobody ${variant}`]) {
      const address = newAddress()
      for (let n = 0; n < 5; n++) assert.equal((await login(username, wrong, address)).status, 401)
      for (let delay = 1; delay <= 1_024; delay *= 2) {
        assert.equal(retryAfter(await login(username, wrong, address)), delay)
        assert.equal(
          retryAfter(await login(username, wrong, newAddress())),
          delay,
          'from any address',
        )
        app.pass((delay - 1) * second)
        assert.equal(retryAfter(await login(username, wrong, address)), 1)
        app.pass(second)
        assert.equal((await login(username, wrong, address)).status, 401)
      }
      assert.equal(retryAfter(await login(username, wrong, address)), 1_024)
    }
  })

  test(`a delayed account refuses the right password, too, without hashing it (${variant}, A9)`, async (t) => {
    const ann = await app.user()
    const address = newAddress()
    for (let n = 0; n < 5; n++) await login(ann.username, wrong, address)
    const before = performance.now()
    retryAfter(await login(ann.username, ann.password, address))
    t.diagnostic(`refused after ${(performance.now() - before).toFixed(1)} ms`)
    app.pass(second)
    assert.equal((await login(ann.username, ann.password, address)).status, 200)
  })

  test(`a sign-in forgets the failures before it; so does a day without one (${variant}, A9)`, async () => {
    const ann = await app.user()
    const address = newAddress()
    const failures = async (count: number) => {
      for (let n = 0; n < count; n++)
        assert.equal((await login(ann.username, wrong, address)).status, 401)
    }
    await failures(4)
    assert.equal((await login(ann.username, ann.password, address)).status, 200)
    await failures(5)
    retryAfter(await login(ann.username, wrong, address))
    app.pass(day)
    await failures(5)
    retryAfter(await login(ann.username, wrong, address))
  })

  test(`after a sign-in from another address, an address that failed is still delayed (${variant}, A9)`, async () => {
    const ann = await app.user()
    const guesser = newAddress()
    const home = newAddress()
    for (let n = 0; n < 6; n++) {
      assert.equal((await login(ann.username, wrong, guesser)).status, 401)
      app.pass(second)
    }
    app.pass(second)
    assert.equal((await login(ann.username, ann.password, home)).status, 200)
    assert.equal((await login(ann.username, wrong, guesser)).status, 401)
    assert.equal(retryAfter(await login(ann.username, wrong, guesser)), 4)
    assert.equal((await login(ann.username, ann.password, home)).status, 200)
  })

  test(`an address fails 100 times with any accounts, and then 100 times an hour (${variant}, A10)`, async () => {
    const addresses = [newAddress(), `2001:db8:${variant === 'stateful' ? 1 : 2}::`]
    for (const base of addresses) {
      // Every address of the /64 is the same client.
      const address = (n: number) => (base.includes(':') ? `${base}${n.toString(16)}` : base)
      const guess = async (n: number) =>
        (await login(`name ${base} ${n} ${variant}`, wrong, address(n))).status
      for (let n = 0; n < 100; n++) assert.equal(await guess(n), 401)
      assert.equal(await guess(100), 429)
      assert.equal(retryAfter(await login(`another ${base} ${variant}`, wrong, address(7))), 36)
      app.pass(36 * second)
      assert.equal(await guess(101), 401)
      assert.equal(await guess(102), 429)
      assert.equal(
        (await login(`other ${base}`, wrong, newAddress())).status,
        401,
        'another address is not delayed',
      )
    }
  })

  test(`of one guess each at thousands of accounts from one address, 100 are evaluated, and then 100 an hour (${variant}, A10)`, async (t) => {
    const address = newAddress()
    const [accounts, hours] = process.env.SOAK === undefined ? [250, 1] : [10_000, 10]
    const statuses: number[] = []
    for (let n = 0; n < accounts; n++) {
      statuses.push((await login(`one of many ${variant} ${n}`, wrong, address)).status)
      app.pass((hours * 3_600 * second) / accounts)
    }
    const evaluated = statuses.filter((status) => status === 401).length
    t.diagnostic(`${evaluated} of ${accounts} in ${hours} hours`)
    assert.equal(statuses.filter((status) => status === 429).length, accounts - evaluated)
    assert.ok(evaluated <= 100 + hours * 100 && evaluated > 50 + hours * 100, `${evaluated}`)
  })

  test(`many sign-ins of one user at the same time with the right password all succeed (${variant})`, async () => {
    const ann = await app.user()
    const address = newAddress()
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => login(ann.username, ann.password, address)),
    )
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200])
  })

  test(`acts of signed-in users never count by network: neither the guesses of others there delay them, nor theirs others (${variant}, A10, L1)`, async () => {
    const ann = await app.user()
    const ben = await app.user()
    const address = newAddress()
    const other = newAddress()
    const third = newAddress()
    const proof = await app.signIn(ann, variant)
    const confirmFrom = async (password: string, client: string) =>
      app.post('/api/me/confirm', { password }, { ...proof, ...from(client) })
    // Of the address, and of the account.
    for (let n = 0; n < 100; n++)
      assert.equal((await login(`neighbour ${variant} ${n}`, wrong, address)).status, 401)
    for (let n = 0; n < 6; n++) await login(ann.username, wrong, other)
    assert.equal((await login(ben.username, ben.password, address)).status, 429)
    for (let n = 0; n < 5; n++) assert.equal((await confirmFrom(wrong, third)).status, 401)
    assert.equal(retryAfter(await confirmFrom(ann.password, address)), 1)
    app.pass(second)
    assert.equal(
      (await confirmFrom(ann.password, address)).status,
      variant === 'stateful' ? 204 : 201,
    )
    for (let n = 0; n < 100; n++)
      assert.equal((await login(`friend ${variant} ${n}`, wrong, third)).status, 401)
  })
}

test('no header of a client gives it another address: 12 spoofed forms share one limit (A10, A11)', async (t) => {
  const bare = await startTestService()
  t.after(() => bare.stop())
  const spoofs = (n: number): Record<string, string>[] => [
    { 'x-forwarded-for': `198.18.3.${n}` },
    { 'x-forwarded-for': `198.18.3.${n}:443` },
    { 'x-forwarded-for': `198.18.3.${n}, 127.0.0.1` },
    { 'x-forwarded-for': `::ffff:198.18.3.${n}` },
    { 'x-forwarded-for': `2001:db8:${n}::1` },
    { forwarded: `for=198.18.3.${n}` },
    { forwarded: `for="[2001:db8:${n}::1]:443";proto=https` },
    { forwarded: `for=198.18.3.${n}`, 'x-forwarded-for': `198.18.3.${n}` },
    { 'x-real-ip': `198.18.3.${n}` },
    { 'true-client-ip': `198.18.3.${n}`, 'cf-connecting-ip': `198.18.3.${n}` },
    { 'x-client-ip': `198.18.3.${n}`, 'x-cluster-client-ip': `198.18.3.${n}` },
    { 'x-forwarded': `for=198.18.3.${n}`, 'x-originating-ip': `198.18.3.${n}` },
  ]
  const guess = async (name: string, headers: Record<string, string>) =>
    (await bare.post('/login', { username: name, password: wrong }, headers)).status
  for (let n = 0; n < 100; n++)
    assert.equal(await guess(`spoofed ${n}`, spoofs(n)[n % 12] ?? {}), 401, `guess ${n}`)
  for (const [n, headers] of spoofs(200).entries())
    assert.equal(await guess(`later ${n}`, headers), 429, JSON.stringify(headers))
})
