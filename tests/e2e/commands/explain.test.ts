// `carillon explain`: what happened to one notification, as lines and as JSON.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { at, isoAt, newId } from '../../../server/contract/world.ts'
import { beginKeyChange } from '../../../server/delivery/by-key.store.ts'
import { archiveRead } from '../../../server/inbox/bulk/bulk.store.ts'
import { markRead, remove } from '../../../server/inbox/marks.store.ts'
import { changePreferences } from '../../../server/preferences/preferences.store.ts'
import { openWorld } from '../../support/open-world.ts'
import { Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())

test('an operator learns what happened to a notification', async () => {
  using folder = new Folder()
  const url = `sqlite:${folder.file('carillon.db')}`
  await using opened = await openWorld(url)
  const { store, world } = opened
  const ann = await world.addUser('ann')
  const ben = await world.addUser('ben')
  const id = await world.send(ann, 'A secret title', { at: at(1) })
  const explain = async (...args: string[]) => {
    const env = { CARILLON_DATABASE_URL: url }
    return commandLine.run(folder, ['explain', ...args], { env })
  }
  const linesOf = async () =>
    (await explain(ann.username, id.toUpperCase())).stdout.trimEnd().split('\n')
  const sent = `sent      ${isoAt(1)}; last sent by app (${world.producerId})`
  const before = [
    `${id} of ${ann.username}`,
    sent,
    'replaced  no',
    'seen      no',
    'read      no',
    'archived  no',
  ]
  assert.deepEqual(await linesOf(), [...before, 'snoozed   no', 'expires   no'])
  await store.write(markRead, { userId: ann.id, id, at: at(2) })
  await store.write(archiveRead, { userId: ann.id, at: at(3) })
  const lines = await linesOf()
  assert.deepEqual(lines.slice(4, 6), [
    `read      ${isoAt(2)}`,
    `archived  ${isoAt(3)} by an archive-read`,
  ])
  assert.deepEqual((await explain(id)).stdout.trimEnd().split('\n'), await linesOf())
  const json = JSON.parse((await explain('--id', ann.id, id, '--json')).stdout)
  assert.deepEqual(
    [json.id, json.userId, json.readAt, json.senderName],
    [id, ann.id, isoAt(2), 'app'],
  )
  await store.write(remove, { userId: ann.id, id, at: at(4) })
  assert.deepEqual(await linesOf(), [`${id} of ${ann.username}`, `removed   ${isoAt(4)} (deleted)`])
  const choices = [{ category: '', mutedUntil: 'forever' }]
  await store.write(changePreferences, { userId: ann.id, choices, now: isoAt(5) })
  const muted = await world.send(ann, 'Muted', { at: at(6), key: 'k' })
  const editor = await world.addProducer('editor')
  const change = {
    key: 'k',
    application: '',
    kind: 'update',
    given: '{"title":"Changed"}',
  } as const
  await store.write(beginKeyChange, {
    ...change,
    id: newId(),
    producerId: editor,
    at: at(7),
    inboxes: 1,
  })
  const changed = (await explain(ann.username, muted)).stdout.split('\n')
  assert.deepEqual(changed.slice(1, 3), [
    `sent      ${isoAt(6)}; last sent by editor (${editor})`,
    `replaced  ${isoAt(7)}; times that it became the newest again: 0`,
  ])
  assert.deepEqual(changed.slice(4, 6), [
    `read      ${isoAt(6)} on arrival`,
    `archived  ${isoAt(6)} on arrival: muted`,
  ])
  const keyed = await world.send(ann, 'Shown', { at: at(8), key: 'order-42' })
  assert.deepEqual(
    (await explain(ann.username, '--key', 'order-42')).stdout,
    `${keyed}: sent ${isoAt(8)}; last sent by app (${world.producerId}); not seen; not read; archived ${isoAt(8)} on arrival: muted\n`.replace(
      'not read',
      `read ${isoAt(8)} on arrival`,
    ),
  )
  const since = async (...args: string[]) =>
    (await explain(ann.username, '--since', isoAt(6), ...args)).stdout.trimEnd().split('\n')
  assert.deepEqual(
    (await since()).map((line) => line.slice(0, 36)),
    [keyed, muted],
  )
  assert.match(
    (await since('--producer', 'editor')).join(),
    new RegExp(`^${muted}: sent ${isoAt(6)}; last sent by editor [^;]*; replaced ${isoAt(7)}`),
  )
  const removed = JSON.parse(
    (await explain(ann.username, '--since', '2020-01-01', '--json')).stdout,
  )
  assert.deepEqual(
    removed.map((one: { id: string; reason?: string }) => [one.id, one.reason]),
    [
      [keyed, undefined],
      [muted, undefined],
      [id, 'deleted'],
    ],
  )
  for (const search of [
    ['--key', 'gone'],
    ['--since', '1h'],
  ]) {
    const { status, stderr } = await explain(ben.username, ...search)
    assert.equal(status, 1)
    const nothing = `carillon: Nothing that was sent to ${ben.username} fits. --key finds nothing that was removed. A removal is known`
    assert.ok(stderr.startsWith(nothing), stderr)
  }
  for (const args of [
    [ann.username],
    [ann.username, id, '--key', 'k'],
    [ann.username, '--since', 'soon'],
    [ann.username, id, '--producer', 'app'],
  ])
    assert.equal((await explain(...args)).status, 2, args.join(' '))
  for (const args of [
    [ben.username, id],
    [ann.username, newId()],
  ]) {
    const { status, stdout, stderr } = await explain(...args)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(
      stderr,
      /^carillon: \S+ has no such notification\. A removal is known for 30 days, if it is among the last 10,000 changes/,
    )
  }
  const alone = await explain(id)
  assert.equal(alone.status, 1)
  assert.match(alone.stderr, /^carillon: No inbox has this notification\. If it was removed, name/)
  assert.match((await explain('nobody', id)).stderr, /^carillon: There is no user nobody/)
})
