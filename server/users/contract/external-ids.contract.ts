import assert from 'node:assert/strict'
import { at, newId, type PromiseOf, type World } from '../../contract/world.ts'
import { setPassword } from '../access/user-changes.store.ts'
import { type PutUser, type PutUsers, putUsers } from '../put-users.store.ts'
import {
  addUser,
  findCredentials,
  findUser,
  findUserByExternalId,
  findUserByUsername,
  listUsers,
  type User,
  updateUser,
} from '../users.store.ts'

type Put = PutUsers['users'][number]

export function externalIdPromises(promise: PromiseOf): void {
  promise(
    'creates a user without username and password, and finds the user by external id',
    async ({ store }) => {
      const [ann] = await put(store, {
        externalId: 'a/1',
        displayName: 'Ann',
        locale: 'de',
        email: 'ann@example.com',
      })
      assert.ok(ann?.created)
      assert.deepEqual(ann.user, {
        id: ann.user.id,
        username: null,
        displayName: 'Ann',
        createdAt: at(7),
        disabledAt: null,
        credentialGeneration: 0,
        application: '',
        externalId: 'a/1',
        issuer: '',
        locale: 'de',
        email: 'ann@example.com',
        issuedGeneration: 0,
        deviceGeneration: 0,
        emailVerifiedAt: null,
        passwordReportedAt: null,
        passwordEndsAt: null,
        role: null,
      })
      assert.deepEqual(await store.read(findUser, ann.user.id), ann.user)
      assert.deepEqual(
        await store.read(findUserByExternalId, { issuer: '', externalId: 'a/1' }),
        ann.user,
      )
    },
  )

  promise('updates the fields that are given, and null clears a field', async ({ store }) => {
    const [first] = await put(store, {
      externalId: '1',
      displayName: 'Ann',
      locale: 'de',
      email: 'ann@example.com',
    })
    const [second] = await put(store, { externalId: '1', locale: null, email: 'a@example.com' })
    assert.deepEqual(second, {
      user: { ...first?.user, locale: null, email: 'a@example.com' },
      created: false,
    })
    const [third] = await put(store, { externalId: '1' })
    assert.deepEqual(third, second)
  })

  promise(
    'compares external ids byte by byte, and separately for each issuer (U1)',
    async ({ store }) => {
      const externalIds = ['aB', 'Ab', 'ab', 'é', 'e\u0301', ' ab', 'ab ', 'ß', 'ss', 'Ａ', 'A']
      const plain = await put(store, ...externalIds.map((externalId) => ({ externalId })))
      const foreign = await store.write(putUsers, {
        issuer: 'https://id.example',
        at: at(7),
        users: externalIds.map((externalId) => ({ newId: newId(), externalId })),
      })
      assert.equal(
        new Set([...plain, ...foreign].map(({ user }) => user.id)).size,
        2 * externalIds.length,
      )
      for (const [n, externalId] of externalIds.entries()) {
        assert.deepEqual(
          await store.read(findUserByExternalId, { issuer: '', externalId }),
          plain[n]?.user,
        )
        assert.deepEqual(
          await store.read(findUserByExternalId, { issuer: 'https://id.example', externalId }),
          foreign[n]?.user,
        )
      }
      assert.equal(
        await store.read(findUserByExternalId, { issuer: '', externalId: 'AB' }),
        undefined,
      )
      assert.equal(
        await store.read(findUserByExternalId, {
          issuer: 'https://other.example',
          externalId: 'ab',
        }),
        undefined,
      )
    },
  )

  promise(
    'calls at the same time with the same external ids create each user once',
    async ({ store }) => {
      const externalIds = Array.from({ length: 40 }, (_, n) => ({ externalId: `${n}` }))
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          put(store, ...(n % 2 === 0 ? externalIds : externalIds.toReversed())),
        ),
      )
      const users = results.flat()
      assert.equal(users.filter(({ created }) => created).length, 40)
      assert.equal(new Set(users.map(({ user }) => user.id)).size, 40)
      assert.equal((await store.read(listUsers, { after: '', limit: 100 })).length, 40)
    },
  )

  promise(
    'returns "external-id-taken" for an external id that is taken, and changes nothing',
    async ({ store }) => {
      const ann = {
        id: newId(),
        username: 'ann',
        displayName: null,
        createdAt: at(0),
        passwordHash: 'hash',
        externalId: '1',
      }
      assert.equal(typeof (await store.write(addUser, ann)), 'object')
      const before = await store.read(findUserByExternalId, { issuer: '', externalId: '1' })
      assert.equal(
        await store.write(addUser, { ...ann, id: newId(), username: 'ben' }),
        'external-id-taken',
      )
      assert.equal(
        await store.write(addUser, { ...ann, id: newId(), externalId: '2' }),
        'username-taken',
      )
      assert.deepEqual(await store.read(listUsers, { after: '', limit: 9 }), [before])
      assert.equal(
        typeof (await store.write(addUser, {
          ...ann,
          id: newId(),
          username: 'ben',
          issuer: 'https://id.example',
        })),
        'object',
      )
    },
  )

  promise(
    'a user without a password has no credentials until a password is set',
    async ({ store }) => {
      const [ann] = await put(store, { externalId: '1' })
      const userId = ann?.user.id ?? ''
      assert.equal(await store.write(updateUser, { userId, username: 'ann' }), 'done')
      assert.equal(await store.read(findCredentials, 'ann'), undefined)
      assert.equal((await store.read(findUserByUsername, 'ann'))?.id, userId)
      await store.write(setPassword, { userId, passwordHash: 'hash', at: at(8) })
      assert.equal((await store.read(findCredentials, 'ann'))?.passwordHash, 'hash')
    },
  )

  promise(
    'lists the users whose name, e-mail address or external id contains a text, ASCII case ignored',
    async (world) => {
      const { store } = world
      await put(
        store,
        { externalId: 'X_7', displayName: 'Ann Bee' },
        { externalId: '8%', displayName: 'Élan', email: 'ELAN@example.com' },
        { externalId: '9', displayName: 'Cay' },
      )
      const found = async (search: string) =>
        externalIdsOf(await store.read(listUsers, { after: '', limit: 9, search }))
      assert.deepEqual(await found('BEE'), ['X_7'])
      assert.deepEqual(await found('elan@'), ['8%'])
      assert.deepEqual(await found('x_'), ['X_7'])
      assert.deepEqual(await found('%'), ['8%'])
      assert.deepEqual(await found('Éla'), ['8%'])
      assert.deepEqual(await found('éla'), [])
      assert.deepEqual(await found('nobody'), [])
      assert.deepEqual((await found('')).toSorted(), ['8%', '9', 'X_7'])
      const dee = await world.addUser('Dee')
      assert.deepEqual(
        (await store.read(listUsers, { after: '', limit: 9, search: 'dEE' })).map(({ id }) => id),
        [dee.id],
      )
    },
  )
}

function put(store: World['store'], ...users: Omit<Put, 'newId'>[]): Promise<PutUser[]> {
  return store.write(putUsers, {
    issuer: '',
    at: at(7),
    users: users.map((user) => ({ newId: newId(), ...user })),
  })
}

function externalIdsOf(users: readonly User[]): (string | null)[] {
  return users.map(({ externalId }) => externalId)
}
