// `carillon withdraw`: takes back what was sent, by delivery or by producer and time.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { newId } from '../../../server/contract/world.ts'
import { Deliveries } from '../../../server/delivery/deliver.ts'
import { openWorld } from '../../support/open-world.ts'
import { Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())

test('an operator takes back a delivery, and what a producer sent in some time', async () => {
  using folder = new Folder()
  const url = `sqlite:${folder.file('carillon.db')}`
  await using opened = await openWorld(url)
  const { store, world } = opened
  const ann = await world.addUser('ann')
  const ben = await world.addUser('ben')
  const started = Date.now()
  const clock = { now: Date.now, wall: Date.now }
  const erased = async () => undefined
  const deliveries = new Deliveries({ store, ...clock, issuers: [], imageHosts: [], erased })
  const deliver = async (title: string, more = {}) => {
    const recipients = [{ userId: ann.id }, { userId: ben.id }]
    return (await deliveries.deliver(world.producerId, { recipients, title, ...more })).deliveryId
  }
  const wrong = await deliver('wrong')
  await deliver('right')
  const withdraw = (...args: string[]) =>
    commandLine.run(folder, ['withdraw', ...args], { env: { CARILLON_DATABASE_URL: url } })
  const counted = /^2 notifications of 2 users would be withdrawn\n$/
  assert.match((await withdraw(wrong.toUpperCase(), '--dry-run')).stdout, counted)
  const unconfirmed = await withdraw(wrong)
  assert.deepEqual([unconfirmed.status, unconfirmed.stdout], [2, ''])
  assert.deepEqual((await world.titles(ann)).toSorted(), ['right', 'wrong'])
  assert.match((await withdraw(wrong, '--yes')).stdout, /^Withdrew 2 notifications of 2 users/)
  for (const person of [ann, ben]) assert.deepEqual(await world.titles(person), ['right'])
  const [entry] = await store.read(listAudit, { since: 0, limit: 1 })
  assert.equal(entry?.event, 'notifications-withdrawn')
  assert.equal(entry.detail?.delivery, wrong)

  const [right = ''] = await world.ids(ann)
  const ofOne = await withdraw(right, '--yes')
  assert.deepEqual([ofOne.status, await world.titles(ben)], [2, ['right']])
  await deliver('keyed', { key: 'order-42' })
  const keyed = ['--key', 'order-42']
  assert.match(
    (await withdraw(...keyed, '--dry-run')).stdout,
    /^2 notifications would be withdrawn/,
  )
  assert.match((await withdraw(...keyed, '--yes')).stdout, /^Withdrew 2 notifications$/m)
  assert.deepEqual(await world.titles(ben), ['right'])
  const [ofKey] = await store.read(listAudit, { since: 0, limit: 1 })
  assert.deepEqual([ofKey?.actor, ofKey?.detail?.key], ['operator', 'order-42'])
  const since = ['--since', new Date(started).toISOString()]
  const byName = await withdraw('--producer', 'app', ...since, '--json', '--yes')
  assert.equal(JSON.parse(byName.stdout).notifications, 2, byName.stderr)
  assert.deepEqual(await world.list(ann), [])
  for (const [args, status] of [
    [['--producer', '', ...since, '--yes'], 2],
    [[wrong, '--yes'], 1],
    [[newId(), '--dry-run'], 1],
    [['--producer', 'nobody', ...since], 1],
    [[...keyed, '--yes'], 1],
    [[...keyed, ...since], 2],
    [['--application', 'shop', ...since], 2],
    [[], 2],
    [['not an id'], 2],
    [['--producer', 'app'], 2],
    [[wrong, ...since], 2],
  ] as const)
    assert.equal((await withdraw(...args)).status, status, args.join(' '))
})
