// What the store promises of rings: they come after the commit, and to whom they are about.
import assert from 'node:assert/strict'
import type { ChangeSignal, InboxState } from '../store.ts'
import { at, type PromiseOf, type World } from './world.ts'

export function changeSignalPromises(promise: PromiseOf): void {
  promise('law 8: rings for every inbox that a write changed', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const about = (userId: string) => (ring: ChangeSignal) => ring.about === 'inbox' && ring.userId === userId
    const rings = await heard(world, [about(ann.id), about(ben.id)], () => world.deliver({ to: [ann, ben] }))
    assert.ok(rings.every((ring) => about(ann.id)(ring) || about(ben.id)(ring)))
    const [id = ''] = await world.ids(ann)
    await heard(world, [about(ann.id)], () => world.store.markRead({ userId: ann.id, id, at: at(1) }))
    const readAll = () => world.store.markAllRead({ userId: ben.id, throughId: null, at: at(1) })
    await heard(world, [about(ben.id)], readAll)
    await heard(world, [about(ann.id)], () => world.send(ann, 'Deploying', { key: 'deploy' }))
    await heard(world, [about(ann.id)], () => world.send(ann, 'Deployed', { key: 'deploy' }))
  })

  promise('law 8: rings when tokens were cut, for whichever reason', async (world) => {
    const ann = await world.addUser('ann')
    const [userId, revocationExpiresAt] = [ann.id, at(900)]
    const cut = (ring: ChangeSignal) => ring.about === 'token-revocation'
    const revocation = { userId, signInId: null, notBefore: at(1), expiresAt: revocationExpiresAt }
    await heard(world, [cut], () => world.store.revokeTokens(revocation))
    await heard(world, [cut], () =>
      world.store.setPassword({ userId, passwordHash: 'new hash', at: at(2), revocationExpiresAt }),
    )
    await heard(world, [cut], () => world.store.disableUser({ userId, at: at(3), revocationExpiresAt }))
  })

  promise('law 8: rings for every user whose session was ended, for whichever reason', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const [userId, revocationExpiresAt] = [ann.id, at(900)]
    const about = (id: string) => (ring: ChangeSignal) => ring.about === 'session' && ring.userId === id
    const session = await world.signIn(ann)
    await heard(world, [about(ann.id)], () => world.store.endSessions([session]))
    const replaced = await world.signIn(ann)
    await heard(world, [about(ann.id)], () => world.signIn(ben, { replaces: [replaced] }))
    await heard(world, [about(ann.id)], () =>
      world.store.setPassword({ userId, passwordHash: 'new hash', at: at(2), revocationExpiresAt }),
    )
    await heard(world, [about(ann.id)], () => world.store.disableUser({ userId, at: at(3), revocationExpiresAt }))
  })

  promise('law 8: whoever reads at a ring finds what it rang for, under a hundred writes at once', async (world) => {
    const people = await Promise.all(Array.from({ length: 10 }, (_, n) => world.addUser(`person ${n}`)))
    const heardOf = new Map<string, Promise<InboxState>[]>(people.map(({ id }) => [id, []]))
    const forget = world.store.onChange((ring) => {
      if (ring.about === 'inbox') heardOf.get(ring.userId)?.push(world.store.readInbox(ring.userId))
    })
    for (let round = 0; round < 3; round++) await Promise.all(people.map((person) => world.sendTimes(10, person)))
    for (const readings of heardOf.values()) await until(async () => (await readings.at(-1))?.version === 30)
    forget()
    for (const readings of heardOf.values()) {
      const versions = (await Promise.all(readings)).map(({ version }) => version)
      // When it has rung n times, n changes are there to be read.
      assert.ok(
        versions.every((version, i) => version >= i + 1),
        String(versions),
      )
    }
  })

  promise('law 8: never rings for a change before reads can see it', async (world) => {
    const ann = await world.addUser('ann')
    const seen: number[] = []
    const reads: Promise<void>[] = []
    const forget = world.store.onChange(() => {
      reads.push(world.store.readInbox(ann.id).then(({ version }) => void seen.push(version)))
    })
    for (let version = 1; version <= 30; version++) {
      await Promise.all([world.send(ann), world.store.readInbox(ann.id)])
      await until(async () => reads.length >= version)
      await Promise.all(reads)
      assert.equal(seen.at(-1), version)
    }
    forget()
  })

  promise('calls every listener until it is let go', async (world) => {
    const ann = await world.addUser('ann')
    const calls = { kept: 0, letGo: 0 }
    const forgetKept = world.store.onChange(() => calls.kept++)
    const forget = world.store.onChange(() => calls.letGo++)
    await world.send(ann)
    await until(async () => calls.kept === 1 && calls.letGo === 1)
    forget()
    await world.send(ann)
    await until(async () => calls.kept === 2)
    assert.equal(calls.letGo, 1)
    forgetKept()
  })
}

/** Acts, waits until a ring of each kind was heard, and answers all that were heard. */
async function heard(
  { store }: World,
  kinds: readonly ((ring: ChangeSignal) => boolean)[],
  act: () => Promise<unknown>,
): Promise<ChangeSignal[]> {
  const rings: ChangeSignal[] = []
  const forget = store.onChange((ring) => rings.push(ring))
  await act()
  await until(async () => kinds.every((kind) => rings.some(kind)))
  forget()
  return rings
}

/** Waits at most as long as a ring may take to come from another process. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > giveUpAt) assert.fail('the ring did not come')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
