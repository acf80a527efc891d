import assert from 'node:assert/strict'
import { record } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { at, isoAt, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { addFactor } from '../factors/factors.store.ts'
import { markAllRead } from '../inbox/bulk/bulk.store.ts'
import { archive, remove, snooze } from '../inbox/marks.store.ts'
import { contentOf } from '../inbox/notification-json.ts'
import { changePreferences } from '../preferences/preferences.store.ts'
import { linkProviderAccount } from '../providers/provider-accounts.store.ts'
import { noteRefusal } from '../reach/refusals.store.ts'
import { noteDevice } from '../sessions/sign-ins.store.ts'
import { findUser, type User, updateUser } from '../users/users.store.ts'
import { exportOf } from './export.ts'

type Line = { type: string } & Record<string, unknown>

export function exportPromises(promise: PromiseOf): void {
  promise(
    'the export has every record of the user, each with its type, and no secret and nobody else’s',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      for (const { id: userId } of [ann, ben]) {
        const recoveryCodeHashes = ['hash of a code']
        const totp = {
          id: newId(),
          kind: 'totp',
          label: 'Phone',
          createdAt: at(1),
          confirmedAt: at(1),
        } as const
        const factor = { ...totp, sealedSecret: 'sealed secret' }
        await store.write(addFactor, { userId, factor, maxFactors: 9, recoveryCodeHashes })
        const account = {
          issuer: 'https://staff.example',
          subject: `subject of ${userId}`,
          email: null,
          at: at(2),
        }
        await store.write(linkProviderAccount, { ...account, userId })
        const device = { label: 'Firefox on Linux', network: '192.0.2.1', isKnown: true, keep: 9 }
        await store.write(noteDevice, { userId, device, at: at(3) })
        await store.write(record, [
          auditEntry(serviceSource, { event: 'user-created', at: at(4), userId }),
        ])
      }
      const mutes = ['', 'build'].map((category) => ({
        category,
        mutedUntil: isoAt(4),
        mail: null,
        push: null,
        hours: null,
      }))
      await store.write(changePreferences, { userId: ann.id, choices: mutes, now: isoAt(3) })
      await world.signIn(ann, { secretHash: 'hash of a session' })
      const email = 'ann@example.org'
      await store.write(updateUser, { userId: ann.id, email, emailVerifiedAt: at(1) })
      await store.write(noteRefusal, { userId: ann.id, email, at: at(3), audit: [] })
      const letter = await world.deliver({
        to: [ann, ben],
        title: 'For "both"',
        category: 'build',
        key: 'k',
        at: at(5),
      })
      await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(6) })
      const lines = await linesOf(world, ann)
      assert.deepEqual(
        lines.map(({ type }) => type),
        [
          'user',
          'session',
          'device',
          'factor',
          'mail-refusal',
          'provider-account',
          'preference',
          'preference',
          'activity',
          'notification',
        ],
      )
      const [
        user,
        session,
        device,
        factor,
        refusal,
        account,
        everything,
        build,
        activity,
        notification,
      ] = lines
      assert.deepEqual(
        [user?.id, user?.username, user?.createdAt],
        [ann.id, ann.username, isoAt(0)],
      )
      assert.deepEqual(
        [session?.createdAt, session?.confirmedAt, session?.factor],
        [isoAt(0), null, null],
      )
      assert.deepEqual([device?.label, device?.lastSeenAt], ['Firefox on Linux', isoAt(3)])
      assert.deepEqual([factor?.label, factor?.confirmedAt], ['Phone', isoAt(1)])
      assert.deepEqual(refusal, { type: 'mail-refusal', refusedAt: isoAt(3) })
      assert.deepEqual([account?.subject, account?.lastUsedAt], [`subject of ${ann.id}`, isoAt(2)])
      assert.deepEqual(everything, {
        type: 'preference',
        category: null,
        mutedUntil: isoAt(4),
        mail: null,
        push: null,
        hours: null,
      })
      assert.equal(build?.category, 'build')
      assert.deepEqual([activity?.event, activity?.at], ['user-created', isoAt(4)])
      assert.deepEqual(
        [notification?.id, notification?.title, notification?.readAt],
        [letter?.results[0]?.id, 'For "both"', isoAt(6)],
      )
      const text = JSON.stringify(lines)
      for (const word of ['hash of', 'sealed', ben.id, ben.username])
        assert.ok(!text.includes(word), word)
    },
  )

  promise(
    'the export has every notification and every entry once, however many, in pages',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids = await Promise.all(
        Array.from({ length: 250 }, (_, n) => world.send(ann, `Letter ${n}`)),
      )
      const entries = Array.from({ length: 250 }, (_, n) =>
        auditEntry(serviceSource, { event: 'confirmed', at: at(n), userId: ann.id }),
      )
      await world.store.write(record, entries)
      const lines = await linesOf(world, ann)
      const idsOf = (type: string) =>
        lines.filter((line) => line.type === type).map(({ id }) => String(id))
      assert.deepEqual(idsOf('notification').toSorted(), ids.toSorted())
      assert.deepEqual(
        idsOf('activity').toReversed(),
        entries.map(({ id }) => id),
      )
    },
  )

  promise(
    'the export has what is archived or snoozed, and the texts in every language',
    async (world) => {
      const ann = await world.addUser('ann')
      const userId = ann.id
      const texts = { en: { title: 'Hello' }, de: { title: 'Guten Tag' } }
      const content = contentOf({ title: { en: 'Hello', de: 'Guten Tag' } })
      const archived = await world.send(ann, '', { content })
      const snoozed = await world.send(ann)
      const removed = await world.send(ann)
      await world.store.write(archive, { userId, id: archived, at: at(1) })
      await world.store.write(snooze, { userId, id: snoozed, until: at(9), at: at(2) })
      await world.store.write(remove, { userId, id: removed, at: at(3) })
      const [, one, other, ...more] = await linesOf(world, ann)
      assert.deepEqual(
        [one?.id, one?.archivedAt, one?.title, one?.texts],
        [archived, isoAt(1), 'Hello', texts],
      )
      assert.deepEqual([other?.id, other?.snoozedUntil, more.length], [snoozed, isoAt(9), 0])
    },
  )

  promise(
    'a notification that is sent again during the export is not missing from it',
    async (world) => {
      const ann = await world.addUser('ann')
      for (let n = 0; n < 101; n++) await world.send(ann, `Letter ${n}`, { key: `k${n}` })
      let text = ''
      for await (const chunk of exportOf(world, await userOf(world, ann))) {
        if (!text.includes('"type":"notification"'))
          await world.send(ann, 'Again', { key: 'k100', renotify: true })
        text += chunk
      }
      assert.match(text, /"title":"Again".*\n$/)
    },
  )

  promise(
    'a page of the export has at most 256 KB, whatever the notifications have',
    async (world) => {
      const ann = await world.addUser('ann')
      const content = contentOf({
        title: 'é'.repeat(200),
        body: '\u0001'.repeat(4_000),
        data: { text: 'x'.repeat(8_000) },
      })
      for (let n = 0; n < 12; n++) await world.send(ann, 'Hi', { content })
      const pages = await Array.fromAsync(exportOf(world, await userOf(world, ann)))
      const sizes = pages
        .filter((page) => page.startsWith('{"type":"notification"'))
        .map((page) => Buffer.byteLength(page))
      assert.equal(sizes.length, 3)
      assert.ok(Math.max(...sizes) <= 256 * 1024, `${sizes}`)
    },
  )
}

async function userOf({ store }: World, { id }: Person): Promise<User> {
  return (await store.read(findUser, id)) ?? assert.fail('there is no such user')
}

async function linesOf(world: World, person: Person): Promise<Line[]> {
  const text = (await Array.fromAsync(exportOf(world, await userOf(world, person)))).join('')
  assert.ok(text.endsWith('\n'))
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
