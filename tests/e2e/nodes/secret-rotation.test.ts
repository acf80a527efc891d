// The secret changes as docs/operations/keys-and-secrets.md, "Change the secret", says: on two
// nodes with PostgreSQL under load, and on SQLite with the generated secret.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { Sealing } from '../../../server/basics/secrets.ts'
import { freePort } from '../../support/network/free-port.ts'
import { queryAt } from '../../support/postgres.ts'
import {
  CarillonProcess,
  carillon,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { Load } from '../../support/processes/load.ts'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import { Balancer } from '../../support/proxies/balancer.ts'
import { soakTest } from '../../support/soak.ts'

const fresh = 'the new secret of every node, also long enough'

soakTest(
  'the secret changes on two nodes under load: 0 failed requests, nobody is signed out, and the one before is not needed afterwards (T20)',
  async (t) => {
    await using nodes = await Nodes.on('PostgreSQL', {
      settings: { CARILLON_DRAIN_GRACE: '500ms' },
    })
    const all = [await nodes.add(), await nodes.add()]
    await using balancer = await Balancer.before(all.map(({ port }) => port))
    const user = new UserOfService(balancer.url, nodes.firstSignIn, { connections: 16 })
    t.after(() => user.close())
    const session = await user.signIn('stateful')
    const token = await user.signIn('stateless')
    const old = nodes.environment.CARILLON_SECRET ?? ''
    const [factor] = await queryAt(
      nodes.databaseUrl,
      `insert into factor (user_id, id, kind, label, sealed_secret, created_at)
      values ('u1', 'f1', 'totp', 'phone', '${await new Sealing({ current: old }).seal('factors', 'plum')}', 1)
      returning sealed_secret`,
    ).then((inserted) => [inserted].flat().at(-1)?.rows ?? [])
    assert.ok(factor)
    const restart = async (changes: Record<string, string>) => {
      for (const node of all) {
        assert.equal((await node.process.end('SIGTERM')).status, 0)
        await untilSo(async () => !balancer.isReady(node.port))
        await node.again(changes)
        await untilSo(async () => balancer.isReady(node.port))
      }
    }
    const command = (env: Record<string, string>) =>
      carillon(nodes.folder, ['secret', 'rotate', '--json'], {
        env: { ...nodes.environment, ...env },
      })

    const load = await Load.start([user])
    const both = { CARILLON_SECRET: fresh, CARILLON_SECRET_PREVIOUS: old }
    await restart(both)
    const wrong = await command({
      ...both,
      CARILLON_SECRET_PREVIOUS: 'a secret that does not fit to anything here',
    })
    assert.equal(wrong.status, 1)
    assert.match(
      wrong.stderr,
      /Neither secret opens signing key [\w-]+, and nothing was changed\. Set CARILLON_SECRET_PREVIOUS to/,
    )
    assert.ok(!wrong.stderr.includes(fresh) && !wrong.stderr.includes('does not fit to anything'))
    const done = await command(both)
    assert.equal(done.status, 0, done.stderr)
    assert.deepEqual(JSON.parse(done.stdout), { signingKeys: 1, factors: 1, isGenerated: false })
    assert.deepEqual(JSON.parse((await command(both)).stdout), {
      signingKeys: 0,
      factors: 0,
      isGenerated: false,
    })
    await restart({ CARILLON_SECRET: fresh })
    await load.more(100)
    await load[Symbol.asyncDispose]()
    t.diagnostic(`${load.count} requests`)
    assert.deepEqual(load.failures, [])
    for (const headers of [session, token])
      assert.equal((await user.request({ path: '/routeRestreinte', headers })).status, 200)
    const result = await queryAt(
      nodes.databaseUrl,
      'select sealed_secret from factor; select event from audit',
    )
    const [sealed, events] = [result]
      .flat()
      .slice(-2)
      .map(({ rows }) => rows) as Record<string, string>[][]
    assert.equal(
      await new Sealing({ current: fresh }).open('factors', sealed?.[0]?.sealed_secret ?? ''),
      'plum',
    )
    assert.equal(events?.filter(({ event }) => event === 'secret-rotated').length, 1)
  },
)

test('on SQLite the command makes the new secret, while the service runs, and nobody is signed out (T20)', async (t) => {
  using folder = new Folder()
  const port = await freePort()
  const env = { CARILLON_PORT: `${port}` }
  await using service = new CarillonProcess(folder, { env })
  await service.isReady()
  const user = new UserOfService(`http://127.0.0.1:${port}`, firstSignInOf(folder))
  t.after(() => user.close())
  const session = await user.signIn('stateful')
  const token = await user.signIn('stateless')
  const file = folder.file('carillon.secret')
  const before = readFileSync(file, 'utf8')
  const load = await Load.start([user])
  const { status, stdout, stderr } = await carillon(folder, ['secret', 'rotate'])
  assert.equal(status, 0, stderr)
  await load.more(50)
  const after = readFileSync(file, 'utf8')
  assert.notEqual(after, before)
  assert.ok(after.trim().length >= 43)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const [kept = '', ...others] = readdirSync(folder.path).filter((name) => name.includes('secret.'))
  assert.match(kept, /^carillon\.secret\.until-\d{4}-\d\d-\d\d$/)
  assert.deepEqual(others, [])
  const days = (Date.parse(kept.slice(-10)) - Date.now()) / 86_400_000
  assert.ok(days > 28.9 && days < 30.1, kept)
  assert.equal(readFileSync(folder.file(kept), 'utf8'), before)
  assert.equal(statSync(folder.file(kept)).mode & 0o777, 0o600)
  assert.match(stdout, /Backups from before need the secret before: it is in .*until-/)
  // A new signing key is sealed with the new secret: the running service has to open it.
  const rotated = await carillon(folder, ['keys', 'rotate', '--after', '1s', '--json'])
  const { kid } = JSON.parse(rotated.stdout)
  const isSigning = async () => {
    const { authorization = '' } = await user.signIn('stateless')
    return Buffer.from(
      authorization.slice('Bearer '.length).split('.')[0] ?? '',
      'base64url',
    ).includes(kid)
  }
  await untilSo(isSigning)
  await load[Symbol.asyncDispose]()
  assert.deepEqual(load.failures, [])
  for (const headers of [session, token])
    assert.equal((await user.request({ path: '/routeRestreinte', headers })).status, 200)
  const leaked = await carillon(folder, ['secret', 'rotate', '--keep', '0'])
  assert.match(leaked.stdout, /which was not kept/, leaked.stderr)
  assert.deepEqual(
    readdirSync(folder.path).filter((name) => name.includes('secret.')),
    [kept],
    'the one that leaked is gone',
  )
  assert.equal((await carillon(folder, ['secret', 'rotate', '--keep', 'x'])).status, 2)
  assert.equal((await service.end('SIGTERM')).status, 0)
  await using again = new CarillonProcess(folder, { env })
  await again.isReady()
  for (const headers of [session, token])
    assert.equal((await user.request({ path: '/routeRestreinte', headers })).status, 200)
})
