// A stream without events stays open (N6), its client reconnects soon after a restart, and a
// restored database is another history (N3).
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../../support/event-source/event-source.ts'
import { carillon } from '../../support/processes/carillon-process.ts'
import { Follower } from '../../support/processes/follower.ts'
import { engines, Nodes } from '../../support/processes/nodes.ts'
import { idIn } from '../../support/processes/user-of-service.ts'
import { variants } from '../../support/service.ts'

/** No idle timeout of the server is longer; with SOAK=1 several heartbeats fit in. */
const quietMs = process.env.SOAK === undefined ? 22_000 : 80_000
/** Ten seconds on an idle machine; a busy one takes longer. */
const backWithinMs = 60_000

/**
 * One comment comes every 15 s, and may be late on a busy machine; live.test.ts has the exact
 * times.
 */
function hasBeats(reader: EventReader): void {
  const { beats, pieces } = reader
  assert.equal(pieces.filter((piece) => String(piece) === ':\n\n').length, beats)
  assert.ok(
    beats >= Math.floor(quietMs / 20_000) && beats <= Math.floor(quietMs / 15_000) + 1,
    `${beats} comments`,
  )
}

suite('a stream that stays open', { concurrency: true }, () => {
  for (const engine of engines) {
    test(`a stream without events stays open with a comment every 15 s, and then sends the next event (N6, ${engine})`, async (_t) => {
      await using nodes = await Nodes.on(engine)
      const node = await nodes.add()
      const user = node.user(nodes.firstSignIn)
      const readers: EventReader[] = []
      for (const variant of variants)
        readers.push(await EventReader.of(node.url, await user.signIn(variant)))
      await sleep(quietMs)
      for (const reader of readers) {
        assert.deepEqual([reader.isOver, reader.events.length], [false, 1])
        hasBeats(reader)
      }
      const id = idIn(await user.deliver('after a long silence'))
      for (const reader of readers) {
        assert.equal((await reader.next('created')).data.notification.id, id)
        reader.close()
      }
    })

    test(`after a restart or a crash, clients that wait for the given delay are reconnected within 10 s (N6, ${engine})`, async (t) => {
      await using nodes = await Nodes.on(engine)
      const node = await nodes.add()
      const user = node.user(nodes.firstSignIn)
      const proofs = [await user.signIn('stateful'), await user.signIn('stateless')]
      const followers = Array.from(
        { length: 10 },
        (_, n) => new Follower(node.url, proofs[n % 2] ?? assert.fail()),
      )
      for (const [times, signal] of (['SIGTERM', 'SIGKILL'] as const).entries()) {
        for (const follower of followers)
          await follower.until(() => follower.connections === times + 1)
        await node.process.end(signal)
        await node.again()
        const readyAt = performance.now()
        await user.deliver(`after ${signal}`)
        const back = followers.map((follower) =>
          follower.until(() => follower.connections === times + 2, backWithinMs),
        )
        await Promise.all(back)
        const slowest = Math.max(
          ...followers.map(({ openedAt }) => (openedAt.at(-1) ?? 0) - readyAt),
        )
        t.diagnostic(
          `reconnected at most ${slowest.toFixed(0)} ms after the restart that followed ${signal}`,
        )
        assert.ok(slowest < backWithinMs)
      }
      const ids = (await user.inbox(proofs[0] ?? {})).map(({ id }) => id).toReversed()
      assert.equal(ids.length, 3)
      for (const follower of followers) {
        await follower.until(() => follower.ids.length >= ids.length)
        await follower.stop()
        assert.deepEqual(follower.ids, ids)
        assert.equal(follower.count('resync'), 0)
      }
    })
  }

  test('a position from before a restore gets a resync, even if another change has reached the same version (N3)', async () => {
    await using before = new Nodes('sqlite:carillon.db')
    const first = await before.add()
    const user = first.user(before.firstSignIn)
    await user.deliver('in the backup')
    const proof = await user.signIn('stateful')
    const env = before.environment
    const backup = await carillon(before.folder, ['backup', 'backup.db'], { env })
    assert.equal(backup.status, 0, backup.stderr)
    await user.deliver('lost')
    using reader = await EventReader.of(first.url, { ...proof, 'last-event-id': '2' })
    const lost = await reader.next('created')
    assert.match(lost.id ?? '', /^3-/)
    await first.process.end('SIGTERM')

    await using after = new Nodes(`sqlite:${before.folder.file('restored.db')}`)
    const to = after.environment.CARILLON_DATABASE_URL ?? ''
    const restored = await carillon(before.folder, ['restore', 'backup.db', '--to', to], { env })
    assert.equal(restored.status, 0, restored.stderr)
    const second = await after.add()
    const later = second.user(before.firstSignIn)
    await later.deliver('another one')
    using back = await EventReader.open(second.url, {
      headers: { ...proof, 'last-event-id': lost.id ?? '' },
    })
    const hello = await back.next('hello')
    assert.deepEqual([hello.id, hello.data.version], [undefined, 3])
    assert.match((await back.next('resync')).id ?? '', /^3-/)
    const titles = (await later.inbox(proof)).map(({ title }) => title)
    assert.deepEqual(titles.slice(0, 2), ['another one', 'in the backup'])
    // A version from a list of this database is valid.
    using bare = await EventReader.of(second.url, { ...proof, 'last-event-id': '2' })
    assert.equal((await bare.next('created')).data.notification.title, 'another one')
  })
})
