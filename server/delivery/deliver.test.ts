import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CarillonError } from '../basics/errors.ts'
import type { Sender } from '../producers/producer-key.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { Deliveries } from './deliver.ts'
import { deliver } from './delivery.store.ts'
import type { Delivery, DeliveryOutcome } from './delivery.ts'

const request = { recipients: [{ userId: 'ann' }], title: 'Hello' }
const delivered: DeliveryOutcome = { deliveryId: '1', results: [] }

/** The key of the sender had the hash `old` when it was checked. */
function senderWith(checkAgain: () => Promise<{ secretHash: string }>): Sender {
  return {
    id: 'shop',
    application: '',
    scopes: [],
    secretHash: 'old',
    checkAgain,
  } as unknown as Sender
}

/** The key has `hashes[n]` when delivery n arrives; the last one stays. */
function storeWith(hashes: readonly string[]) {
  const received: Delivery[] = []
  const store = stubStore()
  replaceOperation(store, deliver, async (delivery) =>
    delivery.secretHash === (hashes[received.push(delivery) - 1] ?? hashes.at(-1))
      ? delivered
      : 'refused',
  )
  const others = {
    now: () => 0,
    wall: () => 0,
    issuers: [],
    imageHosts: [],
    erased: async () => undefined,
  }
  return { received, deliveries: new Deliveries({ store, ...others }) }
}

test('a key that was rotated after its check is checked again, and the delivery keeps its id', async () => {
  const { received, deliveries } = storeWith(['new'])
  const sender = senderWith(async () => ({ secretHash: 'new' }))
  assert.equal(await deliveries.deliver('shop', request, { sender }), delivered)
  assert.equal(received.length, 2)
  assert.equal(new Set(received.map(({ id }) => id)).size, 1)
})

test('a key that was revoked after its check delivers nothing: the second check throws', async () => {
  const { received, deliveries } = storeWith(['none'])
  const revoked = new Error('revoked')
  const sender = senderWith(() => Promise.reject(revoked))
  await assert.rejects(deliveries.deliver('shop', request, { sender }), revoked)
  assert.equal(received.length, 1)
})

test('a key that changes before each commit is UNAVAILABLE after two attempts', async () => {
  const { received, deliveries } = storeWith(['none'])
  const sender = senderWith(async () => ({ secretHash: 'old' }))
  await assert.rejects(
    deliveries.deliver('shop', request, { sender }),
    ({ code }: CarillonError) => code === 'UNAVAILABLE',
  )
  assert.equal(received.length, 2)
})
