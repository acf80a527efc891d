import assert from 'node:assert/strict'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { addLink, type NewLink } from '../links/links.store.ts'
import { findSession, type SessionKey } from '../sessions/sessions.store.ts'
import { tokenRevocations } from '../tokens/tokens.store.ts'
import { resetFactors } from '../users/access/user-changes.store.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import { addUser, findUser, updateUser } from '../users/users.store.ts'
import {
  addChallenge,
  addFactor,
  confirmFactor,
  factorsOf,
  findChallenge,
  type NewFactor,
  removeExpiredChallenges,
  removeFactor,
  replaceRecoveryCodes,
  useChallenge,
  useFactor,
  useRecoveryCode,
} from './factors.store.ts'

const codes = ['first code', 'second code']
const otherCodes = ['third code']

const totp = (more: Partial<NewFactor> = {}): NewFactor => ({
  id: newId(),
  kind: 'totp',
  label: 'Phone',
  sealedSecret: 'sealed',
  createdAt: at(1),
  confirmedAt: null,
  ...more,
})
const passkey = (more: Partial<NewFactor> = {}): NewFactor => ({
  id: newId(),
  kind: 'passkey',
  label: 'Key',
  credentialId: newId(),
  publicKey: 'public',
  signCount: 5,
  transports: ['usb', 'nfc'],
  createdAt: at(1),
  confirmedAt: at(1),
  ...more,
})

export function factorPromises(promise: PromiseOf): void {
  promise('lists the factors of a user in the order of their ids', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    assert.deepEqual(await world.store.read(factorsOf, ann.id), {
      factors: [],
      recoveryCodesLeft: 0,
    })
    // Each id of a test is lower than the one before.
    const key = passkey()
    const phone = totp()
    assert.equal(await add(world, ann, key), 'first')
    assert.equal(await add(world, ann, phone), 'done')
    assert.equal(
      await add(world, ben, passkey({ credentialId: key.credentialId ?? null })),
      'first',
    )
    const { factors, recoveryCodesLeft } = await world.store.read(factorsOf, ann.id)
    const none = {
      sealedSecret: null,
      lastStep: null,
      credentialId: null,
      publicKey: null,
      signCount: null,
    }
    const expected = [
      { ...none, transports: null, lastUsedAt: null, ...phone },
      { ...none, lastUsedAt: null, ...key },
    ]
    assert.deepEqual(factors, expected)
    assert.equal(recoveryCodesLeft, codes.length)
  })

  promise(
    'a needed link is used up with the factor, once, by its user and in its time (A27)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const linkOf = async ({ id: userId }: Person, more: Partial<NewLink> = {}) => {
        const made = {
          userId,
          purpose: 'factor' as const,
          tokenHash: newId(),
          at: at(0),
          expiresAt: at(900),
          email: null,
        }
        assert.equal(await store.write(addLink, { ...made, ...more }), 'done')
        return { linkHash: made.tokenHash }
      }
      const addBy = async (given: { linkHash: string }, factor = passkey()) => {
        const addition = { userId: ann.id, factor, maxFactors: 10, recoveryCodeHashes: codes }
        return store.write(addFactor, { ...addition, ...given })
      }
      await store.write(updateUser, { userId: ann.id, email: 'ann@example.org' })
      const refused = [
        { linkHash: newId() },
        await linkOf(ben),
        await linkOf(ann, { purpose: 'reset' }),
        await linkOf(ann, { expiresAt: at(1) }),
        await linkOf(ann, { email: 'other@example.org' }),
        await linkOf(ann, { email: 'ann@example.org' }),
      ]
      for (const one of refused) assert.equal(await addBy(one), 'no-link')
      assert.deepEqual((await store.read(factorsOf, ann.id)).factors, [])
      await store.write(updateUser, {
        userId: ann.id,
        email: 'ann@example.org',
        emailVerifiedAt: at(1),
      })
      assert.equal(
        await addBy(refused.at(-1) as { linkHash: string }),
        'first',
        'the address is verified now',
      )
      const link = await linkOf(ann)
      assert.deepEqual((await Promise.all([addBy(link), addBy(link)])).sort(), ['done', 'no-link'])
      const app = totp()
      await add(world, ann, app)
      const confirm = {
        userId: ann.id,
        factorId: app.id,
        step: 40,
        at: at(1),
        recoveryCodeHashes: codes,
      }
      assert.equal(await store.write(confirmFactor, { ...confirm, ...link }), 'no-link')
      assert.equal(await store.write(confirmFactor, { ...confirm, ...(await linkOf(ann)) }), 'done')
    },
  )

  promise(
    'keeps the last factor, or the last passkey, if each user has to have one (A27)',
    async (world) => {
      const { store } = world
      const { ann, factorId: app } = await withTotp(world)
      const remove = (factorId: string, demanded?: 'required' | 'passkey') =>
        store.write(removeFactor, { userId: ann.id, factorId, demanded })
      for (const demanded of ['required', 'passkey'] as const)
        assert.equal(await remove(app, demanded), 'demanded', demanded)
      const key = passkey()
      await add(world, ann, key)
      assert.equal(await remove(key.id, 'passkey'), 'demanded')
      assert.equal(await remove(key.id, 'required'), 'done')
      assert.equal(await remove(app, 'required'), 'demanded')
      assert.equal(await remove(app), 'done')
    },
  )

  promise(
    'a factor that is not confirmed replaces another one that is not, and does not count',
    async (world) => {
      const ann = await world.addUser('ann')
      const earlier = totp()
      const later = totp()
      assert.equal(await add(world, ann, earlier), 'done')
      assert.equal(await add(world, ann, later), 'done')
      const { factors, recoveryCodesLeft } = await world.store.read(factorsOf, ann.id)
      assert.deepEqual([factors.map(({ id }) => id), recoveryCodesLeft], [[later.id], 0])
      const use = { userId: ann.id, factorId: later.id, at: at(2), step: 7 }
      assert.equal(await world.store.write(useFactor, use), 'refused')
    },
  )

  promise(
    'refuses a factor beyond the limit, a credential twice and an unknown user, and changes nothing',
    async (world) => {
      const ann = await world.addUser('ann')
      const one = passkey()
      const two = passkey()
      await add(world, ann, one)
      assert.equal(
        await add(world, ann, passkey({ credentialId: one.credentialId ?? null })),
        'taken',
      )
      await add(world, ann, two)
      const add3 = (factor: NewFactor) =>
        world.store.write(addFactor, {
          userId: ann.id,
          factor,
          maxFactors: 3,
          recoveryCodeHashes: codes,
        })
      assert.deepEqual(
        [await add3(totp()), await add3(totp()), await add3(passkey())],
        ['done', 'done', 'full'],
      )
      assert.equal(await add(world, { ...ann, id: newId() }, passkey()), 'absent')
      assert.equal((await world.store.read(factorsOf, ann.id)).factors.length, 3)
    },
  )

  promise(
    'confirms a factor once, and gives the recovery codes with the first one only',
    async (world) => {
      const ann = await world.addUser('ann')
      const confirm = (factorId: string, recoveryCodeHashes: string[], step = 40) =>
        world.store.write(confirmFactor, {
          userId: ann.id,
          factorId,
          step,
          at: at(3),
          recoveryCodeHashes,
        })
      const phone = totp()
      const tablet = totp()
      await add(world, ann, phone)
      assert.equal(await confirm(phone.id, codes), 'first')
      assert.equal(await confirm(phone.id, otherCodes), 'refused')
      assert.equal(await confirm(newId(), otherCodes), 'absent')
      await add(world, ann, tablet)
      assert.equal(await confirm(tablet.id, otherCodes), 'done')
      const { factors, recoveryCodesLeft } = await world.store.read(factorsOf, ann.id)
      assert.deepEqual(
        factors.map(({ confirmedAt, lastUsedAt, lastStep }) => [confirmedAt, lastUsedAt, lastStep]),
        [
          [at(3), at(3), 40],
          [at(3), at(3), 40],
        ],
      )
      assert.equal(recoveryCodesLeft, codes.length)
      const again = { userId: ann.id, factorId: phone.id, at: at(4), step: 40 }
      assert.equal(
        await world.store.write(useFactor, again),
        'refused',
        'the code that confirmed it counts as used',
      )
    },
  )

  promise('of calls at the same time, one adds the first factor', async (world) => {
    const ann = await world.addUser('ann')
    const added = await Promise.all(Array.from({ length: 8 }, () => add(world, ann, passkey())))
    assert.deepEqual(added.toSorted(), [...Array(7).fill('done'), 'first'])
  })

  promise(
    'accepts a code of a time step once, by its user, and none of an earlier step',
    async (world) => {
      const { ann, factorId } = await withTotp(world)
      const ben = await world.addUser('ben')
      const use = (step: number, { id: userId } = ann) =>
        world.store.write(useFactor, { userId, factorId, at: at(step), step })
      assert.equal(await use(99, ben), 'refused')
      assert.equal(await world.store.write(removeFactor, { userId: ben.id, factorId }), 'absent')
      assert.deepEqual(
        [await use(50), await use(50), await use(49), await use(51)],
        ['done', 'refused', 'refused', 'done'],
      )
      const raced = await Promise.all(Array.from({ length: 10 }, () => use(60)))
      assert.deepEqual(raced.filter((outcome) => outcome === 'done').length, 1)
      const [factor] = (await world.store.read(factorsOf, ann.id)).factors
      assert.deepEqual([factor?.lastStep, factor?.lastUsedAt], [60, at(60)])
    },
  )

  promise('accepts a passkey whose counter rose or which has none, and no other', async (world) => {
    const ann = await world.addUser('ann')
    const counting = passkey({ signCount: 5 })
    const plain = passkey({ signCount: 0 })
    for (const factor of [counting, plain]) await add(world, ann, factor)
    const use = (factorId: string, signCount: number) =>
      world.store.write(useFactor, { userId: ann.id, factorId, at: at(9), signCount })
    assert.deepEqual(
      [
        await use(counting.id, 5),
        await use(counting.id, 0),
        await use(counting.id, 6),
        await use(counting.id, 6),
      ],
      ['refused', 'refused', 'done', 'refused'],
    )
    assert.deepEqual(
      [await use(plain.id, 0), await use(plain.id, 0), await use(plain.id, 1)],
      ['done', 'done', 'done'],
    )
    assert.equal(await use(plain.id, 0), 'refused')
    const step = { userId: ann.id, factorId: plain.id, at: at(9), step: 1 }
    assert.equal(
      await world.store.write(useFactor, step),
      'refused',
      'a time step proves no passkey',
    )
  })

  promise('accepts a recovery code once', async (world) => {
    const { ann } = await withTotp(world)
    const use = (codeHash: string) =>
      world.store.write(useRecoveryCode, { userId: ann.id, codeHash, at: at(9) })
    const raced = await Promise.all(Array.from({ length: 10 }, () => use('first code')))
    assert.deepEqual(raced.filter((outcome) => outcome === 'done').length, 1)
    assert.equal(await use('made up'), 'refused')
    assert.equal((await world.store.read(factorsOf, ann.id)).recoveryCodesLeft, 1)
  })

  promise(
    'new recovery codes end the old ones, and need a confirmed factor (A18)',
    async (world) => {
      const { ann } = await withTotp(world)
      const replace = { userId: ann.id, recoveryCodeHashes: otherCodes, at: at(5) }
      assert.equal(await world.store.write(replaceRecoveryCodes, replace), 'done')
      const use = (codeHash: string) =>
        world.store.write(useRecoveryCode, { userId: ann.id, codeHash, at: at(9) })
      assert.deepEqual([await use('first code'), await use('third code')], ['refused', 'done'])
      const ben = await world.addUser('ben')
      assert.equal(
        await world.store.write(replaceRecoveryCodes, { ...replace, userId: ben.id }),
        'refused',
      )
      assert.equal((await world.store.read(factorsOf, ben.id)).recoveryCodesLeft, 0)
    },
  )

  promise('the recovery codes end with the last confirmed factor', async (world) => {
    const { ann, factorId } = await withTotp(world)
    const key = passkey()
    await add(world, ann, key)
    await add(world, ann, totp())
    const left = async () => {
      const { factors, recoveryCodesLeft } = await world.store.read(factorsOf, ann.id)
      return [factors.length, recoveryCodesLeft]
    }
    assert.equal(await world.store.write(removeFactor, { userId: ann.id, factorId }), 'done')
    assert.deepEqual(await left(), [2, codes.length])
    assert.equal(
      await world.store.write(removeFactor, { userId: ann.id, factorId: key.id }),
      'done',
    )
    assert.equal(
      await world.store.write(removeFactor, { userId: ann.id, factorId: key.id }),
      'absent',
    )
    const use = { userId: ann.id, codeHash: 'first code', at: at(9) }
    assert.equal(await world.store.write(useRecoveryCode, use), 'refused')
  })

  promise(
    'keeps a passkey that is the last way to sign in, until there is another one',
    async (world) => {
      const userId = newId()
      const key = passkey()
      const other = passkey()
      await world.store.write(addUser, {
        id: userId,
        username: null,
        displayName: null,
        createdAt: at(1),
        passwordHash: null,
      })
      const person = { id: userId, username: '', passwordHash: '' }
      await add(world, person, key)
      const remove = (factorId: string) => world.store.write(removeFactor, { userId, factorId })
      assert.equal(await remove(key.id), 'last')
      assert.equal((await world.store.read(factorsOf, userId)).factors.length, 1)
      await add(world, person, other)
      assert.deepEqual([await remove(key.id), await remove(other.id)], ['done', 'last'])
    },
  )

  promise('a challenge is used once, and only until it expires', async (world) => {
    const { store } = world
    const ann = await world.addUser('ann')
    const data = { purpose: 'sign-in', data: '{"variant":"stateful"}' }
    const one = { userId: ann.id, hash: newId() }
    await store.write(addChallenge, { ...one, ...data, expiresAt: at(300) })
    assert.deepEqual(await store.read(findChallenge, { ...one, at: at(299) }), data)
    assert.equal(await store.read(findChallenge, { ...one, at: at(300) }), undefined)
    assert.equal(await store.write(useChallenge, { ...one, at: at(300) }), undefined)
    const raced = await Promise.all(
      Array.from({ length: 5 }, () => store.write(useChallenge, { ...one, at: at(9) })),
    )
    assert.deepEqual(
      raced.filter((found) => found !== undefined),
      [data],
    )
    await store.write(addChallenge, { ...one, ...data, expiresAt: at(300) })
    assert.equal(await store.read(findChallenge, { ...one, userId: newId(), at: at(9) }), undefined)
    await store.write(removeExpiredChallenges, at(300))
    assert.deepEqual(await store.read(findChallenge, { ...one, at: at(9) }), data)
    await store.write(removeExpiredChallenges, at(301))
    assert.equal(await store.read(findChallenge, { ...one, at: at(9) }), undefined)
    await store.write(addChallenge, { userId: newId(), hash: 'h', ...data, expiresAt: at(300) })
  })

  promise(
    'the use of a challenge that was not stored is recorded once, until the challenge has expired',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const spend = {
        userId: ann.id,
        hash: newId(),
        purpose: 'spent',
        data: '',
        expiresAt: at(300),
      }
      const raced = await Promise.all(
        Array.from({ length: 5 }, () => store.write(addChallenge, spend)),
      )
      assert.deepEqual(raced.toSorted(), [false, false, false, false, true])
      assert.equal(await store.write(addChallenge, { ...spend, hash: newId() }), true)
      await store.write(removeExpiredChallenges, at(300))
      assert.equal(await store.write(addChallenge, spend), false)
      await store.write(removeExpiredChallenges, at(301))
      assert.equal(await store.write(addChallenge, spend), true)
      assert.equal(await store.write(addChallenge, { ...spend, userId: newId() }), false)
      assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(9) }), 'done')
      assert.equal(await store.write(addChallenge, spend), false)
    },
  )

  promise(
    'a factor and a recovery code use up the challenge that they answer, and nothing if there is none',
    async (world) => {
      const { store } = world
      const { ann, factorId } = await withTotp(world)
      const challenge = async (expiresAt = at(300)) => {
        const key = { userId: ann.id, hash: newId() }
        await store.write(addChallenge, { ...key, purpose: 'sign-in', data: '{}', expiresAt })
        return key
      }
      const one = await challenge()
      const two = await challenge()
      const expired = await challenge(at(5))
      const use = (step: number, key: typeof one) =>
        store.write(useFactor, { userId: ann.id, factorId, at: at(6), step, challenge: key })
      assert.deepEqual(
        [await use(50, expired), await use(50, one), await use(51, one)],
        ['no-challenge', 'done', 'no-challenge'],
      )
      assert.equal(await use(50, two), 'refused')
      const code = (codeHash: string, key: typeof one) =>
        store.write(useRecoveryCode, { userId: ann.id, codeHash, at: at(6), challenge: key })
      assert.deepEqual(
        [await code('first code', one), await code('made up', two)],
        ['no-challenge', 'refused'],
      )
      const raced = await Promise.all([
        use(51, two),
        code('first code', two),
        code('second code', two),
        use(52, two),
      ])
      assert.deepEqual(raced.toSorted(), ['done', 'no-challenge', 'no-challenge', 'no-challenge'])
      const { factors, recoveryCodesLeft } = await store.read(factorsOf, ann.id)
      const usedCodes = codes.length - recoveryCodesLeft
      const usedSteps = factors[0]?.lastStep === 50 ? 0 : 1
      assert.equal(usedCodes + usedSteps, 1)
    },
  )

  promise(
    'a change of factors rotates the sign-in of its caller in the same step; an outdated one changes nothing and uses nothing up (S17)',
    async (world) => {
      const { store } = world
      const { ann, factorId } = await withTotp(world)
      const userId = ann.id
      const signInId = newId()
      const first = await world.signIn(ann, { signInId })
      const rotation = ({ familyHash, secretHash }: SessionKey, newHash: string) => ({
        userId,
        signInId,
        at: at(9),
        confirmedAt: null,
        session: { familyHash, secretHash, newHash, lastSeenAt: at(8) },
      })
      const key = passkey()
      const unconfirmed = totp()
      const adding = { userId, maxFactors: 10, recoveryCodeHashes: otherCodes }
      const spent = { hash: newId(), expiresAt: at(300) }
      const challenge = { userId, hash: newId() }
      await store.write(addChallenge, {
        ...challenge,
        purpose: 'sign-in',
        data: '{}',
        expiresAt: at(300),
      })
      const own = { userId, at: at(9) }
      const codeHash = 'first code'
      const recoveryCodeHashes = codes
      const changes: ((by: { rotation: ReturnType<typeof rotation> }) => Promise<unknown>)[] = [
        (by) => store.write(addFactor, { ...adding, factor: key, spent, ...by }),
        (by) => store.write(useFactor, { ...own, factorId, step: 70, challenge, ...by }),
        (by) => store.write(useRecoveryCode, { ...own, codeHash, ...by }),
        (by) => store.write(replaceRecoveryCodes, { ...own, recoveryCodeHashes, ...by }),
        (by) => store.write(removeFactor, { userId, factorId: key.id, ...by }),
      ]
      let current = first
      for (const [n, change] of changes.entries()) {
        const before = await store.read(factorsOf, userId)
        const stolen = rotation({ ...current, secretHash: 'older' }, 'stolen')
        assert.equal(await change({ rotation: stolen }), 'outdated', `${n}`)
        assert.deepEqual(await store.read(factorsOf, userId), before)
        assert.equal((await store.read(findSession, { ...current }))?.newerHash, null)
        const raced = await Promise.all(
          ['a', 'b'].map((name) => change({ rotation: rotation(current, `${name}${n}`) })),
        )
        assert.deepEqual(raced.toSorted(), ['done', 'outdated'], `${n}`)
        const next = { ...current, secretHash: `${raced[0] === 'done' ? 'a' : 'b'}${n}` }
        assert.equal((await store.read(findSession, next))?.newerHash, null)
        assert.equal((await store.read(findSession, { ...current }))?.newerHash, next.secretHash)
        current = next
      }
      const another = { ...adding, factor: unconfirmed }
      assert.equal(await store.write(addFactor, another), 'done')
      const remove = { userId, factorId: unconfirmed.id, rotation: rotation(current, 'unused') }
      assert.equal(await store.write(removeFactor, remove), 'unconfirmed')
      assert.equal((await store.read(findSession, { ...current }))?.newerHash, null)
      assert.equal(await store.write(addFactor, { ...adding, factor: passkey(), spent }), 'spent')
    },
  )

  promise(
    'a reset removes factors, codes and challenges, and ends every session and token in the same step',
    async (world) => {
      const { store } = world
      const { ann } = await withTotp(world)
      await add(world, ann, passkey())
      const session = await world.signIn(ann)
      const challenge = { userId: ann.id, hash: newId() }
      await store.write(addChallenge, {
        ...challenge,
        purpose: 'sign-in',
        data: '{}',
        expiresAt: at(300),
      })
      const change = { userId: ann.id, at: at(5) }
      assert.equal(await store.write(resetFactors, change), 2)
      assert.deepEqual(await store.read(factorsOf, ann.id), { factors: [], recoveryCodesLeft: 0 })
      assert.equal(await store.read(findChallenge, { ...challenge, at: at(6) }), undefined)
      assert.equal(await store.read(findSession, session), undefined)
      assert.equal((await store.read(findUser, ann.id))?.credentialGeneration, 1)
      const [revocation] = await store.read(tokenRevocations, at(6))
      assert.deepEqual(
        [revocation?.userId, revocation?.signInId, revocation?.firstGeneration],
        [ann.id, null, 1],
      )
      assert.deepEqual(
        [
          await store.write(resetFactors, change),
          await store.write(resetFactors, { ...change, userId: newId() }),
        ],
        [0, 'absent'],
      )
    },
  )
}

function add(world: World, { id: userId }: Person, factor: NewFactor) {
  return world.store.write(addFactor, { userId, factor, maxFactors: 10, recoveryCodeHashes: codes })
}

/** Its last step is 40. */
async function withTotp(world: World) {
  const ann = await world.addUser('ann')
  const factor = totp()
  await add(world, ann, factor)
  const confirm = {
    userId: ann.id,
    factorId: factor.id,
    step: 40,
    at: at(1),
    recoveryCodeHashes: codes,
  }
  assert.equal(await world.store.write(confirmFactor, confirm), 'first')
  return { ann, factorId: factor.id }
}
