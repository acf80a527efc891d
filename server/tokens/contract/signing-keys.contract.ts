import assert from 'node:assert/strict'
import { at, newId, type PromiseOf, type World } from '../../contract/world.ts'
import type { AuditEntry } from '../../store/events.ts'
import {
  addSigningKey,
  dropSigningKey,
  type NewSigningKey,
  resealSigningKeys,
  retireSigningKeys,
  signingKeys,
} from '../signing-keys.store.ts'

export function signingKeyPromises(promise: PromiseOf, aboutSignals: PromiseOf): void {
  promise('adds a signing key only after the one that starts last', async ({ store }) => {
    assert.deepEqual(await store.read(signingKeys), [])
    const first = signingKey('k1', { createdAt: 5, startsAt: 5 })
    const next = signingKey('k2', { startsAt: 90 })
    assert.equal(await store.write(addSigningKey, { key: first, after: 'k9' }), 'refused')
    assert.equal(await store.write(addSigningKey, { key: first, after: null }), 'added')
    assert.equal(await store.write(addSigningKey, { key: next, after: null }), 'refused')
    assert.equal(await store.write(addSigningKey, { key: next, after: 'k1' }), 'added')
    const third = signingKey('k3', { createdAt: 7, startsAt: 8 })
    assert.equal(await store.write(addSigningKey, { key: third, after: 'k1' }), 'refused')
    assert.equal(await store.write(addSigningKey, { key: third, after: 'k2' }), 'added')
    assert.equal(
      await store.write(addSigningKey, { key: signingKey('k4'), after: 'k3' }),
      'refused',
      'k2 starts last',
    )
    const stored = [next, first, third].map((key) => ({ ...key, retiredAt: null }))
    assert.deepEqual(await store.read(signingKeys), stored, 'in the order of their creation')
  })

  promise(
    'of many keys that are offered at the same time, adds one, with its audit entry (T12)',
    async (world) => {
      const { store } = world
      const offered = Array.from({ length: 10 }, (_, n) => signingKey(`k${n}`, { createdAt: n }))
      const outcomes = await Promise.all(
        offered.map((key) =>
          store.write(addSigningKey, { key, after: null, audit: [entry(key.kid)] }),
        ),
      )
      assert.equal(outcomes.filter((outcome) => outcome === 'added').length, 1)
      const stored = await store.read(signingKeys)
      assert.deepEqual(
        stored.map(({ kid }) => kid),
        [`k${outcomes.indexOf('added')}`],
      )
    },
  )

  promise('drops a signing key and adds another one in the same step (T12)', async ({ store }) => {
    await store.write(addSigningKey, { key: signingKey('k1'), after: null })
    const key = signingKey('k2', { createdAt: 2, startsAt: 2 })
    assert.equal(await store.write(dropSigningKey, { kid: 'k9', key }), 'absent')
    assert.deepEqual(
      (await store.read(signingKeys)).map(({ kid }) => kid),
      ['k1'],
    )
    assert.equal(await store.write(dropSigningKey, { kid: 'k1', key }), 'done')
    assert.deepEqual(await store.read(signingKeys), [{ ...key, retiredAt: null }])
  })

  promise(
    'retires signing keys and forgets their private parts; repeating the call keeps the first retiredAt',
    async ({ store }) => {
      const first = signingKey('k1')
      const second = signingKey('k2', { createdAt: 2, startsAt: 2 })
      await store.write(addSigningKey, { key: first, after: null })
      await store.write(addSigningKey, { key: second, after: 'k1' })
      await store.write(retireSigningKeys, { kids: ['k1', 'k9'], at: at(5) })
      await store.write(retireSigningKeys, { kids: ['k1'], at: at(9) })
      const retired = { ...first, sealedPrivateJwk: '', retiredAt: at(5) }
      assert.deepEqual(await store.read(signingKeys), [retired, { ...second, retiredAt: null }])
    },
  )

  promise(
    'replaces sealed private parts, each only if it is still the one that was read',
    async ({ store }) => {
      const first = signingKey('k1')
      const second = signingKey('k2', { createdAt: 2, startsAt: 2 })
      await store.write(addSigningKey, { key: first, after: null })
      await store.write(addSigningKey, { key: second, after: 'k1' })
      const keys = [
        { id: 'k1', from: 'sealed k1', to: 'new k1' },
        { id: 'k2', from: 'another text', to: 'new k2' },
        { id: 'k9', from: '', to: 'new k9' },
      ]
      assert.equal(await store.write(resealSigningKeys, { keys }), 1)
      assert.equal(await store.write(resealSigningKeys, { keys }), 0)
      assert.deepEqual(
        (await store.read(signingKeys)).map(({ sealedPrivateJwk }) => sealedPrivateJwk),
        ['new k1', 'sealed k2'],
      )
    },
  )

  aboutSignals(
    'signals when a signing key was added, dropped or sealed again (law 8)',
    async (world) => {
      const { store } = world
      const key = signingKey('k2', { createdAt: 2, startsAt: 2 })
      await signalled(world, () =>
        store.write(addSigningKey, { key: signingKey('k1'), after: null }),
      )
      await signalled(world, () =>
        store.write(resealSigningKeys, { keys: [{ id: 'k1', from: 'sealed k1', to: 'new' }] }),
      )
      await signalled(world, () => store.write(dropSigningKey, { kid: 'k1', key }))
    },
  )
}

export function signingKey(kid: string, { createdAt = 0, startsAt = 0 } = {}): NewSigningKey {
  const created = at(createdAt)
  const starts = startsAt === 0 ? 0 : at(startsAt)
  return {
    kid,
    publicJwk: `{"kid":"${kid}"}`,
    sealedPrivateJwk: `sealed ${kid}`,
    createdAt: created,
    startsAt: starts,
  }
}

async function signalled({ store }: World, change: () => Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const unsubscribe = store.onChange(({ about }) => {
    if (about === 'signing-key') resolve()
  })
  await change()
  await promise
  unsubscribe()
}

function entry(kid: string): AuditEntry {
  const nobody = {
    userId: null,
    address: null,
    userAgent: null,
    requestId: null,
    signInId: null,
    nameHash: null,
  }
  return {
    id: newId(),
    at: at(0),
    event: 'signing-key-rotated',
    actor: 'service',
    ...nobody,
    detail: { kid },
    count: 1,
  }
}
