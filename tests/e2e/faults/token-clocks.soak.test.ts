// A new password revokes every earlier token, although the clocks of two processes differ and a
// slow connection spoils their estimates of the clock of the database (T7).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { madeAt } from '../../../server/basics/ids.ts'
import { readDatabaseUrl } from '../../../server/config/database-url.ts'
import { openStore } from '../../../server/open-store.ts'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { setPassword } from '../../../server/users/access/access.ts'
import { addUser } from '../../../server/users/users.ts'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { PostgresServer } from '../../support/postgres.ts'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

const tokensPerRound = process.env.SOAK === undefined ? 8 : 100
const rounds = process.env.SOAK === undefined ? 2 : 10
const delayMs = 1_500

const server = await PostgresServer.start()
after(() => server.remove())

const statusOf = async (user: UserOfService, proof: Proof) =>
  (await user.request({ path: '/routeRestreinte', headers: proof })).status
const signedInAt = ({ authorization = '' }: Proof) =>
  madeAt(String(decodeJwt(authorization.split(' ')[1] ?? '').sid))

test(`a password that is set while a node's clock estimate is wrong leaves 0 of ${rounds * tokensPerRound} tokens valid (T7)`, async (t) => {
  const url = await server.newDatabase()
  await using proxy = await TcpProxy.to(server.port)
  await using nodes = new Nodes(url)
  const slow = await nodes.add({ databaseUrl: proxy.urlFor(url) })
  const quick = await nodes.add()
  const { store } = await openStore(readDatabaseUrl(url))
  t.after(() => store.close())
  const now = store.clock ?? Date.now
  const users = {
    store,
    passwords: new Passwords({ threads: 4 }),
    passwordMinLength: 15,
    erased: async () => undefined,
    now,
  }
  // Only the heartbeat's connection to the server is slow.
  proxy.delayOf = ({ direction, bytes }) =>
    direction === 'to server' && bytes.includes('clock_timestamp') ? delayMs : 0
  await sleep(2 * delayMs)
  let survived = 0
  for (let round = 0; round < rounds; round++) {
    const username = `user-${round}`
    const password = 'plum orchard gate 41'
    const next = 'plum orchard gate 42'
    await addUser(users, { username, password })
    const request = [slow, quick].map((node) => node.user({ username, password, key: '' }))
    const tokens = await signIns(request[0] as UserOfService)
    t.diagnostic(
      `the last sign-in is dated ${signedInAt(tokens.at(-1) ?? {}) - now()} ms ahead of the database`,
    )
    await setPassword(users, { username, password: next })
    const fresh = await quick.user({ username, password: next, key: '' }).signIn('stateless')
    for (const user of request)
      await untilSo(async () => (await statusOf(user, tokens[0] ?? {})) === 401)
    for (const user of request) survived += await countValid(user, tokens)
    for (const user of request) assert.equal(await statusOf(user, fresh), 200)
  }
  assert.equal(survived, 0)
})

async function signIns(user: UserOfService): Promise<Proof[]> {
  const tokens: Proof[] = []
  while (tokens.length < tokensPerRound)
    tokens.push(...(await Promise.all([user.signIn('stateless'), user.signIn('stateless')])))
  return tokens
}

/** Counts the tokens that a route accepts or that can be renewed. */
async function countValid(user: UserOfService, tokens: readonly Proof[]): Promise<number> {
  let valid = 0
  for (const token of tokens) {
    const statuses = [
      await statusOf(user, token),
      (await user.post('/token/renew', {}, token)).status,
    ]
    if (statuses.some((status) => status !== 401)) valid++
  }
  return valid
}
