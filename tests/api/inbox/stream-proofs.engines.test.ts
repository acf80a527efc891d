// A stream ends with its proof (Z5, Z6, S7), and does not count as a use of a session.
// tests/e2e/stream/stream-nodes.soak.test.ts tests nodes.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { CarillonError } from '../../../server/basics/errors.ts'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { findSession } from '../../../server/sessions/sessions.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { revokeTokens } from '../../../server/tokens/tokens.store.ts'
import { setPassword } from '../../../server/users/access/access.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { randomOf } from '../../support/event-source/random.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import {
  type Proof,
  startTestService,
  type TestUser,
  type Variant,
  variants,
} from '../../support/service.ts'

const minute = 60_000
/** S7 allows this; after a lost change signal it takes up to a minute. */
const soonMs = 30_000
const deliveries = process.env.SOAK === undefined ? 200 : 5_000

const app = await startTestService()
// A clock that is moved is moved for all users of its service: tests that need this start their own service.
const clocked = await startTestService({
  env: {
    CARILLON_SESSION_IDLE: '10m',
    CARILLON_SESSION_LIFETIME: '30m',
    CARILLON_TOKEN_LIFETIME: '5m',
  },
})
after(() => Promise.all([app.stop(), clocked.stop()]))
const passwords = new Passwords({ threads: 2 })

/** The stream sends why it ends, and cannot be opened again; all within the time. */
async function hasEnded(
  reader: EventReader,
  of: { url: string; proof: Proof; reason: string; withinMs: number },
) {
  const from = performance.now()
  let last = await reader.next(undefined, of.withinMs)
  // The notice of a change may arrive before the end.
  while (last.type === 'created') last = await reader.next(undefined, of.withinMs)
  const { type, data, id } = last
  assert.equal(type, 'session-ended')
  assert.deepEqual([data, id], [{ reason: of.reason }, undefined])
  await reader.ended(of.withinMs)
  assert.equal(reader.events.at(-1)?.type, 'session-ended')
  using again = await EventReader.open(of.url, { headers: of.proof })
  await again.ended()
  assert.equal(
    refusalIn({ status: again.status, headers: again.headers, text: again.text }).code,
    'UNAUTHORIZED',
  )
  return performance.now() - from
}

async function send(to: TestUser): Promise<string> {
  const [id = ''] = await app.deliver({ to, title: 'x' })
  return id
}

test('an event for one user never reaches another, however many streams there are, with either proof (Z5)', async (t) => {
  const random = randomOf(t)
  const users = await Promise.all(Array.from({ length: 8 }, () => app.user()))
  const readers: { user: TestUser; reader: EventReader }[] = []
  for (const user of users)
    for (const variant of variants)
      readers.push({ user, reader: await EventReader.of(app.url, await app.signIn(user, variant)) })
  const sent = new Map(users.map(({ id }) => [id, new Set<string>()]))
  const act = async () => {
    const user = users[random.below(users.length)] ?? assert.fail()
    sent.get(user.id)?.add(await send(user))
  }
  for (let n = 0; n < deliveries; n += 10) await Promise.all(Array.from({ length: 10 }, act))
  for (const { user, reader } of readers) {
    const own = sent.get(user.id) ?? new Set()
    await reader.until(() => reader.events.length > own.size)
    await app.post('/api/notifications/read-all', undefined, await app.signIn(user, 'stateful'))
    await reader.until(() => reader.events.some(({ type }) => type === 'read-all'))
    const ids = reader.events.flatMap(({ type, data }) =>
      type === 'created' ? [data.notification.id] : [],
    )
    assert.deepEqual(new Set(ids), own)
    assert.equal(ids.length, own.size)
    reader.close()
  }
})

type End = {
  reason: 'revoked' | 'expired'
  by: (user: TestUser, proof: Proof, variant: Variant) => Promise<unknown>
}

const revocationExpiresAt = () => app.now() + 60 * minute
const ends: Record<string, End & { variants: readonly Variant[] }> = {
  'a sign-out': {
    reason: 'revoked',
    variants,
    by: (_user, proof) => app.post('/logout', undefined, proof),
  },
  'a password that is changed': {
    reason: 'revoked',
    variants,
    by: ({ username }) =>
      setPassword(
        {
          store: app.store,
          passwords,
          passwordMinLength: 15,
          erased: async () => undefined,
          now: app.now,
        },
        { username, password: 'another orchard gate 42' },
      ),
  },
  'a user who is disabled': {
    reason: 'revoked',
    variants,
    by: ({ id }) => app.store.write(disableUser, { userId: id, at: app.now() }),
  },
  'revoked tokens': {
    reason: 'revoked',
    variants: ['stateless'],
    by: ({ id }, { authorization = '' }) => {
      const signInId = String(decodeJwt(authorization.slice('Bearer '.length)).sid)
      return app.store.write(revokeTokens, {
        userId: id,
        signInId,
        at: app.now(),
        expiresAt: revocationExpiresAt(),
      })
    },
  },
  'a new sign-in in place of the session': {
    reason: 'revoked',
    variants: ['stateful'],
    by: ({ username, password }, proof) =>
      app.post('/login', { username, password, variant: 'stateful' }, proof),
  },
}

suite('what ends a proof (Z6, S7)', { concurrency: 4 }, () => {
  for (const [name, { reason, variants: among, by }] of Object.entries(ends))
    for (const variant of among)
      test(`${name} ends the stream within five seconds, with the reason, and no stream of another user (Z6, ${variant})`, async () => {
        const ann = await app.user()
        const bob = await app.user()
        const proof = await app.signIn(ann, variant)
        const readers = await Promise.all(
          Array.from({ length: 3 }, () => EventReader.of(app.url, proof)),
        )
        const replaying = await EventReader.of(app.url, { ...proof, 'last-event-id': '0' })
        using bobs = await EventReader.of(app.url, await app.signIn(bob, variant))
        await by(ann, proof, variant)
        for (const reader of [...readers, replaying])
          await hasEnded(reader, { url: app.url, proof, reason, withinMs: soonMs })
        await sleep(50)
        assert.deepEqual([bobs.isOver, bobs.events.length], [false, 1])
      })

  test('a sign-out ends the streams of its own session or sign-in, and no other stream of the same user (Z6)', async () => {
    const ann = await app.user()
    for (const variant of variants) {
      const one = await app.signIn(ann, variant)
      const other = await app.signIn(ann, variant)
      const ended = await EventReader.of(app.url, one)
      using stays = await EventReader.of(app.url, other)
      await app.post('/logout', undefined, one)
      await hasEnded(ended, { url: app.url, proof: one, reason: 'revoked', withinMs: soonMs })
      await send(ann)
      await stays.next('created')
    }
  })

  test('after a renewal, the stream of the old token stays open until that token expires; a sign-out ends both (Z6)', async () => {
    const proof = await app.signIn(await app.user(), 'stateless')
    const renewed = await app.post('/token/renew', undefined, proof)
    const next = { authorization: `Bearer ${renewed.json().token}` }
    const readers = [await EventReader.of(app.url, proof), await EventReader.of(app.url, next)]
    await app.post('/logout', undefined, next)
    for (const [index, reader] of readers.entries())
      await hasEnded(reader, {
        url: app.url,
        proof: [proof, next][index] ?? {},
        reason: 'revoked',
        withinMs: soonMs,
      })
  })

  for (const variant of variants)
    test(`a held poll whose proof ends is 401 (Z6, ${variant})`, async () => {
      const ann = await app.user()
      const proof = await app.signIn(ann, variant)
      const path = '/api/notifications/changes?since=0&wait='
      const held = [app.get(`${path}20`, proof), app.get(`${path}1`, proof)]
      await sleep(100)
      await app.post('/logout', undefined, proof)
      await send(ann)
      for (const response of await Promise.all(held))
        assert.equal(refusalIn(response).code, 'UNAUTHORIZED')
    })

  test('while the store cannot check proofs, no stream is opened, and no open stream ends (Z7)', async (t) => {
    // With its own service, so that the look-ups of other tests do not fail.
    const own = await startTestService()
    t.after(() => own.stop())
    const ann = await own.user()
    const proof = await own.signIn(ann, 'stateful')
    using reader = await EventReader.of(own.url, proof)
    const away = () => Promise.reject(new CarillonError('UNAVAILABLE', 'The store is away'))
    const restore = replaceOperation(own.store, findSession, away)
    try {
      using refused = await EventReader.open(own.url, { headers: proof })
      assert.equal(refused.status, 503)
      await own.post('/login', {
        username: ann.username,
        password: ann.password,
        variant: 'stateful',
      })
    } finally {
      restore()
    }
    await own.deliver({ to: ann, title: 'Hi' })
    await reader.next('created')
    assert.ok(!reader.isOver)
  })
})

// One after the other: they share the clock.
suite('proofs that end because of the time (S6, T6)', () => {
  const at = (reader: EventReader, proof: Proof) =>
    hasEnded(reader, { url: clocked.url, proof, reason: 'expired', withinMs: soonMs })

  test('a session that is not used ends its streams: an open stream does not count as a use (S6, Z6)', async () => {
    const proof = await clocked.signIn(await clocked.user(), 'stateful')
    const reader = await EventReader.of(clocked.url, proof)
    clocked.pass(10 * minute - 1)
    await sleep(1_300)
    assert.ok(!reader.isOver)
    clocked.pass(1)
    await at(reader, proof)
  })

  test('a session that is used keeps its streams, until its lifetime ends (S6)', async () => {
    const proof = await clocked.signIn(await clocked.user(), 'stateful')
    const reader = await EventReader.of(clocked.url, proof)
    for (let used = 0; used < 3; used++) {
      clocked.pass(9 * minute)
      assert.equal((await clocked.get('/routeRestreinte', proof)).status, 200)
      await clocked.noted()
      await sleep(1_300)
      assert.ok(!reader.isOver, `ended after ${used + 1} uses`)
    }
    clocked.pass(3 * minute)
    await at(reader, proof)
  })

  test('a token that expires ends its streams, and the token that replaced it keeps its own (T6, Z6)', async () => {
    const proof = await clocked.signIn(await clocked.user(), 'stateless')
    const reader = await EventReader.of(clocked.url, proof)
    clocked.pass(3 * minute)
    const next = {
      authorization: `Bearer ${(await clocked.post('/token/renew', undefined, proof)).json().token}`,
    }
    using later = await EventReader.of(clocked.url, next)
    clocked.pass(2 * minute)
    // A token is accepted for a little longer, because clocks differ; its stream may stay open as long.
    clocked.pass(minute)
    await at(reader, proof)
    assert.ok(!later.isOver)
  })
})
