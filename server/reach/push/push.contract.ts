// Subscriptions end with their sign-in (W3), and what nobody has seen is pushed once.
import assert from 'node:assert/strict'
import { at, isoAt, newId, type Person, type PromiseOf, type World } from '../../contract/world.ts'
import type { ProvedFactor } from '../../http/operation.ts'
import { actsOf } from '../../inbox/contract/places.contract.ts'
import { markSeen } from '../../inbox/marks.store.ts'
import { changePreferences, putCategory } from '../../preferences/preferences.store.ts'
import { endEveryProof, raiseGenerations } from '../../sessions/everyone.store.ts'
import { endSessions } from '../../sessions/sessions.store.ts'
import { endOtherSignIns, endSignIn, revokeIssuedTokens } from '../../sessions/sign-ins.store.ts'
import { signingKey } from '../../tokens/contract/signing-keys.contract.ts'
import { addSealedKey } from '../../tokens/sealed-keys.store.ts'
import { addSigningKey, dropSigningKey } from '../../tokens/signing-keys.store.ts'
import { revokeTokens } from '../../tokens/tokens.store.ts'
import { rotateSignIn } from '../../users/access/rotation.store.ts'
import { disableUser, setPassword } from '../../users/access/user-changes.store.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { claimOutbox, dueQueues, listOutbox } from '../outbox.store.ts'
import { dueReminders } from '../timers/decision.store.ts'
import { decidePush, pushContent } from './push.store.ts'
import {
  addSubscription,
  findSubscription,
  listSubscriptions,
  maxSubscriptions,
  type NewSubscription,
  removeSubscription,
  removeUnusedSubscriptions,
} from './subscriptions.store.ts'

const pushDelayMs = 10_000
const delay = 10

export const subscriptionOf = (
  ownerId: string,
  signInId: string,
  more: Partial<NewSubscription> = {},
): NewSubscription => ({
  id: newId(),
  ownerId,
  signInId,
  endpoint: 'https://push.example/1',
  p256dh: 'p',
  auth: 'a',
  url: 'https://app.example/',
  device: null,
  factor: null,
  at: at(0),
  ...more,
})

/** The user of this token has never changed a credential. */
const tokenProof = (userId: string, signInId: string) => ({
  proof: { userId, signInId, token: { generation: 0, signInGeneration: 0 } },
})

const idsOf = async ({ store }: World, { id: ownerId }: Person, isScoped = false) =>
  (await store.read(listSubscriptions, { ownerId, isScoped })).map(({ id }) => id)

async function subscribe(
  world: World,
  person: Person,
  signInId: string,
  more: Partial<NewSubscription> = {},
) {
  const added = subscriptionOf(person.id, signInId, more)
  assert.equal(await world.store.write(addSubscription, added), 'done')
  return added.id
}

async function reader(world: World, name = 'ann') {
  const person = await world.addUser(name)
  const { key, signInId } = await signedIn(world, person)
  return { person, key, signInId, subscriptionId: await subscribe(world, person, signInId) }
}

type Reader = Awaited<ReturnType<typeof reader>>

async function signedIn(world: World, person: Person) {
  const signInId = newId()
  const key = await world.signIn(person, { signInId, familyHash: newId(), secretHash: newId() })
  return { key, signInId }
}

const send = (world: World, person: Person, seconds = 0, more = {}) =>
  world.send(person, 'Hi', { at: at(seconds), pushDelayMs, ...more })

/**
 * Decides about everything that is due. Returns the ids in all rows that wait, by the subscription.
 */
async function decide({ store }: World, seconds: number): Promise<Record<string, string[]>> {
  for (const { userId } of await store.read(dueReminders, {
    channels: ['push'],
    at: at(seconds),
  })) {
    await store.write(decidePush, { userId, at: at(seconds), pushDelayMs, rowId: newId() })
  }
  const rows = await store.read(listOutbox, { limit: 1_000 })
  return Object.fromEntries(rows.map(({ target, ids }) => [target, JSON.parse(ids)]))
}

async function takeAll({ store }: World): Promise<void> {
  const due = { channel: 'push' as const, at: at(1e6) }
  const queues = await store.read(dueQueues, due)
  const places = queues.map((queue) => ({ queue, limit: 1_000 }))
  await store.write(claimOutbox, { ...due, holder: store.holder() ?? 0, places })
}

const live = { createdAfter: at(-9e6), lastSeenAfter: at(-9e6), lastSeenUntil: at(9e6) }
const alive = { sessions: live, tokensSince: at(-9e6) }

export function pushPromises(promise: PromiseOf): void {
  promise(
    'a subscription ends with its session, whatever ends that, and no other does (W3)',
    async (world) => {
      const { store } = world
      const ends = {
        'sign-out': ({ key }: Reader) => store.write(endSessions, { keys: [key], at: at(1) }),
        'end of one': ({ person, signInId }: Reader) =>
          store.write(endSignIn, { userId: person.id, signInId, alive, isOwn: false, at: at(1) }),
        disowned: ({ person, signInId }: Reader) => {
          const disowned = { label: 'x', network: 'y', isKnown: true, keep: 9 }
          return store.write(endSignIn, {
            userId: person.id,
            signInId,
            alive,
            isOwn: false,
            at: at(1),
            disowned,
          })
        },
        password: ({ person }: Reader) =>
          store.write(setPassword, { userId: person.id, passwordHash: 'h', at: at(1) }),
        disabled: ({ person }: Reader) =>
          store.write(disableUser, { userId: person.id, at: at(1) }),
        erased: ({ person }: Reader) => store.write(deleteUser, { userId: person.id, at: at(1) }),
      }
      for (const [name, end] of Object.entries(ends)) {
        const one = await reader(world, `ann ${name}`)
        const other = await reader(world, `ben ${name}`)
        await end(one)
        assert.deepEqual(await idsOf(world, one.person), [], name)
        assert.deepEqual(await idsOf(world, other.person), [other.subscriptionId], name)
        assert.equal(
          await store.write(addSubscription, subscriptionOf(one.person.id, one.signInId)),
          'ended',
          name,
        )
      }
    },
  )

  promise(
    'the end of all others keeps the own one, and the end of every sign-in none but the spared (W3)',
    async (world) => {
      const { store } = world
      const ann = await reader(world)
      const other = await signedIn(world, ann.person)
      const ofOther = await subscribe(world, ann.person, other.signInId)
      const issued = await subscribe(
        world,
        ann.person,
        'issued',
        tokenProof(ann.person.id, newId()),
      )
      assert.deepEqual(await idsOf(world, ann.person, true), [issued])
      const { familyHash, secretHash } = ann.key
      const session = { familyHash, secretHash, newHash: 'n', lastSeenAt: at(1) }
      const proof = { userId: ann.person.id, signInId: ann.signInId, session }
      assert.equal(
        await store.write(endOtherSignIns, { userId: ann.person.id, at: at(1), proof }),
        'done',
      )
      assert.deepEqual(await idsOf(world, ann.person), [ann.subscriptionId])
      assert.ok(ofOther)
      const ben = await reader(world, 'ben')
      const sparedUserId = ben.person.id
      const ofTokens = async () => {
        for (const signInId of [newId(), 'issued'])
          await subscribe(world, ben.person, signInId, tokenProof(sparedUserId, newId()))
      }
      const left = async () => [await idsOf(world, ann.person), await idsOf(world, ben.person)]
      await ofTokens()
      await store.write(endEveryProof, { key: signingKey('k'), sparedUserId })
      assert.deepEqual(await left(), [[], [ben.subscriptionId]])
      await ofTokens()
      await store.write(raiseGenerations, { after: '', limit: 9, sparedUserId })
      assert.deepEqual(await left(), [[], [ben.subscriptionId]])
    },
  )

  promise(
    'a new password ends also what a copy of the own proof may have added (W3)',
    async (world) => {
      const { store } = world
      const ann = await reader(world)
      const { familyHash, secretHash } = ann.key
      const session = { familyHash, secretHash, newHash: 'n', lastSeenAt: at(1) }
      const own = { userId: ann.person.id, signInId: ann.signInId }
      const change = { userId: ann.person.id, passwordHash: 'h', at: at(1) }
      assert.equal(
        await store.write(setPassword, {
          ...change,
          rotation: { ...own, at: at(1), confirmedAt: null, session },
        }),
        'done',
      )
      assert.deepEqual(await idsOf(world, ann.person), [])
      await subscribe(world, ann.person, ann.signInId)
    },
  )

  promise(
    'a subscription of tokens ends with their revocation, and none is added with a revoked one (W3)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const signInId = newId()
      await subscribe(world, ann, signInId, tokenProof(ann.id, signInId))
      const foreign = await subscribe(world, ann, 'foreign', tokenProof(ann.id, 'foreign'))
      await store.write(revokeTokens, { userId: ann.id, signInId, at: at(1) })
      assert.deepEqual(await idsOf(world, ann), [foreign])
      const again = subscriptionOf(ann.id, signInId, tokenProof(ann.id, signInId))
      assert.equal(await store.write(addSubscription, again), 'ended')
      const issued = { ...tokenProof(ann.id, newId()), issuedGeneration: 0 }
      await subscribe(world, ann, 'issued', issued)
      await store.write(revokeIssuedTokens, { userId: ann.id, at: at(2) })
      assert.deepEqual(await idsOf(world, ann), [foreign])
      assert.equal(
        await store.write(addSubscription, subscriptionOf(ann.id, 'issued', issued)),
        'ended',
      )
      await store.write(removeUnusedSubscriptions, at(0))
      assert.deepEqual(await idsOf(world, ann), [foreign])
      await store.write(removeUnusedSubscriptions, at(1))
      assert.deepEqual(await idsOf(world, ann), [])
    },
  )

  promise('none is added to a sign-in that ends at the same time (W3)', async (world) => {
    const { store } = world
    for (let round = 0; round < 10; round++) {
      const ann = await world.addUser(`ann ${round}`)
      const { key, signInId } = await signedIn(world, ann)
      const token = newId()
      const adding = [
        subscriptionOf(ann.id, signInId),
        subscriptionOf(ann.id, token, tokenProof(ann.id, token)),
      ].map((one) => store.write(addSubscription, one))
      const ending = [
        store.write(endSessions, { keys: [key], at: at(1) }),
        store.write(revokeTokens, { userId: ann.id, signInId: token, at: at(1) }),
      ]
      await Promise.all([...adding, ...ending])
      assert.deepEqual(await idsOf(world, ann), [])
    }
  })

  promise('what waits for a subscription goes to the one that takes its place', async (world) => {
    const { person, signInId, subscriptionId } = await reader(world)
    await send(world, person)
    await decide(world, delay)
    const next = subscriptionOf(person.id, signInId)
    const replacing = { ...next, replaces: subscriptionId }
    assert.equal(await world.store.write(addSubscription, replacing), 'done')
    const rows = await world.store.read(listOutbox, { limit: 9 })
    assert.deepEqual(
      rows.map(({ target, queue }) => [target, queue]),
      [[next.id, new URL(next.endpoint).host]],
    )
  })

  promise(
    'a new sign-in in the same browser keeps the subscription, and ends it with itself (W3)',
    async (world) => {
      const { person, key, subscriptionId } = await reader(world)
      const signInId = newId()
      const next = await world.signIn(person, {
        signInId,
        familyHash: newId(),
        secretHash: newId(),
        replaces: [key],
      })
      assert.deepEqual(await idsOf(world, person), [subscriptionId])
      await world.store.write(endSessions, { keys: [next], at: at(2) })
      assert.deepEqual(await idsOf(world, person), [])
    },
  )

  promise(
    'a subscription knows the strongest factor that its sign-in has proved (A27)',
    async (world) => {
      const { store } = world
      const { person, key, signInId } = await reader(world)
      const other = await signedIn(world, person)
      await subscribe(world, person, other.signInId)
      const factors = async (own = signInId) => {
        const found = await store.read(listSubscriptions, { ownerId: person.id, isScoped: false })
        const of = (id: string) => found.find((one) => one.signInId === id)?.factor
        return [of(own), of(other.signInId)]
      }
      let { secretHash } = key
      const prove = async (factor?: ProvedFactor) => {
        const session = { ...key, secretHash, newHash: newId(), lastSeenAt: at(1) }
        const proof = { userId: person.id, signInId, session }
        const rotation = { ...proof, at: at(1), confirmedAt: at(1), factor }
        assert.equal(await store.write(rotateSignIn, { rotation }), 'done')
        secretHash = session.newHash
      }
      assert.deepEqual(await factors(), [null, null])
      await prove('mfa')
      assert.deepEqual(await factors(), ['mfa', null])
      await prove('phr')
      await prove('mfa')
      await prove()
      assert.deepEqual(await factors(), ['phr', null])
      const next = newId()
      await world.signIn(person, { signInId: next, replaces: [{ ...key, secretHash }] })
      assert.deepEqual(await factors(next), [null, null])
    },
  )

  promise(
    'a user has 20 subscriptions at most, and an endpoint that another user brings is that user’s',
    async (world) => {
      const { store } = world
      const ann = await reader(world)
      const ben = await reader(world, 'ben')
      for (let n = 1; n < maxSubscriptions; n++) await subscribe(world, ann.person, ann.signInId)
      assert.equal(
        await store.write(addSubscription, subscriptionOf(ann.person.id, ann.signInId)),
        'too-many',
      )
      await subscribe(world, ann.person, ann.signInId, { id: ann.subscriptionId })
      await send(world, ann.person)
      assert.ok((await decide(world, delay))[ann.subscriptionId])
      await subscribe(world, ben.person, ben.signInId, { id: ann.subscriptionId })
      assert.equal((await idsOf(world, ann.person)).length, maxSubscriptions - 1)
      assert.equal((await idsOf(world, ben.person)).length, 2)
      const ofAnn = { id: ann.subscriptionId, ownerId: ann.person.id }
      assert.equal(await store.read(findSubscription, ofAnn), undefined, 'what waited for ann')
      const foreign = { id: ann.subscriptionId, ownerId: ann.person.id, isScoped: false }
      assert.equal(await store.write(removeSubscription, foreign), false)
      const scoped = { id: ann.subscriptionId, ownerId: ben.person.id, isScoped: true }
      assert.equal(await store.write(removeSubscription, scoped), false)
      assert.equal(await store.write(removeSubscription, { ...scoped, isScoped: false }), true)
    },
  )

  promise('a new key for push services ends every subscription', async (world) => {
    const { person, subscriptionId } = await reader(world)
    await world.store.write(addSealedKey, { purpose: 'push', sealed: 'first' })
    assert.deepEqual(await idsOf(world, person), [])
    const { signInId } = await signedIn(world, person)
    await subscribe(world, person, signInId, { id: subscriptionId })
    await world.store.write(addSealedKey, { purpose: 'push', sealed: 'second' })
    assert.deepEqual(await idsOf(world, person), [subscriptionId])
  })

  promise(
    'a signing key that is dropped ends every subscription, and an absent one none (W3)',
    async (world) => {
      const { store } = world
      const { person, subscriptionId } = await reader(world)
      await store.write(addSigningKey, { key: signingKey('k1'), after: null })
      const key = signingKey('k2', { createdAt: 2, startsAt: 2 })
      assert.equal(await store.write(dropSigningKey, { kid: 'k9', key }), 'absent')
      assert.deepEqual(await idsOf(world, person), [subscriptionId])
      assert.equal(await store.write(dropSigningKey, { kid: 'k1', key }), 'done')
      assert.deepEqual(await idsOf(world, person), [])
    },
  )

  promise(
    'what nobody has seen when it is due is in one row for each subscription, once',
    async (world) => {
      const { person, signInId, subscriptionId: phone } = await reader(world)
      const laptop = await subscribe(world, person, signInId)
      const { store } = world
      const read = await send(world, person)
      const archived = await send(world, person)
      const seen = await send(world, person)
      await actsOf(world, person).read(read, 1)
      await actsOf(world, person).archive(archived, 1)
      const seq = (await world.find(person, seen))?.seq ?? 0
      await store.write(markSeen, { userId: person.id, throughSeq: seq })
      const first = await send(world, person, 2)
      const second = await send(world, person, 5)
      assert.deepEqual(await decide(world, delay + 1), {})
      assert.deepEqual(await decide(world, delay + 2), { [phone]: [first], [laptop]: [first] })
      assert.deepEqual(await decide(world, delay + 5), {
        [phone]: [first, second],
        [laptop]: [first, second],
      })
      await takeAll(world)
      assert.deepEqual(await store.read(dueReminders, { channels: ['push'], at: at(1e6) }), [])
      const content = await store.read(pushContent, { userId: person.id, maxIds: 9 })
      assert.deepEqual(
        content.unseen.map(({ id }) => id),
        [second, first],
      )
      assert.deepEqual([content.unread, content.count], [[second, first, seen], 3])
    },
  )

  promise(
    'a user without a subscription has no timer, and one whose last has ended gets none any more',
    async (world) => {
      const { store } = world
      const ben = await world.addUser('ben')
      await send(world, ben)
      const ann = await reader(world)
      const everyone = [ann.person, ben]
      await world.deliver({ to: everyone, at: at(0), pushDelayMs })
      await world.deliver({ to: everyone, at: at(0), pushDelayMs, key: 'k' })
      const due = () => store.read(dueReminders, { channels: ['push'], at: at(1e6) })
      assert.deepEqual(await due(), [{ userId: ann.person.id, channel: 'push' }])
      await store.write(endSessions, { keys: [ann.key], at: at(1) })
      assert.deepEqual(await decide(world, delay), {})
      await send(world, ann.person, 20)
      assert.deepEqual(await due(), [])
    },
  )

  promise('what the reader does not want pushed is not, unless it is mandatory', async (world) => {
    const { person, subscriptionId } = await reader(world)
    const { store } = world
    const category = { application: '', label: '"C"', description: null, mandatory: 1 } as const
    await store.write(putCategory, { ...category, name: 'must' })
    const choices = [
      { category: '', push: 'off' as const },
      { category: 'wanted', push: 'on' as const },
      { category: 'must', push: 'off' as const },
    ]
    const change = { userId: person.id, choices, now: isoAt(0) }
    assert.equal(await store.write(changePreferences, change), 'done')
    const wanted = await send(world, person, 0, { category: 'wanted' })
    await send(world, person, 0, { category: 'other' })
    await send(world, person)
    const must = await send(world, person, 0, { category: 'must' })
    const own = await send(world, person, 0, { category: 'security', producerId: 'carillon' })
    assert.deepEqual((await decide(world, delay))[subscriptionId], [wanted, must, own])
  })
}
