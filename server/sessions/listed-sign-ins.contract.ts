import assert from 'node:assert/strict'
import { listAudit, record } from '../audit/audit.store.ts'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import type { SeenDevice } from '../guessing/device-tokens.ts'
import type { AuditEntry } from '../store/events.ts'
import { revokeTokens, tokenRevocations } from '../tokens/tokens.store.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import { findUser } from '../users/users.store.ts'
import { addSession, findSession, signInOfSession } from './sessions.store.ts'
import { endOtherSignIns, endSignIn, listSignIns, noteDevice } from './sign-ins.store.ts'

const revocationExpiresAt = at(965)
/** Everything that began or was used in the first 1,000 seconds is alive. */
const alive = {
  sessions: { createdAfter: at(-1), lastSeenAfter: at(-1), lastSeenUntil: at(1_000) },
  tokensSince: at(-3_600 * 24 * 365 * 60),
}

export function listedSignInPromises(promise: PromiseOf): void {
  promise(
    'lists the sessions and the stateless sign-ins of a user, the own one first, then newest first',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const [first, second, third] = idsInOrder(3)
      await world.signIn(ann, { signInId: first, seconds: 1 })
      await tokenSignIn(world, ann, second)
      await world.signIn(ann, { signInId: third, seconds: 3 })
      await world.signIn(ben)
      await tokenSignIn(world, ben, newId())
      assert.deepEqual(await idsOf(world, ann, second), [second, third, first])
      assert.deepEqual(await idsOf(world, ann, newId()), [third, second, first])
      const [stateful, stateless] = await world.store.read(listSignIns, {
        ...query(ann, third),
        limit: 2,
      })
      const none = { device: null, userAgent: null, address: null }
      assert.deepEqual(stateful, {
        ...none,
        signInId: third,
        variant: 'stateful',
        createdAt: at(3),
        lastSeenAt: at(3),
      })
      const where = { address: '192.0.2.1', userAgent: 'curl/8' }
      assert.deepEqual(stateless, {
        ...none,
        ...where,
        signInId: second,
        variant: 'stateless',
        createdAt: at(2),
        lastSeenAt: at(2),
      })
    },
  )

  promise('lists sign-ins in pages, each once', async (world) => {
    const ann = await world.addUser('ann')
    const ids = idsInOrder(5)
    const [one, two, own] = ids
    for (const signInId of ids)
      await (signInId === two ? tokenSignIn(world, ann, two) : world.signIn(ann, { signInId }))
    const pages = [await idsOf(world, ann, own, { limit: 2 })]
    while (pages.at(-1)?.length === 2)
      pages.push(await idsOf(world, ann, own, { limit: 2, after: pages.at(-1)?.[1] ?? '' }))
    assert.deepEqual(pages, [[own, ids[4]], [ids[3], two], [one]])
  })

  promise(
    'lists no sign-in that has ended, expired, or was revoked by id or by generation (T7)',
    async (world) => {
      const ann = await world.addUser('ann')
      const kept = newId()
      const signedOut = newId()
      const revoked = newId()
      const ended = newId()
      const expired = newId()
      for (const signInId of [kept, signedOut, revoked, ended])
        await tokenSignIn(world, ann, signInId)
      await world.store.write(record, [entryOf(ann, signedOut, 'sign-out')])
      await world.store.write(revokeTokens, {
        userId: ann.id,
        signInId: revoked,
        at: at(5),
        expiresAt: revocationExpiresAt,
      })
      assert.equal(await endOne(world, ann, ended), 'stateless')
      await world.signIn(ann, { signInId: expired, seconds: 1_001 })
      const own = newId()
      const session = await world.signIn(ann, { signInId: own, seconds: 2 })
      assert.deepEqual(new Set(await idsOf(world, ann, own)), new Set([own, kept]))
      assert.deepEqual(await idsOf(world, ann, own, { tokensSince: at(3_600) }), [own])
      await world.store.write(endOtherSignIns, {
        userId: ann.id,
        proof: { userId: ann.id, signInId: kept, token: { generation: 0, signInGeneration: 0 } },
        at: at(6),
      })
      assert.equal(await world.store.read(findSession, session), undefined)
      assert.deepEqual(await idsOf(world, ann, kept), [kept])
      await world.store.write(disableUser, { userId: ann.id, at: at(7) })
      assert.deepEqual(await idsOf(world, ann, kept), [])
    },
  )

  promise('ends one sign-in with its tokens, of either variant, and no other', async (world) => {
    const ann = await world.addUser('ann')
    const one = newId()
    const two = newId()
    const three = newId()
    const session = await world.signIn(ann, { signInId: one })
    const other = await world.signIn(ann, { signInId: two })
    await tokenSignIn(world, ann, three)
    assert.equal(await endOne(world, ann, one), 'stateful')
    assert.equal(await world.store.read(findSession, session), undefined)
    assert.ok(await world.store.read(findSession, other))
    assert.equal(await endOne(world, ann, three), 'stateless')
    assert.deepEqual(await idsOf(world, ann, two), [two])
    const revoked = (await world.store.read(tokenRevocations, at(6))).map(
      ({ signInId }) => signInId,
    )
    assert.deepEqual(revoked.toSorted(), [one, three].toSorted())
    const events = (await world.store.read(listAudit, { userId: ann.id, limit: 9 })).map(
      ({ event, signInId }) => `${event} ${signInId}`,
    )
    assert.ok(events.includes(`session-ended ${one}`) && events.includes(`session-ended ${three}`))
    assert.equal((await world.store.read(findUser, ann.id))?.deviceGeneration, 0)
  })

  promise(
    'returns "absent" for a sign-in that is unknown, foreign, expired or ended, and changes nothing',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const bens = newId()
      const bensToken = newId()
      const ended = newId()
      const expired = newId()
      await world.signIn(ben, { signInId: bens })
      await tokenSignIn(world, ben, bensToken)
      await world.signIn(ann, { signInId: ended })
      await endOne(world, ann, ended)
      await world.signIn(ann, { signInId: expired, seconds: 1_001 })
      const before = await world.store.read(tokenRevocations, at(6))
      // None of them has an entry in the audit log of this user.
      for (const signInId of [bens, bensToken, ended, expired, newId()])
        for (const disowned of [undefined, device('Firefox on Linux')])
          assert.equal(await endOne(world, ann, signInId, { disowned }), 'absent')
      assert.deepEqual(await world.store.read(tokenRevocations, at(6)), before)
      const user = await world.store.read(findUser, ann.id)
      assert.deepEqual([user?.deviceGeneration, user?.passwordReportedAt], [0, null])
    },
  )

  promise('a sign-in that has ended can be disowned, by its own user', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    const ended = newId()
    await tokenSignIn(world, ann, ended)
    assert.equal(await endOne(world, ann, ended), 'stateless')
    const disowned = device('Firefox on Linux')
    assert.equal(await endOne(world, ann, ended), 'absent')
    assert.equal(await endOne(world, ben, ended, { disowned }), 'absent')
    assert.equal(await endOne(world, ann, ended, { disowned }), 'stateless')
    const anns = await world.store.read(findUser, ann.id)
    const bens = await world.store.read(findUser, ben.id)
    assert.deepEqual([anns?.deviceGeneration, anns?.passwordReportedAt], [1, at(5)])
    assert.deepEqual([bens?.deviceGeneration, bens?.passwordReportedAt], [0, null])
  })

  promise(
    'ends the caller’s own stateless sign-in although the audit log has no entry of it',
    async (world) => {
      const ann = await world.addUser('ann')
      const own = newId()
      assert.equal(await endOne(world, ann, own), 'absent')
      assert.equal(await endOne(world, ann, own, { isOwn: true }), 'stateless')
      assert.equal((await world.store.read(tokenRevocations, at(6)))[0]?.signInId, own)
    },
  )

  promise(
    'a disowned sign-in reports the password, voids device tokens and forgets the other devices',
    async (world) => {
      const ann = await world.addUser('ann')
      const own = newId()
      const foreign = newId()
      await note(world, ann, device('Firefox on Linux'))
      await note(world, ann, device('Chrome on Windows', { isKnown: true }))
      await world.signIn(ann, { signInId: own })
      const session = await world.signIn(ann, { signInId: foreign })
      assert.equal(
        await endOne(world, ann, foreign, {
          disowned: device('Firefox on Linux', { isKnown: true }),
        }),
        'stateful',
      )
      assert.equal(await world.store.read(findSession, session), undefined)
      const user = await world.store.read(findUser, ann.id)
      assert.deepEqual(
        [user?.deviceGeneration, user?.passwordReportedAt, user?.credentialGeneration],
        [1, at(5), 0],
      )
      assert.equal(await note(world, ann, device('Chrome on Windows')), 'new')
      assert.equal(await note(world, ann, device('Firefox on Linux')), 'known')
      await world.store.write(setPassword, { userId: ann.id, passwordHash: 'new', at: at(6) })
      assert.equal((await world.store.read(findUser, ann.id))?.passwordReportedAt, null)
    },
  )

  promise(
    'keeps the newest sessions of a user up to the limit, and ends the oldest with their tokens',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const bens = await world.signIn(ben)
      const sessions = []
      for (const seconds of [3, 1, 2]) sessions.push(await world.signIn(ann, { seconds }))
      await world.store.write(signInOfSession, sessions[1] as (typeof sessions)[0])
      const oldest = (
        await world.store.read(listSignIns, { ...query(ann, newId()), limit: 9 })
      ).find((one) => one.createdAt === at(1))
      // The clock was set back: the new session is the oldest, and stays.
      const outcome = await world.store.write(addSession, {
        ...added(ann),
        at: at(0),
        maxSessions: 3,
      })
      assert.deepEqual(outcome, {
        revoked: [{ userId: ann.id, signInId: oldest?.signInId, hadTokens: true }],
      })
      const found = await Promise.all(
        sessions.map((session) => world.store.read(findSession, session)),
      )
      assert.deepEqual(
        found.map((session) => session !== undefined),
        [true, false, true],
      )
      assert.equal((await world.store.read(tokenRevocations, at(0)))[0]?.signInId, oldest?.signInId)
      assert.ok(await world.store.read(findSession, bens))
    },
  )

  promise(
    'sign-ins of one user at the same time leave no more sessions than the limit',
    async (world) => {
      const ann = await world.addUser('ann')
      await Promise.all(
        Array.from({ length: 12 }, () =>
          world.store.write(addSession, { ...added(ann), maxSessions: 3 }),
        ),
      )
      assert.equal((await idsOf(world, ann, newId())).length, 3)
    },
  )

  promise(
    'says how well a device is known: the first, one that was seen, or a new one, which it does not keep',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const linux = device('Firefox on Linux')
      const windows = device('Chrome on Windows')
      const outcomes = []
      for (const one of [
        linux,
        linux,
        windows,
        windows,
        { ...windows, isKnown: true },
        windows,
        { ...windows, network: '192.0.2.9' },
      ])
        outcomes.push(await note(world, ann, one))
      assert.deepEqual(outcomes, ['first', 'known', 'new', 'new', 'known', 'known', 'new'])
      assert.equal(await note(world, ben, { ...windows, isKnown: true }), 'known')
      assert.equal(await note(world, ben, linux), 'new')
      assert.equal(
        await world.store.write(noteDevice, { userId: newId(), device: linux, at: at(1) }),
        'absent',
      )
      // The user disowned a sign-in, which raised it.
      const [early, current] = [1, 0].map((deviceGeneration) => ({
        ...device('Safari on iOS', { isKnown: true }),
        deviceGeneration,
      }))
      assert.equal(await note(world, ann, early as SeenDevice), 'absent')
      assert.equal(await note(world, ann, device('Safari on iOS')), 'new')
      assert.equal(await note(world, ann, current as SeenDevice), 'known')
    },
  )

  promise('a session notes its device in the same step', async (world) => {
    const ann = await world.addUser('ann')
    const outcomes = []
    for (const from of [
      device('Firefox on Linux'),
      device('Firefox on Linux'),
      device('Chrome on Windows'),
    ]) {
      const outcome = await world.store.write(addSession, { ...added(ann), from })
      outcomes.push(outcome === 'refused' ? outcome : outcome.device)
    }
    assert.deepEqual(outcomes, ['first', 'known', 'new'])
    assert.equal(
      await world.store.write(addSession, {
        ...added(ann),
        checkedGeneration: 1,
        from: device('curl', { isKnown: true }),
      }),
      'refused',
    )
    assert.equal(await note(world, ann, device('curl')), 'new')
  })

  promise('of the first sign-ins of a user at the same time, one is the first', async (world) => {
    const ann = await world.addUser('ann')
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const outcomes = await Promise.all(names.map((name) => note(world, ann, device(name))))
    assert.deepEqual(outcomes.toSorted(), ['first', 'new', 'new', 'new', 'new', 'new'])
  })

  promise('keeps a limited number of devices, those that were seen last', async (world) => {
    const ann = await world.addUser('ann')
    for (const [seconds, name] of ['a', 'b', 'a', 'c'].entries())
      await note(world, ann, device(name, { isKnown: true, keep: 2 }), seconds)
    assert.equal(await note(world, ann, device('b', { keep: 2 })), 'new')
    for (const name of ['a', 'c'])
      assert.equal(await note(world, ann, device(name, { keep: 2 })), 'known')
  })
}

function idsInOrder(count: number): [string, string, string, ...string[]] {
  return Array.from({ length: count }, () => newId()).sort() as [string, string, string]
}

function query({ id: userId }: Person, ownSignInId: string) {
  return { userId, ownSignInId, alive }
}

type Options = { after?: string; limit?: number; tokensSince?: number }

async function idsOf(
  world: World,
  person: Person,
  own: string,
  { limit = 50, tokensSince, ...more }: Options = {},
) {
  const asked = {
    ...query(person, own),
    ...more,
    limit,
    alive: { ...alive, ...(tokensSince && { tokensSince }) },
  }
  return (await world.store.read(listSignIns, asked)).map(({ signInId }) => signInId)
}

function entryOf({ id: userId }: Person, signInId: string, event: string): AuditEntry {
  const nobody = { requestId: null, nameHash: null, count: 1 }
  const detail = { variant: 'stateless', method: 'password', generation: 0 }
  return {
    id: newId(),
    at: at(2),
    event,
    actor: 'user',
    userId,
    signInId,
    address: '192.0.2.1',
    userAgent: 'curl/8',
    detail,
    ...nobody,
  }
}

function tokenSignIn({ store }: World, person: Person, signInId: string) {
  return store.write(record, [entryOf(person, signInId, 'sign-in')])
}

function endOne(
  { store }: World,
  person: Person,
  signInId: string,
  { isOwn = false, disowned }: { isOwn?: boolean; disowned?: SeenDevice | undefined } = {},
) {
  const audit = [entryOf(person, signInId, 'session-ended')]
  const change = { userId: person.id, signInId, isOwn, alive, at: at(5), audit }
  return store.write(endSignIn, { ...change, ...(disowned && { disowned }) })
}

function device(label: string, { isKnown = false, keep = 50 } = {}): SeenDevice {
  return { label, network: '192.0.2.1', isKnown, keep }
}

function note({ store }: World, { id: userId }: Person, seen: SeenDevice, seconds = 1) {
  return store.write(noteDevice, { userId, device: seen, at: at(seconds) })
}

function added({ id: userId }: Person) {
  const where = { signInId: newId(), device: null, address: null, replaces: [] }
  return {
    userId,
    familyHash: newId(),
    secretHash: newId(),
    checkedGeneration: 0,
    ...where,
    at: at(4),
  }
}
