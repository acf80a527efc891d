import assert from 'node:assert/strict'
import { at, newId, type Person, type PromiseOf } from '../../contract/world.ts'
import { findSession } from '../../sessions/sessions.store.ts'
import { tokenRevocations } from '../../tokens/tokens.store.ts'
import { disableUser, setPassword } from '../access/user-changes.store.ts'
import { putUsers } from '../put-users.store.ts'
import {
  addUser,
  enableUser,
  findCredentials,
  findUser,
  findUserByUsername,
  findUsersByEmail,
  rehashPassword,
  updateUser,
} from '../users.store.ts'

/** Of all proofs, by a change at 5 s. */
const revocationOf = ({ id: userId }: Person) => ({
  userId,
  signInId: null,
  expiresAt: at(965),
  firstGeneration: 1,
  exceptSignInId: null,
})

const unproven = {
  emailVerifiedAt: null,
  passwordReportedAt: null,
  passwordEndsAt: null,
  role: null,
}

export function userPromises(promise: PromiseOf): void {
  promise('finds a user by id, and by username with the password hash', async ({ store }) => {
    const user = { id: newId(), username: 'ann', displayName: 'Ann Bee', createdAt: at(1) }
    assert.equal(typeof (await store.write(addUser, { ...user, passwordHash: 'hash' })), 'object')
    const none = {
      disabledAt: null,
      application: '',
      externalId: null,
      issuer: '',
      locale: null,
      email: null,
      ...unproven,
    }
    const found = {
      ...user,
      ...none,
      credentialGeneration: 0,
      issuedGeneration: 0,
      deviceGeneration: 0,
    }
    assert.deepEqual(await store.read(findUserByUsername, 'ann'), found)
    assert.deepEqual(await store.read(findUser, user.id), found)
    assert.deepEqual(await store.read(findCredentials, 'ann'), { ...found, passwordHash: 'hash' })
  })

  promise(
    'finds the users with an e-mail address, in either case of its ASCII letters',
    async (world) => {
      const shops = {
        id: newId().replace(/^.{8}/, '00000000'),
        username: `shop-${newId()}`,
        application: 'shop',
      }
      await world.store.write(addUser, {
        ...shops,
        displayName: null,
        createdAt: at(0),
        passwordHash: null,
      })
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const eve = await world.addUser('eve')
      const addresses = ['Ann.K@example.org', 'ann.k@EXAMPLE.org', 'ann.\u212a@example.org']
      for (const [n, { id }] of [ann, ben, eve].entries())
        await world.store.write(updateUser, { userId: id, email: addresses[n] as string })
      const found = await world.store.read(findUsersByEmail, {
        email: 'ann.k@example.org',
        limit: 5,
      })
      assert.deepEqual(
        found.map(({ id }) => id),
        [ann.id, ben.id].sort(),
      )
      assert.deepEqual(found[0], await world.store.read(findUser, found[0]?.id ?? ''))
      assert.equal(
        (await world.store.read(findUsersByEmail, { email: 'ann.k@example.org', limit: 1 })).length,
        1,
      )
      assert.deepEqual(
        await world.store.read(findUsersByEmail, { email: 'ann@example.org', limit: 5 }),
        [],
      )
      for (const { id } of [ben, shops])
        await world.store.write(updateUser, {
          userId: id,
          email: 'ann.k@example.org',
          emailVerifiedAt: at(1),
        })
      const who = await world.store.read(findUsersByEmail, {
        email: 'Ann.K@example.org',
        limit: 5,
        canSignIn: true,
      })
      assert.deepEqual(
        who.map(({ id }) => id),
        [ben.id],
      )
      const all = await world.store.read(findUsersByEmail, { email: 'ann.k@example.org', limit: 5 })
      assert.deepEqual(
        [all.length, all.at(2)?.id],
        [3, shops.id],
        'users of applications come last',
      )
    },
  )

  promise(
    'gives a username to one of many users that are added with it at the same time',
    async ({ store }) => {
      const offered = Array.from({ length: 20 }, (_, n) => ({
        id: newId(),
        username: 'ann',
        displayName: null,
        createdAt: at(n),
        passwordHash: `hash ${n}`,
      }))
      const results = await Promise.all(offered.map((user) => store.write(addUser, user)))
      const winners = results.filter((result) => typeof result === 'object')
      assert.deepEqual(
        winners.map(({ id }) => id),
        [(await store.read(findCredentials, 'ann'))?.id],
      )
    },
  )

  promise(
    'changes a username, also in the user’s sessions; a name that is taken changes nothing',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const session = await world.signIn(ann)
      assert.equal(
        await world.store.write(updateUser, {
          userId: ann.id,
          username: 'anna',
          displayName: 'Anna',
        }),
        'done',
      )
      assert.equal((await world.store.read(findUser, ann.id))?.username, 'anna')
      assert.equal((await world.store.read(findCredentials, 'anna'))?.id, ann.id)
      assert.equal(await world.store.read(findCredentials, ann.username), undefined)
      assert.equal((await world.store.read(findSession, session))?.username, 'anna')
      const before = await world.store.read(findUser, ann.id)
      const taken = { userId: ann.id, username: ben.username, displayName: 'Ben' }
      assert.equal(await world.store.write(updateUser, taken), 'username-taken')
      assert.deepEqual(await world.store.read(findUser, ann.id), before)
      assert.equal((await world.store.read(findSession, session))?.username, 'anna')
      assert.equal(
        await world.store.write(updateUser, { userId: newId(), displayName: 'Nobody' }),
        'absent',
      )
    },
  )

  promise('an update changes the fields that are given, and null clears a field', async (world) => {
    const ann = await world.addUser('ann')
    const profile = { displayName: 'Ann', locale: 'de', email: 'ann@example.com' }
    await world.store.write(updateUser, { userId: ann.id, ...profile })
    await world.store.write(updateUser, { userId: ann.id, locale: 'fr', email: null })
    const found = await world.store.read(findUser, ann.id)
    assert.deepEqual(
      [found?.username, found?.displayName, found?.locale, found?.email],
      [ann.username, 'Ann', 'fr', null],
    )
  })

  promise(
    'an address that another one replaces takes its proof with it; the first proof of an address stays',
    async (world) => {
      const { id: userId } = await world.addUser('ann')
      const proof = async () => (await world.store.read(findUser, userId))?.emailVerifiedAt
      const steps = [
        [{ emailVerifiedAt: at(1) }, null],
        [{ email: 'a@example.com', emailVerifiedAt: at(2) }, at(2)],
        [{ email: 'a@example.com', emailVerifiedAt: at(3) }, at(2)],
        [{ email: 'a@example.com', displayName: 'Ann' }, at(2)],
        [{ email: 'b@example.com' }, null],
        [{ emailVerifiedAt: at(4) }, at(4)],
        [{ email: 'c@example.com', emailVerifiedAt: at(5) }, at(5)],
        [{ emailVerifiedAt: null }, null],
        [{ email: 'c@example.com', emailVerifiedAt: at(6) }, at(6)],
        [{ email: null, emailVerifiedAt: at(7) }, null],
      ] as const
      for (const [profile, expected] of steps) {
        assert.equal(await world.store.write(updateUser, { userId, ...profile }), 'done')
        assert.equal(await proof(), expected, JSON.stringify(profile))
        const externalId = userId
        const [put] = await world.store.write(putUsers, {
          issuer: '',
          at: at(0),
          users: [{ newId: newId(), externalId, ...profile }],
        })
        assert.equal(put?.user.emailVerifiedAt, expected, JSON.stringify(profile))
      }
      const added = {
        id: newId(),
        username: null,
        displayName: null,
        passwordHash: null,
        createdAt: at(0),
      }
      for (const email of ['d@example.com', null]) {
        const user = { ...added, id: newId(), email, emailVerifiedAt: at(8) }
        assert.equal(typeof (await world.store.write(addUser, user)), 'object')
        assert.equal(
          (await world.store.read(findUser, user.id))?.emailVerifiedAt,
          email === null ? null : at(8),
        )
      }
    },
  )

  promise(
    'keeps when a generated password ends, until another one is set (A26)',
    async ({ store }) => {
      const id = newId()
      const user = {
        id,
        username: 'ann',
        displayName: null,
        createdAt: at(1),
        passwordHash: 'hash',
      }
      const endOf = async () => (await store.read(findCredentials, 'ann'))?.passwordEndsAt
      await store.write(addUser, { ...user, passwordEndsAt: at(9) })
      assert.equal(await endOf(), at(9))
      await store.write(rehashPassword, {
        userId: id,
        checkedPasswordHash: 'hash',
        passwordHash: 'again',
      })
      assert.equal(await endOf(), at(9), 'another hash of the same password')
      await store.write(setPassword, {
        userId: id,
        passwordHash: 'generated',
        at: at(2),
        passwordEndsAt: at(20),
      })
      assert.equal(await endOf(), at(20))
      await store.write(setPassword, { userId: id, passwordHash: 'chosen', at: at(3) })
      assert.equal(await endOf(), null)
    },
  )

  promise('disables a user; repeating the call keeps the first disabledAt', async (world) => {
    const ann = await world.addUser('ann')
    assert.equal(await world.store.write(disableUser, { userId: ann.id, at: at(5) }), 'done')
    assert.equal(await world.store.write(disableUser, { userId: ann.id, at: at(9) }), 'done')
    assert.equal((await world.store.read(findUser, ann.id))?.disabledAt, at(5))
    assert.equal((await world.store.read(findCredentials, ann.username))?.disabledAt, at(5))
  })

  for (const [name, change, deviceGeneration] of [
    ['setPassword ends every session and token', setPassword, 0],
    ['disableUser ends every session, token and device token', disableUser, 1],
  ] as const)
    promise(`${name} of the user, and of no other user`, async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const sessions = [await world.signIn(ann), await world.signIn(ann)]
      const bens = await world.signIn(ben)
      const input = { userId: ann.id, passwordHash: 'new hash', at: at(5) }
      assert.equal(await store.write(change, input), 'done')
      for (const session of sessions)
        assert.equal(await store.read(findSession, session), undefined)
      assert.equal((await store.read(findSession, bens))?.userId, ben.id)
      assert.deepEqual(await store.read(tokenRevocations, at(6)), [revocationOf(ann)])
      assert.equal((await store.read(findUser, ann.id))?.deviceGeneration, deviceGeneration)
      const bensNow = await store.read(findCredentials, ben.username)
      assert.deepEqual([bensNow?.deviceGeneration, bensNow?.passwordHash], [0, ben.passwordHash])
    })

  promise(
    'raises and revokes by the credential generation with each new password and each call that disables (T7)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const changes = [
        () => world.store.write(setPassword, { userId: ann.id, passwordHash: 'one', at: at(9) }),
        () => world.store.write(disableUser, { userId: ann.id, at: at(5) }),
        () => world.store.write(disableUser, { userId: ann.id, at: at(1) }),
        () => world.store.write(setPassword, { userId: ann.id, passwordHash: 'one', at: at(1) }),
      ]
      for (const [index, change] of changes.entries()) {
        await change()
        assert.equal((await world.store.read(findUser, ann.id))?.credentialGeneration, index + 1)
        assert.equal(
          (await world.store.read(findCredentials, ann.username))?.credentialGeneration,
          index + 1,
        )
        assert.equal(
          (await world.store.read(tokenRevocations, at(0)))[0]?.firstGeneration,
          index + 1,
        )
      }
      assert.equal((await world.store.read(findUser, ben.id))?.credentialGeneration, 0)
    },
  )

  promise(
    'a disabled user is enabled, also by a new password; earlier sessions stay ended',
    async (world) => {
      const { store } = world
      for (const passwordHash of [undefined, 'new hash']) {
        const ann = await world.addUser(newId())
        const userId = ann.id
        const session = await world.signIn(ann)
        await store.write(disableUser, { userId, at: at(5) })
        const enabled =
          passwordHash === undefined
            ? await store.write(enableUser, { userId })
            : await store.write(setPassword, { userId, passwordHash, at: at(6) })
        assert.equal(enabled, 'done')
        assert.equal((await store.read(findUser, userId))?.disabledAt, null)
        assert.equal(await store.read(findSession, session), undefined)
        await world.signIn({ ...ann, ...(passwordHash !== undefined && { passwordHash }) })
      }
      assert.equal(await store.write(enableUser, { userId: newId() }), 'absent')
    },
  )

  promise(
    'replaces the hash that was checked, and revokes nothing; another hash is kept',
    async (world) => {
      const ann = await world.addUser('ann')
      const session = await world.signIn(ann)
      const change = {
        userId: ann.id,
        checkedPasswordHash: ann.passwordHash,
        passwordHash: 'new hash',
      }
      assert.equal(await world.store.write(rehashPassword, change), 'done')
      assert.equal(
        await world.store.write(rehashPassword, { ...change, passwordHash: 'newer hash' }),
        'refused',
      )
      const found = await world.store.read(findCredentials, ann.username)
      assert.deepEqual([found?.passwordHash, found?.credentialGeneration], ['new hash', 0])
      assert.equal((await world.store.read(findSession, session))?.userId, ann.id)
      assert.deepEqual(await world.store.read(tokenRevocations, at(0)), [])
    },
  )

  promise('returns "absent" for an unknown user, and revokes nothing', async ({ store }) => {
    const change = { userId: newId(), at: at(5) }
    assert.equal(await store.write(disableUser, change), 'absent')
    assert.equal(await store.write(setPassword, { ...change, passwordHash: 'hash' }), 'absent')
    assert.deepEqual(await store.read(tokenRevocations, at(0)), [])
  })

  promise(
    'a new password, its generation, the end of the sessions and the revocation of the tokens become visible in one step (S7, T7)',
    async (world) => {
      const ann = await world.addUser('ann')
      for (let round = 1; round <= 20; round++) {
        const before = `hash ${round - 1}`
        const passwordHash = `hash ${round}`
        const session = await world.signIn(round === 1 ? ann : { ...ann, passwordHash: before })
        const change = { userId: ann.id, passwordHash, at: at(round) }
        let isDone = false
        const writing = world.store.write(setPassword, change).finally(() => {
          isDone = true
        })
        while (!isDone) {
          const credentials = await world.store.read(findCredentials, ann.username)
          const isNew = credentials?.passwordHash === passwordHash
          assert.equal(credentials?.credentialGeneration, round - 1 + Number(isNew))
          if (isNew) {
            assert.equal(await world.store.read(findSession, session), undefined)
            assert.equal(
              (await world.store.read(tokenRevocations, at(0)))[0]?.firstGeneration,
              round,
            )
          }
          await new Promise(setImmediate)
        }
        await writing
      }
    },
  )
}
