import assert from 'node:assert/strict'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { addFactor } from '../factors/factors.store.ts'
import { linkProviderAccount } from '../providers/provider-accounts.store.ts'
import { findSession } from '../sessions/sessions.store.ts'
import { tokenRevocations } from '../tokens/tokens.store.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import { putUsers } from '../users/put-users.store.ts'
import { addUser, enableUser, findCredentials, findUser, updateUser } from '../users/users.store.ts'
import {
  addLink as addStoredLink,
  findLink,
  type NewLink,
  removeExpiredLinks,
  resetPassword,
} from './links.store.ts'

async function addLink(world: World, { id }: Person, more: Partial<NewLink> = {}): Promise<string> {
  const tokenHash = newId()
  const link = {
    userId: id,
    purpose: 'reset' as const,
    tokenHash,
    at: at(0),
    expiresAt: at(900),
    email: null,
    ...more,
  }
  assert.equal(await world.store.write(addStoredLink, link), 'done')
  return tokenHash
}

function use(
  world: World,
  { id }: Person,
  tokenHash: string,
  { seconds = 1, passwordHash = 'new hash' } = {},
) {
  return world.store.write(resetPassword, { userId: id, tokenHash, passwordHash, at: at(seconds) })
}

async function hashOf(world: World, { username }: Person): Promise<string | undefined> {
  return (await world.store.read(findCredentials, username))?.passwordHash
}

/** A user with a name who has no way to sign in yet. */
async function invited(world: World, name: string): Promise<Person> {
  const person = { id: newId(), username: `${name}-${newId()}` }
  const user = { ...person, passwordHash: null, displayName: null, createdAt: at(0) }
  assert.equal(typeof (await world.store.write(addUser, user)), 'object')
  return { ...person, passwordHash: '' }
}

export function linkPromises(promise: PromiseOf): void {
  promise('finds a link by its hash, and no other (A19)', async (world) => {
    const ann = await world.addUser('ann')
    const more = { email: 'ann@example.org', returnTo: '/inbox' }
    await world.store.write(updateUser, { userId: ann.id, email: more.email })
    const tokenHash = await addLink(world, ann, more)
    const link = { userId: ann.id, purpose: 'reset', expiresAt: at(900), ...more }
    assert.deepEqual(await world.store.read(findLink, tokenHash), link)
    assert.equal(await world.store.read(findLink, newId()), undefined)
  })

  promise(
    'of many uses of a link at the same time one sets the password, and ends every session and token of the user (A19)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const anns = await world.signIn(ann)
      const bens = await world.signIn(ben)
      const tokenHash = await addLink(world, ann)
      const hashes = Array.from({ length: 20 }, (_, n) => `hash ${n}`)
      const outcomes = await Promise.all(
        hashes.map((passwordHash) => use(world, ann, tokenHash, { passwordHash })),
      )
      assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 1)
      assert.equal(await hashOf(world, ann), hashes[outcomes.indexOf('done')])
      assert.equal(await world.store.read(findSession, anns), undefined)
      assert.ok(await world.store.read(findSession, bens))
      const [revocation] = await world.store.read(tokenRevocations, at(2))
      assert.deepEqual([revocation?.userId, revocation?.firstGeneration], [ann.id, 1])
      const user = await world.store.read(findUser, ann.id)
      assert.deepEqual(
        [user?.credentialGeneration, user?.deviceGeneration, user?.emailVerifiedAt],
        [1, 1, null],
      )
      assert.equal(await use(world, ann, tokenHash), 'refused')
      assert.equal(await world.store.read(findLink, tokenHash), undefined)
    },
  )

  promise(
    'the last three links of one purpose are valid, also of the same millisecond; one more voids the oldest, and using one voids all (A19, A20)',
    async (world) => {
      const ann = await invited(world, 'ann')
      const invite = await addLink(world, ann, { purpose: 'invite' })
      const resets: string[] = []
      for (let n = 0; n < 5; n++) resets.push(await addLink(world, ann))
      const isThere = async (hash: string) => (await world.store.read(findLink, hash)) !== undefined
      assert.deepEqual(await Promise.all(resets.map(isThere)), [false, false, true, true, true])
      assert.ok(await isThere(invite), 'a link of another purpose stays')
      assert.equal(await use(world, ann, resets[1] as string), 'refused')
      assert.equal(await use(world, ann, resets[2] as string), 'done')
      for (const link of [...resets, invite]) assert.equal(await isThere(link), false)
    },
  )

  promise(
    'of many links that are created at the same time three are valid (A19)',
    async (world) => {
      const ann = await world.addUser('ann')
      const links = await Promise.all(Array.from({ length: 8 }, () => addLink(world, ann)))
      const found = await Promise.all(links.map((link) => world.store.read(findLink, link)))
      assert.equal(found.filter((link) => link !== undefined).length, 3)
    },
  )

  promise(
    'a new password voids every link of the user, and of no other user (A19)',
    async (world) => {
      const ann = await invited(world, 'ann')
      const ben = await world.addUser('ben')
      const reset = await addLink(world, ann)
      const invite = await addLink(world, ann, { purpose: 'invite' })
      const bens = await addLink(world, ben)
      const change = { userId: ann.id, passwordHash: 'set', at: at(1) }
      assert.equal(await world.store.write(setPassword, change), 'done')
      for (const link of [reset, invite]) assert.equal(await use(world, ann, link), 'refused')
      assert.equal(await hashOf(world, ann), 'set')
      assert.equal(await use(world, ben, bens), 'done')
    },
  )

  promise(
    'a link that has expired, of another user, of a disabled user or for a factor sets no password (A19, A27)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const session = await world.signIn(ann)
      const tokenHash = await addLink(world, ann)
      assert.equal(await use(world, ann, tokenHash, { seconds: 900 }), 'refused')
      assert.equal(await use(world, ben, tokenHash), 'refused')
      const ofFactor = await addLink(world, ann, { purpose: 'factor' })
      assert.equal(await world.store.read(findLink, ofFactor), undefined)
      assert.equal(await use(world, ann, ofFactor), 'refused')
      for (const person of [ann, ben])
        assert.equal(await hashOf(world, person), person.passwordHash)
      assert.ok(await world.store.read(findSession, session))
      await world.store.write(disableUser, { userId: ann.id, at: at(5) })
      assert.equal(await use(world, ann, tokenHash, { seconds: 6 }), 'refused')
      assert.equal((await world.store.read(findUser, ann.id))?.disabledAt, at(5))
      const link = {
        purpose: 'reset' as const,
        tokenHash: newId(),
        at: at(6),
        expiresAt: at(900),
        email: null,
      }
      assert.equal(await world.store.write(addStoredLink, { ...link, userId: ann.id }), 'absent')
      assert.equal(await world.store.write(addStoredLink, { ...link, userId: newId() }), 'absent')
      await world.store.write(enableUser, { userId: ann.id })
      assert.equal(await use(world, ann, tokenHash, { seconds: 7 }), 'refused')
    },
  )

  promise(
    'a link that was mailed verifies the address, and one that was passed on in another way does not',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      for (const { id } of [ann, ben])
        await world.store.write(updateUser, { userId: id, email: 'shared@example.org' })
      assert.equal(
        await use(world, ann, await addLink(world, ann, { email: 'shared@example.org' })),
        'done',
      )
      assert.equal(await use(world, ben, await addLink(world, ben)), 'done')
      assert.equal((await world.store.read(findUser, ann.id))?.emailVerifiedAt, at(1))
      assert.equal((await world.store.read(findUser, ben.id))?.emailVerifiedAt, null)
    },
  )

  promise(
    'a link that was mailed sets no password once its user has another address or none (A19)',
    async (world) => {
      const { store } = world
      const put = async (newEmail: string | null) => {
        const externalId = newId()
        const change = (to: string | null) =>
          store.write(putUsers, {
            issuer: '',
            at: at(0),
            users: [{ newId: newId(), externalId, email: to }],
          })
        const [one] = await change('typo@example.org')
        const { id } = one?.user ?? assert.fail('there is no user')
        return { person: { id, username: '', passwordHash: '' }, next: () => change(newEmail) }
      }
      const patched = async (name: string, newEmail: string | null) => {
        const person = await world.addUser(name)
        await store.write(updateUser, { userId: person.id, email: 'typo@example.org' })
        return {
          person,
          next: () => store.write(updateUser, { userId: person.id, email: newEmail }),
        }
      }
      const changes = [
        await patched('ann', 'right@example.org'),
        await patched('ben', null),
        await put('right@example.org'),
        await put(null),
      ]
      for (const { person, next } of changes) {
        const mailed = await addLink(world, person, { email: 'typo@example.org' })
        const passedOn = await addLink(world, person)
        await store.write(updateUser, { userId: person.id, displayName: 'Ann' })
        assert.ok(await store.read(findLink, mailed), 'another change of the user leaves it')
        await next()
        assert.equal(await store.read(findLink, mailed), undefined)
        const late = await addLink(world, person, { email: 'typo@example.org' })
        assert.equal(await use(world, person, late), 'refused')
        assert.ok(await store.read(findLink, passedOn))
      }
    },
  )

  promise(
    'an invitation of a user with a password, a passkey or an account at a provider is not made, and sets no password (A19)',
    async (world) => {
      const ann = await world.addUser('ann')
      const link = {
        purpose: 'invite' as const,
        tokenHash: newId(),
        at: at(0),
        expiresAt: at(900),
        email: null,
      }
      assert.equal(await world.store.write(addStoredLink, { ...link, userId: ann.id }), 'not-first')
      const passkey = {
        id: newId(),
        kind: 'passkey' as const,
        label: 'Key',
        createdAt: at(0),
        confirmedAt: at(0),
      }
      const account = { issuer: 'https://id.example.org', email: null, at: at(0) }
      const ways = {
        passkey: (userId: string) =>
          world.store.write(addFactor, {
            userId,
            factor: passkey,
            maxFactors: 10,
            recoveryCodeHashes: [],
          }),
        provider: (userId: string) =>
          world.store.write(linkProviderAccount, { ...account, subject: userId, userId }),
      }
      for (const [name, give] of Object.entries(ways)) {
        const ben = await invited(world, name)
        const tokenHash = await addLink(world, ben, { purpose: 'invite' })
        await give(ben.id)
        assert.equal(await use(world, ben, tokenHash), 'not-first', name)
        assert.equal(await hashOf(world, ben), undefined, name)
        assert.equal(
          await world.store.write(addStoredLink, { ...link, userId: ben.id }),
          'not-first',
          name,
        )
      }
    },
  )

  promise('removes expired links, and keeps the others', async (world) => {
    const ann = await invited(world, 'ann')
    const expired = await addLink(world, ann, { expiresAt: at(10) })
    const valid = await addLink(world, ann, { purpose: 'invite', expiresAt: at(11) })
    await world.store.write(removeExpiredLinks, at(10))
    assert.equal(await world.store.read(findLink, expired), undefined)
    assert.ok(await world.store.read(findLink, valid))
  })
}
