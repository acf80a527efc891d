import assert from 'node:assert/strict'
import { untilSo } from '../../tests/support/processes/nodes.ts'
import { markAllRead } from '../inbox/bulk/bulk.store.ts'
import { undo } from '../inbox/bulk/undo.store.ts'
import { actsOf } from '../inbox/contract/places.contract.ts'
import { readInbox } from '../inbox/inbox.store.ts'
import type { InboxState } from '../inbox/inbox-state.ts'
import { signInOfSession } from '../sessions/sessions.store.ts'
import { revokeIssuedTokens } from '../sessions/sign-ins.store.ts'
import type { ChangeSignal } from '../store/events.ts'
import { revokeTokens } from '../tokens/tokens.store.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import { at, newId, type PromiseOf, type World } from './world.ts'

export function changeSignalPromises(promise: PromiseOf): void {
  promise('signals every inbox that a write changed (law 8)', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    const about = (userId: string) => (signal: ChangeSignal) =>
      signal.about === 'inbox' && signal.userId === userId
    const signals = await signalsOf(world, [about(ann.id), about(ben.id)], () =>
      world.deliver({ to: [ann, ben] }),
    )
    assert.ok(signals.every((signal) => about(ann.id)(signal) || about(ben.id)(signal)))
    const [id = ''] = await world.ids(ann)
    await signalsOf(world, [about(ann.id)], () => actsOf(world, ann).read(id, 1))
    const readAll = () =>
      world.store.write(markAllRead, { userId: ben.id, throughId: null, at: at(1) })
    await signalsOf(world, [about(ben.id)], readAll)
    await signalsOf(world, [about(ann.id)], () => actsOf(world, ann).unread(id))
    await signalsOf(world, [about(ben.id)], () =>
      world.store.write(undo, { userId: ben.id, at: at(2) }),
    )
    const act = actsOf(world, ann)
    for (const move of [
      () => act.archive(id, 3),
      () => act.unarchive(id),
      () => act.snooze(id, 3, 60),
      () => act.wake(id, 60),
      () => act.seen(9),
      () => actsOf(world, ann).read(id, 61),
      () => act.archiveRead(62),
      () => act.undo(63),
      () => act.remove(id, 64),
    ])
      await signalsOf(world, [about(ann.id)], move)
    await signalsOf(world, [about(ann.id)], () => world.send(ann, 'Deploying', { key: 'deploy' }))
    await signalsOf(world, [about(ann.id)], () => world.send(ann, 'Deployed', { key: 'deploy' }))
  })

  promise('signals when tokens were revoked, for every reason (law 8)', async (world) => {
    const ann = await world.addUser('ann')
    const userId = ann.id
    const revocationExpiresAt = at(900)
    const isRevocation = (signal: ChangeSignal) => signal.about === 'token-revocation'
    const revocation = { userId, signInId: newId(), at: at(1), expiresAt: revocationExpiresAt }
    await signalsOf(world, [isRevocation], () => world.store.write(revokeTokens, revocation))
    await signalsOf(world, [isRevocation], () =>
      world.store.write(setPassword, { userId, passwordHash: 'new hash', at: at(2) }),
    )
    await signalsOf(world, [isRevocation], () =>
      world.store.write(disableUser, { userId, at: at(3) }),
    )
    await signalsOf(world, [isRevocation], () =>
      world.store.write(revokeIssuedTokens, { userId, at: at(4) }),
    )
    const ben = await world.addUser('ben')
    const ended = await world.signIn(ben)
    const replaced = await world.signIn(ben)
    for (const session of [ended, replaced]) await world.store.write(signInOfSession, session)
    await signalsOf(world, [isRevocation], () => world.endSessions([ended]))
    await signalsOf(world, [isRevocation], () => world.signIn(ben, { replaces: [replaced] }))
  })

  promise('signals every user whose session ended, for every reason (law 8)', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    const userId = ann.id
    const revocationExpiresAt = at(900)
    const about = (id: string) => (signal: ChangeSignal) =>
      signal.about === 'session' && signal.userId === id
    const session = await world.signIn(ann)
    await signalsOf(world, [about(ann.id)], () => world.endSessions([session]))
    const replaced = await world.signIn(ann)
    await signalsOf(world, [about(ann.id)], () => world.signIn(ben, { replaces: [replaced] }))
    await signalsOf(world, [about(ann.id)], () =>
      world.store.write(setPassword, { userId, passwordHash: 'new hash', at: at(2) }),
    )
    await signalsOf(world, [about(ann.id)], () =>
      world.store.write(disableUser, { userId, at: at(3) }),
    )
    const signInId = newId()
    await world.signIn(ben, { signInId })
    await signalsOf(world, [about(ben.id)], () =>
      world.store.write(revokeTokens, {
        userId: ben.id,
        signInId,
        at: at(4),
        expiresAt: revocationExpiresAt,
      }),
    )
  })

  promise(
    'a listener that reads at a change signal finds the change, during a hundred concurrent writes (law 8)',
    async (world) => {
      const people = await Promise.all(
        Array.from({ length: 10 }, (_, n) => world.addUser(`person ${n}`)),
      )
      const inboxesRead = new Map<string, Promise<InboxState>[]>(people.map(({ id }) => [id, []]))
      const unsubscribe = world.store.onChange((signal) => {
        if (signal.about === 'inbox')
          inboxesRead.get(signal.userId)?.push(world.store.read(readInbox, signal.userId))
      })
      for (let round = 0; round < 3; round++)
        await Promise.all(people.map((person) => world.sendTimes(10, person)))
      for (const readings of inboxesRead.values())
        await untilSo(async () => (await readings.at(-1))?.version === 30)
      unsubscribe()
      for (const readings of inboxesRead.values()) {
        const versions = (await Promise.all(readings)).map(({ version }) => version)
        // After n signals, at least n changes are visible.
        assert.ok(
          versions.every((version, i) => version >= i + 1),
          String(versions),
        )
      }
    },
  )

  promise('calls each listener at its kinds of change, until it unsubscribes', async (world) => {
    const ann = await world.addUser('ann')
    const calls = { ofAll: 0, ofInbox: 0, ofKeys: 0, removed: 0 }
    const unsubscribe = world.store.onChange(() => calls.removed++)
    const others = [
      world.store.onChange(() => calls.ofAll++),
      world.store.onChange(() => calls.ofInbox++, ['inbox']),
      world.store.onChange(() => calls.ofKeys++, ['signing-key']),
    ]
    await world.send(ann)
    await untilSo(async () => Object.values(calls).join() === '1,1,0,1')
    unsubscribe()
    await world.send(ann)
    await untilSo(async () => calls.ofAll === 2 && calls.ofInbox === 2)
    assert.deepEqual([calls.ofKeys, calls.removed], [0, 1])
    for (const end of others) end()
  })
}

/** Waits for one signal of each kind. */
async function signalsOf(
  { store }: World,
  kinds: readonly ((signal: ChangeSignal) => boolean)[],
  act: () => Promise<unknown>,
): Promise<ChangeSignal[]> {
  const signals: ChangeSignal[] = []
  const unsubscribe = store.onChange((signal) => signals.push(signal))
  await act()
  await untilSo(async () => kinds.every((kind) => signals.some(kind)))
  unsubscribe()
  return signals
}
