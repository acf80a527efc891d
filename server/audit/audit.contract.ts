import assert from 'node:assert/strict'
import { newId as timedId } from '../basics/ids.ts'
import { at, newId, type PromiseOf } from '../contract/world.ts'
import { addProducer, revokeProducer } from '../producers/producers.store.ts'
import { addSession, endSessions } from '../sessions/sessions.store.ts'
import { revokeIssuedTokens } from '../sessions/sign-ins.store.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { revokeTokens } from '../tokens/tokens.store.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import { putUsers } from '../users/put-users.store.ts'
import { addUser, enableUser, updateUser } from '../users/users.store.ts'
import {
  type AuditQuery,
  lastSettingsEntry,
  listAudit,
  record,
  removeOldAudit,
} from './audit.store.ts'

function entryOf(event: string, more: Partial<AuditEntry> = {}): AuditEntry {
  const moment = more.at ?? at(0)
  return {
    id: timedId(moment),
    at: moment,
    event,
    actor: 'user',
    userId: null,
    address: '192.0.2.1',
    userAgent: 'Mozilla/5.0 "quoted"',
    requestId: 'request-1',
    signInId: null,
    nameHash: null,
    detail: null,
    count: 1,
    ...more,
  }
}

const events = async (store: Store, userId?: string) =>
  (await store.read(listAudit, { limit: 100, ...(userId !== undefined && { userId }) }))
    .map(({ event }) => event)
    .toReversed()

const change = (userId: string, seconds = 1) => ({
  userId,
  at: at(seconds),
})

export function auditPromises(promise: PromiseOf): void {
  promise('keeps every field of an entry, and lists entries newest first', async (world) => {
    const { store } = world
    const bare = entryOf('sign-in-refused', {
      address: null,
      userAgent: null,
      requestId: null,
      nameHash: 'h',
      count: 7,
    })
    const full = entryOf('sign-in', {
      at: at(1),
      userId: (await world.addUser('ann')).id,
      signInId: 's',
      detail: { variant: 'stateful', n: 1 },
    })
    await store.write(record, [bare, full])
    await store.write(record, [])
    assert.deepEqual(await store.read(listAudit, { limit: 9 }), [full, bare])
  })

  promise(
    'lists the entries of a user, of an actor, since a moment and before an entry',
    async (world) => {
      const { store } = world
      const ann = (await world.addUser('ann')).id
      const ben = (await world.addUser('ben')).id
      const entries = Array.from({ length: 8 }, (_, n) =>
        entryOf('sign-in', {
          at: at(n),
          userId: n % 2 === 0 ? ann : ben,
          actor: n < 4 ? 'operator' : 'user',
        }),
      )
      await store.write(record, entries.toReversed())
      const listed = async (query: Omit<AuditQuery, 'limit'>, limit = 9) =>
        (await store.read(listAudit, { ...query, limit })).map(
          ({ at: moment }) => (moment - at(0)) / 1_000,
        )
      assert.deepEqual(await listed({}), [7, 6, 5, 4, 3, 2, 1, 0])
      assert.deepEqual(await listed({}, 3), [7, 6, 5])
      assert.deepEqual(await listed({ userId: ann }), [6, 4, 2, 0])
      assert.deepEqual(await listed({ actor: 'operator' }), [3, 2, 1, 0])
      assert.deepEqual(await listed({ userId: ben, actor: 'user' }), [7, 5])
      assert.deepEqual(await listed({ since: at(5) }), [7, 6, 5])
      assert.deepEqual(
        await listed({ userId: ann, since: at(3), before: entries[6]?.id ?? '' }),
        [4],
      )
      assert.deepEqual(await listed({ userId: newId() }), [])
    },
  )

  promise(
    'does not name a user who was erased before the entry is recorded (U2)',
    async (world) => {
      const { store } = world
      const { id: userId } = await world.addUser('gone')
      const entry = entryOf('sign-in-refused', { userId })
      await store.write(deleteUser, change(userId))
      await store.write(record, [entry])
      assert.deepEqual(await store.read(listAudit, { limit: 9 }), [{ ...entry, userId: null }])
      assert.deepEqual(await store.read(listAudit, { userId, limit: 9 }), [])
    },
  )

  promise('finds the newest entry about settings', async ({ store }) => {
    assert.equal(await store.read(lastSettingsEntry), undefined)
    const [old, latest, other] = [1, 2, 3].map((n) =>
      entryOf(n < 3 ? 'settings-changed' : 'sign-in', { at: at(n) }),
    )
    await store.write(
      record,
      [old, latest, other].filter((entry) => entry !== undefined),
    )
    assert.deepEqual(await store.read(lastSettingsEntry), latest)
  })

  promise('removes the entries before a moment, at most 1,000 at once', async ({ store }) => {
    const entries = Array.from({ length: 1_500 }, (_, n) => entryOf('sign-in', { at: at(n) }))
    await store.write(record, entries)
    assert.equal(await store.write(removeOldAudit, at(1_200)), 1_000)
    assert.equal(await store.write(removeOldAudit, at(1_200)), 200)
    assert.equal(await store.write(removeOldAudit, at(1_200)), 0)
    assert.deepEqual(
      await store.read(listAudit, { limit: 1_000 }),
      entries.slice(1_200).toReversed(),
    )
  })

  promise(
    'records a change in the same step, and nothing for a change without effect',
    async (world) => {
      const { store } = world
      const userId = newId()
      const absent = newId()
      const other = await world.addUser('other')
      const never = { audit: [entryOf('never')] }
      const audit = (event: string) => ({ audit: [entryOf(event, { userId })] })
      const username = newId()
      const added = { username, displayName: null, createdAt: at(0), passwordHash: 'hash' }
      await store.write(addUser, { ...added, id: userId, ...audit('user-created') })
      await store.write(addUser, { ...added, id: newId(), ...never })
      await store.write(updateUser, { userId, displayName: 'Ann', ...audit('user-changed') })
      await store.write(updateUser, { userId: absent, displayName: 'Ann', ...never })
      await store.write(updateUser, { userId: other.id, username, ...never })
      await store.write(disableUser, { ...change(userId), ...audit('user-disabled') })
      await store.write(disableUser, { ...change(absent), ...never })
      await store.write(enableUser, { userId, ...audit('user-enabled') })
      await store.write(enableUser, { userId: absent, ...never })
      const passwordHash = 'new hash'
      const changed = audit('password-changed')
      await store.write(setPassword, { ...change(userId), passwordHash, ...changed })
      await store.write(setPassword, { ...change(absent), passwordHash, ...never })
      await store.write(revokeIssuedTokens, { ...change(userId), ...audit('tokens-revoked') })
      await store.write(revokeIssuedTokens, { ...change(absent), ...never })
      const signedOut = { userId, signInId: 's1', expiresAt: at(2), at: at(1) }
      await store.write(revokeTokens, { ...signedOut, ...audit('sign-out') })
      const session = { ...change(other.id), secretHash: 'hash', signInId: 's2', device: null }
      const begun = { ...session, familyHash: 'family', address: null, replaces: [] }
      await store.write(addSession, { ...begun, checkedGeneration: 0, ...audit('sign-in') })
      await store.write(addSession, { ...begun, checkedGeneration: 1, ...never })
      const key = { secretHash: 'h', scopes: ['send'], createdAt: at(1), expiresAt: null }
      const producer = { ...key, id: newId(), name: 'ci' }
      await store.write(addProducer, { ...producer, ...audit('key-created') })
      await assert.rejects(store.write(addProducer, { ...producer, ...never }))
      const revoked = { producerId: producer.id, at: at(2) }
      await store.write(revokeProducer, { ...revoked, ...audit('key-revoked') })
      await store.write(revokeProducer, { ...revoked, producerId: newId(), ...never })
      const expected = [
        'key-created',
        'key-revoked',
        'password-changed',
        'sign-in',
        'sign-out',
        'tokens-revoked',
        'user-changed',
        'user-created',
        'user-disabled',
        'user-enabled',
      ]
      assert.deepEqual((await events(store)).toSorted(), expected)
    },
  )

  promise(
    'records each user that putUsers creates or changes, and none that stays as it was',
    async ({ store }) => {
      const put = async (
        ...users: { externalId: string; displayName?: string | null; email?: string }[]
      ) => {
        const entries = users.map((user) => ({ ...user, newId: newId() }))
        return store.write(putUsers, {
          issuer: '',
          at: at(0),
          users: entries.map((user) => ({
            ...user,
            entry: entryOf('user-created', { userId: user.newId }),
          })),
        })
      }
      const created = await put({ externalId: 'a', displayName: 'Ann' }, { externalId: 'b' })
      const [a, b] = created.map(({ user }) => user.id)
      assert.deepEqual(await events(store), ['user-created', 'user-created'])
      await put(
        { externalId: 'a', displayName: 'Ann' },
        { externalId: 'b', email: 'b@example.com' },
      )
      assert.deepEqual(await events(store, a), ['user-created'])
      await put({ externalId: 'a', displayName: null })
      assert.deepEqual((await events(store, a)).toSorted(), ['user-changed', 'user-created'])
      assert.deepEqual((await events(store, b)).toSorted(), ['user-changed', 'user-created'])
      assert.equal((await events(store)).length, 4)
    },
  )

  promise(
    'records the end of each live session with its sign-in, and none of an unknown or expired one',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const live = await world.signIn(ann, { signInId: 'live', seconds: 50 })
      const expired = await world.signIn(ann, { signInId: 'expired', seconds: 1 })
      const keys = [{ userId: ann.id, familyHash: 'unknown', secretHash: 'unknown' }, live, expired]
      const audit = keys.map((_, n) => entryOf('sign-out', { at: at(60 + n), userId: ann.id }))
      const bounds = { createdAfter: at(10), lastSeenAfter: at(10), lastSeenUntil: at(60) }
      const end = { keys, at: at(60), live: bounds, audit }
      assert.equal((await store.write(endSessions, end)).length, 2)
      assert.deepEqual(await store.write(endSessions, end), [])
      assert.deepEqual(await store.read(listAudit, { limit: 9 }), [
        { ...audit[1], signInId: 'live' },
      ])
    },
  )

  promise(
    'erasing a user removes the user’s entries, and records the erasure under the erased key',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await store.write(record, [
        entryOf('sign-in', { userId: ann.id }),
        entryOf('sign-in', { userId: ben.id }),
      ])
      const erased = entryOf('user-erased', {
        at: at(9),
        userId: null,
        detail: { user: 'erased:hash' },
      })
      assert.equal(await store.write(deleteUser, { ...change(ann.id), audit: [erased] }), 'done')
      assert.equal(
        await store.write(deleteUser, { ...change(newId()), audit: [entryOf('never')] }),
        'absent',
      )
      assert.deepEqual(await events(store, ann.id), [])
      assert.deepEqual(await events(store, ben.id), ['sign-in'])
      assert.deepEqual((await store.read(listAudit, { limit: 1 }))[0], erased)
    },
  )
}
