import assert from 'node:assert/strict'
import { at, maxAtOnce, newId, type Person, type PromiseOf } from '../contract/world.ts'
import { readInbox } from '../inbox/inbox.store.ts'
import { revokeTokens, tokenRevocations } from '../tokens/tokens.store.ts'
import { rotateSignIn } from '../users/access/rotation.store.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import {
  addSession,
  findSession,
  removeStaleSessions,
  type SessionKey,
  signInOfSession,
  touchSession,
} from './sessions.store.ts'
import { endSignIn } from './sign-ins.store.ts'

const revocationExpiresAt = at(965)

const madeUp: SessionKey = { userId: 'unknown', familyHash: 'made up', secretHash: 'made up' }

export function sessionPromises(promise: PromiseOf): void {
  promise(
    'stores a session, and finds it with its user and the version of the user’s inbox',
    async (world) => {
      const ann = await world.addUser('ann')
      const signInId = newId()
      const session = await world.signIn(ann, { seconds: 3, signInId })
      const times = { createdAt: at(3), lastSeenAt: at(3), confirmedAt: at(3) }
      const first = { newerHash: null, rotatedAt: null, secretUsedAt: null, factor: undefined }
      const found = { userId: ann.id, username: ann.username, signInId, ...times, ...first }
      assert.deepEqual(await world.store.read(findSession, session), { ...found, inboxVersion: 0 })
      await world.send(ann)
      const { version: inboxVersion } = await world.store.read(readInbox, ann.id)
      assert.equal(inboxVersion, 1)
      assert.deepEqual(await world.store.read(findSession, session), { ...found, inboxVersion })
    },
  )

  promise(
    'a rotated session is found by its new cookie, and by every older one only as replaced (S17)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const signInId = newId()
      const first = await world.signIn(ann, { seconds: 3, signInId })
      const keys = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'].map(
        (secretHash, n) => ({
          ...first,
          ...(n > 0 && { secretHash }),
        }),
      )
      for (const [n, presented] of keys.slice(0, -1).entries()) {
        const rotation = rotationOf(presented, { signInId, newHash: keys[n + 1]?.secretHash })
        const both = await Promise.all([1, 2].map(() => store.write(rotateSignIn, { rotation })))
        assert.deepEqual(both.sort(), ['done', 'outdated'], 'of two at once, one rotates')
      }
      const found = await Promise.all(keys.map((key) => store.read(findSession, key)))
      assert.deepEqual(
        found.map((session) => [session?.signInId, session?.newerHash]),
        [...Array(5).fill([signInId, 'sixth']), [signInId, null]],
      )
      const { createdAt, lastSeenAt, confirmedAt, rotatedAt } = found[5] ?? {}
      assert.deepEqual(
        [createdAt, lastSeenAt, confirmedAt, rotatedAt],
        [at(3), at(4), at(3), at(5)],
      )
      const newest = keys[5] as SessionKey
      const confirmed = rotationOf(newest, { signInId, newHash: 'seventh', confirmedAt: at(6) })
      assert.equal(await store.write(rotateSignIn, { rotation: confirmed }), 'done')
      const last = { ...first, secretHash: 'seventh' }
      assert.equal((await store.read(findSession, last))?.confirmedAt, at(6))
      for (const stranger of [
        { ...last, userId: ben.id },
        { ...last, familyHash: 'another' },
      ])
        assert.equal(await store.read(findSession, stranger), undefined)
      await world.endSessions([newest])
      assert.ok(await store.read(findSession, last), 'an older cookie ends nothing by itself')
      await world.endSessions([last])
      assert.equal(await store.read(findSession, last), undefined)
      const ended = rotationOf(last, { signInId, newHash: 'eighth' })
      assert.equal(await store.write(rotateSignIn, { rotation: ended }), 'outdated')
    },
  )

  promise('a session keeps the strongest factor that its user proved (A27)', async (world) => {
    const { store } = world
    const signInId = newId()
    const first = await world.signIn(await world.addUser('ann'), { signInId })
    assert.equal((await store.read(findSession, first))?.factor, undefined)
    let secretHash = first.secretHash
    const steps = [
      ['mfa', 'mfa'],
      [undefined, 'mfa'],
      ['phr', 'phr'],
      ['mfa', 'phr'],
    ] as const
    for (const [n, [factor, proved]] of steps.entries()) {
      const rotation = rotationOf({ ...first, secretHash }, { signInId, newHash: `proof ${n}` })
      assert.equal(await store.write(rotateSignIn, { rotation: { ...rotation, factor } }), 'done')
      secretHash = `proof ${n}`
      assert.equal((await store.read(findSession, { ...first, secretHash }))?.factor, proved)
    }
  })

  promise(
    'keeps the first use of the present secret of a session, and none by another user (S17, law 6)',
    async (world) => {
      const { store } = world
      const signInId = newId()
      const first = await world.signIn(await world.addUser('ann'), { signInId })
      const usedAt = async () => (await store.read(findSession, { ...first }))?.secretUsedAt
      await store.write(touchSession, { ...first, userId: newId(), at: at(0) })
      assert.equal(await usedAt(), null)
      await store.write(touchSession, { ...first, at: at(1) })
      assert.equal(await usedAt(), at(1))
      await store.write(rotateSignIn, {
        rotation: rotationOf(first, { signInId, newHash: 'second' }),
      })
      await store.write(touchSession, { ...first, at: at(3) })
      assert.equal(await usedAt(), null)
      for (const seconds of [4, 5])
        await store.write(touchSession, { ...first, secretHash: 'second', at: at(seconds) })
      assert.equal(await usedAt(), at(4))
    },
  )

  promise(
    'a rotation revokes the tokens of the session before it, and a session without tokens has none (S17)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const signInId = newId()
      const session = await world.signIn(ann, { signInId })
      const rotate = (presented: SessionKey, newHash: string) =>
        store.write(rotateSignIn, { rotation: rotationOf(presented, { signInId, newHash }) })
      assert.equal(await rotate(session, 'second'), 'done')
      assert.deepEqual(await store.read(tokenRevocations, at(6)), [])
      assert.equal(
        await store.write(signInOfSession, session),
        undefined,
        'an older cookie gets no token',
      )
      const second = { ...session, secretHash: 'second' }
      assert.equal((await store.write(signInOfSession, second))?.signInGeneration, 1)
      assert.equal(await rotate(second, 'third'), 'done')
      const row = { userId: ann.id, expiresAt: revocationExpiresAt, exceptSignInId: null }
      const revoked = await store.read(tokenRevocations, at(6))
      assert.deepEqual(revoked, [{ ...row, signInId: `rotated ${signInId}`, firstGeneration: 2 }])
      assert.equal(
        (await store.write(signInOfSession, { ...session, secretHash: 'third' }))?.signInGeneration,
        2,
      )
    },
  )

  promise(
    'of changes by tokens of one sign-in at the same time, one rotates it; an ended one is never rotated (S17)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const signInId = newId()
      const rotation = (signInGeneration: number, generation = 0) => ({
        userId: ann.id,
        signInId,
        at: at(5),
        confirmedAt: null,
        token: { generation, signInGeneration },
      })
      const raced = await Promise.all(
        [0, 0, 0].map((n) => store.write(rotateSignIn, { rotation: rotation(n) })),
      )
      assert.deepEqual(raced.sort(), ['done', 'outdated', 'outdated'])
      assert.equal(await store.write(rotateSignIn, { rotation: rotation(1) }), 'done')
      assert.deepEqual(
        (await store.read(tokenRevocations, at(6))).map((one) => [
          one.signInId,
          one.firstGeneration,
        ]),
        [[`rotated ${signInId}`, 2]],
      )
      const password = { userId: ann.id, passwordHash: 'new hash', at: at(6) }
      assert.equal(
        await store.write(setPassword, { ...password, rotation: rotation(1) }),
        'outdated',
      )
      assert.equal(await store.write(setPassword, { ...password, rotation: rotation(2) }), 'done')
      assert.equal(
        await store.write(rotateSignIn, { rotation: rotation(3, 0) }),
        'done',
        'its own change spared the sign-in',
      )
      assert.equal(await store.write(setPassword, password), 'done')
      assert.equal(await store.write(rotateSignIn, { rotation: rotation(4, 1) }), 'outdated')
      await store.write(revokeTokens, {
        userId: ann.id,
        signInId,
        at: at(7),
        expiresAt: revocationExpiresAt,
      })
      assert.equal(await store.write(rotateSignIn, { rotation: rotation(4, 2) }), 'outdated')
    },
  )

  promise(
    'refuses a session if the user is absent, is disabled or has another password since the check',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.store.write(disableUser, { userId: ann.id, at: at(1) })
      await world.store.write(setPassword, { userId: ben.id, passwordHash: 'new hash', at: at(1) })
      const stranger = { id: newId(), username: 'stranger', passwordHash: 'hash' }
      for (const person of [ann, ben, stranger]) {
        const session = attempt(person)
        assert.equal(await world.store.write(addSession, session), 'refused')
        assert.equal(await world.store.read(findSession, session), undefined)
      }
    },
  )

  promise(
    'refuses a session if the device generation was raised since the check',
    async (world) => {
      const ann = await world.addUser('ann')
      const signInId = newId()
      await world.signIn(ann, { signInId })
      const from = { label: 'Firefox on Linux', network: '192.0.2.1', isKnown: true, keep: 9 }
      const alive = {
        sessions: { createdAfter: at(-9), lastSeenAfter: at(-9), lastSeenUntil: at(9) },
        tokensSince: at(-9),
      }
      const disowned = { userId: ann.id, signInId, alive, isOwn: false, disowned: from, at: at(1) }
      assert.equal(await world.store.write(endSignIn, disowned), 'stateful')
      const late = { ...attempt(ann), from: { ...from, deviceGeneration: 0 } }
      assert.equal(await world.store.write(addSession, late), 'refused')
      assert.equal(await world.store.read(findSession, late), undefined)
      const again = await world.store.write(addSession, {
        ...late,
        from: { ...from, deviceGeneration: 1 },
      })
      assert.deepEqual(again, { revoked: [], device: 'known' })
    },
  )

  promise(
    'ends every session of a list in one step, and returns each once with its sign-in, even if it is listed twice or in calls at the same time (S4, L2)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const signInId = newId()
      const one = await world.signIn(ann, { signInId })
      const two = await world.signIn(ann)
      const three = await world.signIn(ben)
      const other = await world.signIn(ben)
      const foreign = { ...other, userId: ann.id }
      const listed = [one, madeUp, two, one, foreign, three]
      const ended = (await Promise.all([1, 2].map(() => world.endSessions(listed)))).flat()
      assert.deepEqual(
        ended.map(({ userId }) => userId),
        [ann.id, ann.id, ben.id],
      )
      assert.deepEqual(ended[0], { userId: ann.id, signInId, hadTokens: false })
      for (const session of [one, two, three])
        assert.equal(await world.store.read(findSession, session), undefined)
      assert.ok(await world.store.read(findSession, other))
      assert.deepEqual(await world.endSessions([]), [])
    },
  )

  promise(
    'ends every session that a new one replaces, of any user, and no other (S3, law 6)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const one = await world.signIn(ann)
      const two = await world.signIn(ben)
      const other = await world.signIn(ben)
      const foreign = { ...other, userId: ann.id }
      const session = await world.signIn(ann, { replaces: [one, madeUp, two, one, foreign] })
      for (const ended of [one, two])
        assert.equal(await world.store.read(findSession, ended), undefined)
      for (const alive of [other, session]) assert.ok(await world.store.read(findSession, alive))
      const refused = attempt(ann, { generation: 1, replaces: [other, session] })
      assert.equal(await world.store.write(addSession, refused), 'refused')
      for (const alive of [other, session]) assert.ok(await world.store.read(findSession, alive))
    },
  )

  promise(
    'removes sessions that are too old, unused for too long or used in the future, and no others (S6)',
    async (world) => {
      const ann = await world.addUser('ann')
      const tooOld = await world.signIn(ann, { seconds: 9 })
      const oldEnough = await world.signIn(ann, { seconds: 10 })
      const idle = await world.signIn(ann, { seconds: 19 })
      const active = await world.signIn(ann, { seconds: 20 })
      for (const session of [tooOld, oldEnough])
        await world.store.write(touchSession, { ...session, at: at(30) })
      const ahead = await world.signIn(ann, { seconds: 41 })
      const usedAhead = await world.signIn(ann, { seconds: 20 })
      await world.store.write(touchSession, { ...usedAhead, at: at(41) })
      const bounds = { createdAfter: at(10) - 1, lastSeenAfter: at(20) - 1, lastSeenUntil: at(40) }
      await world.store.write(removeStaleSessions, bounds)
      for (const session of [tooOld, idle, ahead, usedAhead])
        assert.equal(await world.store.read(findSession, session), undefined)
      for (const session of [oldEnough, active])
        assert.ok(await world.store.read(findSession, session))
    },
  )

  promise(
    'recording a use after the end does not revive a session, however it ended (law 7)',
    async (world) => {
      const ann = await world.addUser('ann')
      const { store } = world
      const loggedOut = await world.signIn(ann)
      const replaced = await world.signIn(ann)
      const stale = await world.signIn(ann, { seconds: -100 })
      const disabled = await world.signIn(ann)
      await world.endSessions([loggedOut])
      await world.signIn(ann, { replaces: [replaced] })
      await store.write(removeStaleSessions, {
        createdAfter: at(-50),
        lastSeenAfter: at(-50),
        lastSeenUntil: at(999),
      })
      await store.write(disableUser, { userId: ann.id, at: at(1) })
      await store.write(setPassword, { userId: ann.id, passwordHash: ann.passwordHash, at: at(2) })
      for (const session of [loggedOut, replaced, stale, disabled]) {
        await store.write(touchSession, { ...session, at: at(9) })
        assert.equal(await store.read(findSession, session), undefined)
      }
    },
  )

  promise(
    'a concurrent request never revives an ended session, in 200 of 200 attempts (law 7, S5)',
    async (world) => {
      const ann = await world.addUser('ann')
      for (let attempts = 0; attempts < 200; attempts += maxAtOnce) {
        const sessions = await Promise.all(
          Array.from({ length: maxAtOnce }, () => world.signIn(ann)),
        )
        await Promise.all(
          sessions.flatMap((session, index) => {
            const touch = () => world.store.write(touchSession, { ...session, at: at(index) })
            const end = () => world.endSessions([session])
            return index % 2 === 0 ? [touch(), end(), touch()] : [end(), touch(), touch()]
          }),
        )
        for (const session of sessions)
          assert.equal(await world.store.read(findSession, session), undefined)
      }
    },
  )

  promise(
    'no session survives that was added while its user was disabled or got a new password',
    async (world) => {
      for (let round = 0; round < 20; round++) {
        const person = await world.addUser(`person ${round}`)
        const change = { userId: person.id, at: at(1) }
        const end = () =>
          round % 2 === 0
            ? world.store.write(disableUser, change)
            : world.store.write(setPassword, { ...change, passwordHash: 'new hash' })
        const sessions = Array.from({ length: 6 }, () => attempt(person))
        const add = (session: ReturnType<typeof attempt>) => world.store.write(addSession, session)
        await Promise.all([...sessions.slice(0, 3).map(add), end(), ...sessions.slice(3).map(add)])
        for (const session of sessions)
          assert.equal(await world.store.read(findSession, session), undefined)
      }
    },
  )
}

function attempt(person: Person, { replaces = [] as readonly SessionKey[], generation = 0 } = {}) {
  const secretHash = newId()
  return {
    familyHash: secretHash,
    secretHash,
    userId: person.id,
    checkedGeneration: generation,
    signInId: newId(),
    device: null,
    address: null,
    at: at(0),
    replaces,
  }
}

/** The session was last seen at 4 seconds. */
function rotationOf(
  { userId, familyHash, secretHash }: SessionKey,
  {
    signInId,
    newHash = '',
    confirmedAt = null,
  }: { signInId: string; newHash?: string | undefined; confirmedAt?: number | null },
) {
  const session = { familyHash, secretHash, newHash, lastSeenAt: at(4) }
  return { userId, signInId, at: at(5), confirmedAt, session }
}
