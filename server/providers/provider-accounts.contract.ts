import assert from 'node:assert/strict'
import { at, newId, type PromiseOf, type World } from '../contract/world.ts'
import type { AuditEntry } from '../store/events.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import { findUser, listUsers } from '../users/users.store.ts'
import {
  addProviderUser,
  linkProviderAccount,
  providerAccounts,
  unlinkProviderAccount,
  useProviderAccount,
} from './provider-accounts.store.ts'

const issuer = 'https://id.example'
const other = 'https://other.example'
let subjects = 0
const newSubject = () => `subject-${++subjects}`

const audit = (userId: string, event: string): AuditEntry[] => [
  {
    id: newId(),
    at: at(1),
    event,
    actor: 'user',
    userId,
    address: null,
    userAgent: null,
    requestId: null,
    signInId: null,
    nameHash: null,
    detail: { provider: 'staff' },
    count: 1,
  },
]

/** The user has no other way to sign in. */
async function addAccount({ store }: World, subject: string, email: string | null = null) {
  const id = newId()
  const account = { issuer, subject, newId: id, displayName: 'Ann', email, at: at(1) }
  return store.write(addProviderUser, { ...account, audit: audit(id, 'user-created') })
}

export function providerAccountPromises(promise: PromiseOf): void {
  promise(
    'creates a user with an account, and finds it by issuer and subject, byte by byte (P4)',
    async (world) => {
      const { store } = world
      const subject = newSubject()
      const ann = await addAccount(world, subject, 'ann@example.org')
      assert.deepEqual(
        [ann.username, ann.displayName, ann.email, ann.externalId],
        [null, 'Ann', 'ann@example.org', null],
      )
      assert.deepEqual(
        [ann.emailVerifiedAt, ann.createdAt, ann.credentialGeneration],
        [at(1), at(1), 0],
      )
      assert.deepEqual(await store.read(findUser, ann.id), ann)
      assert.deepEqual(await store.write(useProviderAccount, { issuer, subject, at: at(5) }), ann)
      const account = {
        issuer,
        subject,
        email: 'ann@example.org',
        createdAt: at(1),
        lastUsedAt: at(5),
      }
      assert.deepEqual(await store.read(providerAccounts, ann.id), [account])
      for (const key of [
        { issuer: `${issuer}/`, subject },
        { issuer, subject: subject.toUpperCase() },
        { issuer, subject: ` ${subject}` },
      ])
        assert.equal(await store.write(useProviderAccount, { ...key, at: at(6) }), undefined)
      const withoutEmail = await addAccount(world, newSubject())
      assert.deepEqual([withoutEmail.email, withoutEmail.emailVerifiedAt], [null, null])
    },
  )

  promise(
    'of many calls for one account, one creates a user, and all return that user',
    async (world) => {
      const subject = newSubject()
      const users = await Promise.all(Array.from({ length: 20 }, () => addAccount(world, subject)))
      assert.equal(new Set(users.map(({ id }) => id)).size, 1)
      const all = await world.store.read(listUsers, { after: '', limit: 100 })
      assert.equal(all.filter(({ displayName }) => displayName === 'Ann').length, 1)
    },
  )

  promise(
    'an account of a user goes to no other user, and linking it again changes nothing (P4)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const link = { issuer, subject: newSubject(), email: null }
      assert.equal(
        await store.write(linkProviderAccount, { ...link, userId: ann.id, at: at(1) }),
        'done',
      )
      const again = { ...link, userId: ann.id, at: at(2), email: 'x@y' }
      assert.equal(await store.write(linkProviderAccount, again), 'unchanged')
      assert.equal(
        await store.write(linkProviderAccount, { ...link, userId: ben.id, at: at(3) }),
        'taken',
      )
      assert.deepEqual(await store.read(providerAccounts, ben.id), [])
      const [account] = await store.read(providerAccounts, ann.id)
      assert.deepEqual([account?.email, account?.createdAt], [null, at(1)])
      const second = { ...link, subject: newSubject(), userId: ann.id, at: at(4) }
      assert.equal(await store.write(linkProviderAccount, second), 'has-another')
      assert.equal(await store.write(linkProviderAccount, { ...second, issuer: other }), 'done')
      assert.deepEqual(
        (await store.read(providerAccounts, ann.id)).map((one) => one.issuer),
        [issuer, other],
      )
    },
  )

  promise('of many users that link one account at the same time, one gets it', async (world) => {
    const people = await world.addUsers(10)
    const key = { issuer, subject: newSubject(), email: null, at: at(1) }
    const outcomes = await Promise.all(
      people.map(({ id }) => world.store.write(linkProviderAccount, { ...key, userId: id })),
    )
    assert.deepEqual(outcomes.toSorted(), ['done', ...Array.from({ length: 9 }, () => 'taken')])
  })

  promise(
    'of many accounts of one issuer that a user links at the same time, one is linked',
    async (world) => {
      const { id: userId } = await world.addUser('ann')
      const links = Array.from({ length: 10 }, () =>
        world.store.write(linkProviderAccount, {
          issuer,
          subject: newSubject(),
          userId,
          email: null,
          at: at(1),
        }),
      )
      assert.equal((await Promise.all(links)).filter((outcome) => outcome === 'done').length, 1)
      assert.equal((await world.store.read(providerAccounts, userId)).length, 1)
    },
  )

  promise(
    'links nothing for an absent or disabled user, or after a password change',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const key = { issuer, subject: newSubject(), email: null, at: at(2) }
      await store.write(setPassword, { userId: ann.id, passwordHash: 'new', at: at(1) })
      await store.write(disableUser, { userId: ben.id, at: at(1) })
      const link = (userId: string) => {
        const place = { userId, signInId: newId(), at: at(2), confirmedAt: null }
        const rotation = { ...place, token: { generation: 0, signInGeneration: 0 } }
        return store.write(linkProviderAccount, { ...key, userId, rotation })
      }
      assert.deepEqual(await Promise.all([ann.id, ben.id, newId()].map(link)), [
        'outdated',
        'outdated',
        'absent',
      ])
      assert.equal(await store.write(useProviderAccount, { ...key, at: at(3) }), undefined)
    },
  )

  promise('of a disabled user, finds the account and records no use', async (world) => {
    const subject = newSubject()
    const { id } = await addAccount(world, subject)
    await world.store.write(disableUser, { userId: id, at: at(2) })
    assert.equal(
      (await world.store.write(useProviderAccount, { issuer, subject, at: at(3) }))?.disabledAt,
      at(2),
    )
    assert.equal((await world.store.read(providerAccounts, id))[0]?.lastUsedAt, at(1))
  })

  promise('removes an account unless it is the last way to sign in (P4)', async (world) => {
    const { store } = world
    const subject = newSubject()
    const second = newSubject()
    const { id: userId } = await addAccount(world, subject)
    const remove = { userId, issuer, issuers: [issuer, other] }
    assert.equal(await store.write(unlinkProviderAccount, { ...remove, issuer: other }), 'absent')
    assert.equal(await store.write(unlinkProviderAccount, remove), 'last')
    const link = { issuer: other, subject: second, userId, email: null, at: at(2) }
    assert.equal(await store.write(linkProviderAccount, link), 'done')
    assert.equal(await store.write(unlinkProviderAccount, { ...remove, issuers: [issuer] }), 'last')
    assert.equal(await store.write(unlinkProviderAccount, remove), 'done')
    assert.equal(await store.write(unlinkProviderAccount, remove), 'absent')
    assert.equal(await store.write(useProviderAccount, { issuer, subject, at: at(3) }), undefined)
    assert.equal(
      (await store.write(useProviderAccount, { issuer: other, subject: second, at: at(3) }))?.id,
      userId,
    )
    const withPassword = await world.addUser('ben')
    await store.write(linkProviderAccount, {
      ...link,
      subject: newSubject(),
      userId: withPassword.id,
    })
    assert.equal(
      await store.write(unlinkProviderAccount, {
        userId: withPassword.id,
        issuer: other,
        issuers: [],
      }),
      'done',
    )
  })

  promise('of two accounts that are removed at the same time, one stays', async (world) => {
    const { store } = world
    for (let round = 0; round < 5; round++) {
      const { id: userId } = await addAccount(world, newSubject())
      const link = { issuer: other, subject: newSubject(), userId, email: null, at: at(2) }
      await store.write(linkProviderAccount, link)
      const issuers = [issuer, other]
      const outcomes = await Promise.all(
        issuers.map((one) => store.write(unlinkProviderAccount, { userId, issuer: one, issuers })),
      )
      assert.deepEqual(outcomes.toSorted(), ['done', 'last'])
    }
  })

  promise(
    'erasing a user removes the accounts, which can then belong to another user (U2)',
    async (world) => {
      const subject = newSubject()
      const { id } = await addAccount(world, subject)
      await world.store.write(deleteUser, { userId: id, at: at(2) })
      assert.equal(
        await world.store.write(useProviderAccount, { issuer, subject, at: at(3) }),
        undefined,
      )
      assert.deepEqual(await world.store.read(providerAccounts, id), [])
      assert.notEqual((await addAccount(world, subject)).id, id)
    },
  )
}
