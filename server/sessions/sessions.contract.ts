// The promises about sessions: an ended session stays ended, whatever runs at the same time.
import assert from 'node:assert/strict'
import { readInbox } from '../inbox/inbox.store.ts'
import { at, maxAtOnce, newId, type Person, type PromiseOf } from '../store/contract/world.ts'
import { disableUser, setPassword } from '../users/user-changes.store.ts'
import {
  addSession,
  findRenewedSession,
  findSession,
  removeStaleSessions,
  renewSession,
  type SessionKey,
  touchSession,
} from './sessions.store.ts'
import { endSignIn } from './sign-ins.store.ts'

const revocationExpiresAt = at(3_600)

const madeUp: SessionKey = { userId: 'unknown', secretHash: 'made up' }

export function sessionPromises(promise: PromiseOf): void {
  promise('stores a session, and finds it with its user and the version of the user’s inbox', async (world) => {
    const ann = await world.addUser('ann')
    const signInId = newId()
    const session = await world.signIn(ann, { seconds: 3, signInId })
    const times = { createdAt: at(3), lastSeenAt: at(3), confirmedAt: at(3) }
    const found = { userId: ann.id, username: ann.username, signInId, ...times }
    assert.deepEqual(await world.store.read(findSession, session), { ...found, inboxVersion: 0 })
    await world.send(ann)
    const { version: inboxVersion } = await world.store.read(readInbox, ann.id)
    assert.equal(inboxVersion, 1)
    assert.deepEqual(await world.store.read(findSession, session), { ...found, inboxVersion })
  })

  promise('never creates a session from a secret that it did not store (S3)', async ({ store }) => {
    assert.equal(await store.read(findSession, madeUp), undefined)
    await store.write(touchSession, { ...madeUp, at: at(1) })
    assert.equal(await store.read(findSession, madeUp), undefined)
  })

  promise(
    'a renewed session is found by its new secret alone, and by the three before it only as renewed (S17)',
    async (world) => {
      const ann = await world.addUser('ann')
      const signInId = newId()
      const first = await world.signIn(ann, { seconds: 3, signInId })
      const { store } = world
      const hashes = [first.secretHash, 'second', 'third', 'fourth', 'fifth']
      for (const [n, newHash] of hashes.entries()) {
        if (n === 0) continue
        const renewal = { userId: ann.id, secretHash: hashes[n - 1] as string, newHash, lastSeenAt: at(4) }
        const both = await Promise.all([store.write(renewSession, renewal), store.write(renewSession, renewal)])
        assert.deepEqual(both.sort(), ['absent', 'done'])
      }
      const keys = hashes.map((secretHash) => ({ userId: ann.id, secretHash }))
      const found = await Promise.all(keys.map((key) => store.read(findSession, key)))
      assert.deepEqual(
        found.map((session) => session?.signInId),
        [undefined, undefined, undefined, undefined, signInId],
      )
      assert.deepEqual([found[4]?.createdAt, found[4]?.lastSeenAt, found[4]?.confirmedAt], [at(3), at(4), at(3)])
      const renewed = await Promise.all(keys.map((key) => store.read(findRenewedSession, key)))
      const row = { secretHash: 'fifth', signInId, createdAt: at(3), lastSeenAt: at(4), secretUsedAt: null }
      assert.deepEqual(renewed, [undefined, row, row, row, undefined])
      assert.deepEqual(await store.read(findRenewedSession, { ...first, signInId }), row)
      const ben = await world.addUser('ben')
      assert.equal(await store.read(findRenewedSession, { userId: ben.id, secretHash: 'fourth', signInId }), undefined)
    },
  )

  promise('keeps the first use of the present secret of a session (S17)', async (world) => {
    const { store } = world
    const first = await world.signIn(await world.addUser('ann'))
    const usedAt = async () => (await store.read(findRenewedSession, first))?.secretUsedAt
    await store.write(touchSession, { ...first, at: at(1) })
    const second = { ...first, secretHash: 'second' }
    await store.write(renewSession, { ...first, newHash: 'second', lastSeenAt: at(2) })
    await store.write(touchSession, { ...first, at: at(3) })
    assert.equal(await usedAt(), null)
    for (const seconds of [4, 5]) await store.write(touchSession, { ...second, at: at(seconds) })
    assert.equal(await usedAt(), at(4))
    await world.endSessions([second])
    assert.equal(await usedAt(), undefined)
    assert.equal(await store.write(renewSession, { ...second, newHash: 'third', lastSeenAt: at(6) }), 'absent')
  })

  promise('ends the session that a new one replaces, and no other (S3)', async (world) => {
    const ann = await world.addUser('ann')
    const [old, other] = [await world.signIn(ann), await world.signIn(ann)]
    const session = await world.signIn(ann, { replaces: [old] })
    assert.equal(await world.store.read(findSession, old), undefined)
    assert.ok(await world.store.read(findSession, other))
    assert.ok(await world.store.read(findSession, session))
  })

  promise(
    'refuses a session if the user is absent, is disabled or has another password since the check',
    async (world) => {
      const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
      await world.store.write(disableUser, { userId: ann.id, at: at(1), revocationExpiresAt })
      await world.store.write(setPassword, { userId: ben.id, passwordHash: 'new hash', at: at(1), revocationExpiresAt })
      const stranger = { id: newId(), username: 'stranger', passwordHash: 'hash' }
      for (const person of [ann, ben, stranger]) {
        const secretHash = newId()
        assert.equal(await world.store.write(addSession, attempt(person, { secretHash })), 'refused')
        assert.equal(await world.store.read(findSession, { userId: person.id, secretHash }), undefined)
      }
    },
  )

  promise('refuses a session if the device generation was raised since the check', async (world) => {
    const ann = await world.addUser('ann')
    const signInId = newId()
    await world.signIn(ann, { signInId })
    const from = { label: 'Firefox on Linux', network: '192.0.2.1', isKnown: true, keep: 9 }
    const alive = {
      sessions: { createdAfter: at(-9), lastSeenAfter: at(-9), lastSeenUntil: at(9) },
      tokensSince: at(-9),
    }
    const disowned = { userId: ann.id, signInId, alive, isOwn: false, disowned: from, at: at(1), revocationExpiresAt }
    assert.equal(await world.store.write(endSignIn, disowned), 'stateful')
    const secretHash = newId()
    const late = { ...attempt(ann, { secretHash }), from: { ...from, deviceGeneration: 0 } }
    assert.equal(await world.store.write(addSession, late), 'refused')
    assert.equal(await world.store.read(findSession, { userId: ann.id, secretHash }), undefined)
    const again = await world.store.write(addSession, { ...late, from: { ...from, deviceGeneration: 1 } })
    assert.deepEqual(again, { revoked: [], device: 'known' })
  })

  promise('ends no session if it refuses the new one', async (world) => {
    const ann = await world.addUser('ann')
    const session = await world.signIn(ann)
    const refused = attempt(ann, { generation: 1, replaces: [session] })
    assert.equal(await world.store.write(addSession, refused), 'refused')
    assert.ok(await world.store.read(findSession, session))
  })

  promise('records that a session was used, for that session only', async (world) => {
    const ann = await world.addUser('ann')
    const [used, unused] = [await world.signIn(ann), await world.signIn(ann)]
    await world.store.write(touchSession, { ...used, at: at(60) })
    assert.equal((await world.store.read(findSession, used))?.lastSeenAt, at(60))
    assert.equal((await world.store.read(findSession, used))?.createdAt, at(0))
    assert.equal((await world.store.read(findSession, unused))?.lastSeenAt, at(0))
  })

  promise('ends a session and returns it once; returns nothing for an unknown session (S4, L2)', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const signInId = newId()
    const [ended, other] = [await world.signIn(ann, { seconds: 3, signInId }), await world.signIn(ann)]
    await world.store.write(touchSession, { ...ended, at: at(9) })
    const returned = await Promise.all([1, 2, 3].map(() => world.endSessions([ended])))
    const times = { createdAt: at(3), lastSeenAt: at(9) }
    assert.deepEqual(returned.flat(), [
      { userId: ann.id, username: ann.username, ...times, signInId, hadTokens: false },
    ])
    for (const none of [ended, madeUp, { ...other, userId: ben.id }])
      assert.deepEqual(await world.endSessions([none]), [])
    assert.equal(await world.store.read(findSession, ended), undefined)
    assert.ok(await world.store.read(findSession, other))
  })

  promise(
    'ends every session of a list in one step and returns each once, even if it is listed twice (S4)',
    async (world) => {
      const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
      const [one, two, three] = [await world.signIn(ann), await world.signIn(ann), await world.signIn(ben)]
      const other = await world.signIn(ben)
      const foreign = { ...other, userId: ann.id }
      const ended = await world.endSessions([one, madeUp, two, one, foreign, three])
      assert.deepEqual(
        ended.map(({ userId }) => userId),
        [ann.id, ann.id, ben.id],
      )
      for (const session of [one, two, three]) assert.equal(await world.store.read(findSession, session), undefined)
      assert.ok(await world.store.read(findSession, other))
      assert.deepEqual(await world.endSessions([]), [])
    },
  )

  promise('ends every session that a new one replaces, of any user, and no other (S3)', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const [one, two] = [await world.signIn(ann), await world.signIn(ben)]
    const other = await world.signIn(ben)
    const session = await world.signIn(ann, { replaces: [one, madeUp, two, one] })
    for (const ended of [one, two]) assert.equal(await world.store.read(findSession, ended), undefined)
    for (const alive of [other, session]) assert.ok(await world.store.read(findSession, alive))
    const refused = attempt(ann, { generation: 1, replaces: [other, session] })
    assert.equal(await world.store.write(addSession, refused), 'refused')
    for (const alive of [other, session]) assert.ok(await world.store.read(findSession, alive))
  })

  promise('a session under another user’s id looks like one that does not exist (law 6)', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const session = await world.signIn(ann)
    const foreign = { ...session, userId: ben.id }
    assert.equal(await world.store.read(findSession, foreign), undefined)
    const before = await world.store.read(findSession, session)
    await world.store.write(touchSession, { ...foreign, at: at(9) })
    await world.endSessions([foreign])
    await world.signIn(ben, { replaces: [foreign] })
    assert.deepEqual(await world.store.read(findSession, session), before)
  })

  promise(
    'removes sessions that are too old, unused for too long or used in the future, and no others (S6)',
    async (world) => {
      const ann = await world.addUser('ann')
      const tooOld = await world.signIn(ann, { seconds: 9 })
      const oldEnough = await world.signIn(ann, { seconds: 10 })
      const idle = await world.signIn(ann, { seconds: 19 })
      const active = await world.signIn(ann, { seconds: 20 })
      for (const session of [tooOld, oldEnough]) await world.store.write(touchSession, { ...session, at: at(30) })
      const [ahead, usedAhead] = [await world.signIn(ann, { seconds: 41 }), await world.signIn(ann, { seconds: 20 })]
      await world.store.write(touchSession, { ...usedAhead, at: at(41) })
      const bounds = { createdAfter: at(10) - 1, lastSeenAfter: at(20) - 1, lastSeenUntil: at(40) }
      await world.store.write(removeStaleSessions, bounds)
      for (const session of [tooOld, idle, ahead, usedAhead])
        assert.equal(await world.store.read(findSession, session), undefined)
      for (const session of [oldEnough, active]) assert.ok(await world.store.read(findSession, session))
    },
  )

  promise('recording a use after the end does not revive a session, however it ended (law 7)', async (world) => {
    const ann = await world.addUser('ann')
    const { store } = world
    const loggedOut = await world.signIn(ann)
    const replaced = await world.signIn(ann)
    const stale = await world.signIn(ann, { seconds: -100 })
    const disabled = await world.signIn(ann)
    await world.endSessions([loggedOut])
    await world.signIn(ann, { replaces: [replaced] })
    await store.write(removeStaleSessions, { createdAfter: at(-50), lastSeenAfter: at(-50), lastSeenUntil: at(999) })
    await store.write(disableUser, { userId: ann.id, at: at(1), revocationExpiresAt })
    await store.write(setPassword, { userId: ann.id, passwordHash: ann.passwordHash, at: at(2), revocationExpiresAt })
    for (const session of [loggedOut, replaced, stale, disabled]) {
      await store.write(touchSession, { ...session, at: at(9) })
      assert.equal(await store.read(findSession, session), undefined)
    }
  })

  promise('a concurrent request never revives an ended session, in 200 of 200 attempts (law 7, S5)', async (world) => {
    const ann = await world.addUser('ann')
    for (let attempts = 0; attempts < 200; attempts += maxAtOnce) {
      const sessions = await Promise.all(Array.from({ length: maxAtOnce }, () => world.signIn(ann)))
      await Promise.all(
        sessions.flatMap((session, index) => {
          const touch = () => world.store.write(touchSession, { ...session, at: at(index) })
          const end = () => world.endSessions([session])
          return index % 2 === 0 ? [touch(), end(), touch()] : [end(), touch(), touch()]
        }),
      )
      for (const session of sessions) assert.equal(await world.store.read(findSession, session), undefined)
    }
  })

  promise('no session survives that was added while its user was disabled or got a new password', async (world) => {
    for (let round = 0; round < 20; round++) {
      const person = await world.addUser(`person ${round}`)
      const change = { userId: person.id, at: at(1), revocationExpiresAt }
      const end = () =>
        round % 2 === 0
          ? world.store.write(disableUser, change)
          : world.store.write(setPassword, { ...change, passwordHash: 'new hash' })
      const sessions = Array.from({ length: 6 }, () => attempt(person))
      const add = (session: ReturnType<typeof attempt>) => world.store.write(addSession, session)
      await Promise.all([...sessions.slice(0, 3).map(add), end(), ...sessions.slice(3).map(add)])
      for (const session of sessions) assert.equal(await world.store.read(findSession, session), undefined)
    }
  })
}

function attempt(
  person: Person,
  { secretHash = newId(), replaces = [] as readonly SessionKey[], generation = 0 } = {},
) {
  return {
    secretHash,
    userId: person.id,
    checkedGeneration: generation,
    signInId: newId(),
    device: null,
    address: null,
    at: at(0),
    revocationExpiresAt,
    replaces,
  }
}
