// Two processes accept a code, a recovery code and a challenge once, although both receive them at
// the same time, and a confirmation on one counts on the other.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { queryAt } from '../../support/postgres.ts'
import { Nodes } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'

const nodes = await Nodes.on('PostgreSQL')
after(() => nodes[Symbol.asyncDispose]())
const started = [await nodes.add(), await nodes.add()] as const
const [a, b] = started.map((node) => node.user(nodes.firstSignIn)) as [UserOfService, UserOfService]

let session = await a.signIn()
const added = (await a.post('/api/me/factors/totp', {}, session)).json().data
const app = new Authenticator(added.secret)
// The confirmation uses the step before the one of now, so that the first round has two steps left.
const confirmation = { id: added.id, code: app.code(Date.now(), -1) }
const confirmed = await b.post('/api/me/factors/totp/confirm', confirmation, session)
session = sessionOf(confirmed)
const { recoveryCodes } = confirmed.json().data

function sessionOf({ headers }: Pick<Response, 'headers'>) {
  return { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

async function challenge(node: UserOfService): Promise<string> {
  const { username, password } = nodes.firstSignIn
  const response = await node.post('/login', { username, password, variant: 'stateless' })
  assert.equal(response.status, 401, response.text)
  return response.json().error.challenge
}
const complete = async (node: UserOfService, body: object) =>
  (await node.post('/login/second-factor', body)).status

test('of one code on two nodes at the same time, exactly one signs in (A17)', async () => {
  const onA = await challenge(a)
  const onB = await challenge(b)
  const code = app.code(Date.now())
  const statuses = await Promise.all([
    complete(a, { challenge: onA, code }),
    complete(b, { challenge: onB, code }),
    complete(b, { challenge: onA, code }),
    complete(a, { challenge: onB, code }),
  ])
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
  assert.equal(await complete(b, { challenge: onB, code }), 401)
})

test('of one recovery code, and of one challenge, on two nodes at the same time, exactly one signs in (A18)', async () => {
  while (recoveryCodes.length > 2) {
    const onA = await challenge(a)
    const onB = await challenge(b)
    const [one, two] = recoveryCodes.splice(0, 2)
    const byCode = await Promise.all([
      complete(a, { challenge: onA, recoveryCode: one }),
      complete(b, { challenge: onB, recoveryCode: one }),
    ])
    assert.deepEqual(byCode.toSorted(), [200, 401])
    const open = byCode[0] === 200 ? onB : onA
    const byChallenge = await Promise.all([
      complete(a, { challenge: open, recoveryCode: two }),
      complete(b, { challenge: open, recoveryCode: two }),
    ])
    assert.deepEqual(byChallenge.toSorted(), [200, 401])
  }
})

test('a session that is confirmed on one node is fresh on the other (A18)', async () => {
  await queryAt(nodes.databaseUrl, 'update session set confirmed_at = 0')
  for (const node of [a, b])
    assert.equal((await node.post('/api/me/factors/totp', {}, session)).status, 403)
  const [recoveryCode] = recoveryCodes
  const response = await b.post('/api/me/confirm', { recoveryCode }, session)
  assert.equal(response.status, 204)
  const renewed = sessionOf(response)
  for (const node of [a, b])
    assert.equal((await node.post('/api/me/factors/totp', {}, renewed)).status, 201)
  for (const node of [a, b])
    assert.equal((await node.post('/api/me/factors/totp', {}, session)).status, 401)
})
