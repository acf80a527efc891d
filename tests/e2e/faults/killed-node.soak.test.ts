// Kills one of several nodes under load: the others keep working, everything acknowledged is there
// once, and another node takes the other requests at once (R1). SOAK=1 kills 100 times.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ledger } from '../../support/processes/ledger.ts'
import { Nodes } from '../../support/processes/nodes.ts'

const kills = process.env.SOAK === undefined ? 3 : 100

test(`one of three nodes under load is killed, ${kills} times: nothing acknowledged is lost or doubled (R1)`, async (t) => {
  await using nodes = await Nodes.on('PostgreSQL')
  const all = [await nodes.add(), await nodes.add(), await nodes.add()]
  const users = all.map((node) => node.user(nodes.firstSignIn))
  const ledger = new Ledger()
  const stop = ledger.begin(users)
  let retried = 0
  for (let n = 0; n < kills; n++) {
    const victim = all[n % all.length] ?? assert.fail()
    await sleep(randomInt(100, 400))
    await victim.process.end('SIGKILL')
    await victim.again()
  }
  await stop()
  const [user] = users
  assert.ok(user)
  retried += (await ledger.settle(user, await user.signIn())).retried
  t.diagnostic(`${ledger.delivered.size} deliveries, ${retried} of them sent again`)
  assert.deepEqual([...ledger.statuses.keys()], [201], 'a node that lives refused something')
  assert.ok(retried >= kills && ledger.delivered.size > kills * 20, 'the load was too low')
})
