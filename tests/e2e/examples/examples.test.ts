// The applications of examples/ that have no page, and what is in every folder. bells.soak.test.ts has the pages.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createCarillon } from '../../../client/carillon-client.ts'
import { firstSignInOf } from '../../support/processes/carillon-process.ts'
import { packagesOf, startExample } from '../../support/processes/example-application.ts'
import { RunningService } from './running-service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

test('a service that checks tokens offline accepts the token of a user, also while Carillon is stopped, and no other', async () => {
  await using service = await RunningService.start()
  await using own = await startExample('offline-tokens', { CARILLON_URL: service.url })
  const { username, password } = firstSignInOf(service.folder)
  const { User, token } = await createCarillon({ baseUrl: service.url }).login({
    username,
    password,
    variant: 'stateless',
  })
  const respond = (given?: string) =>
    fetch(own.url, given === undefined ? {} : { headers: { authorization: `Bearer ${given}` } })
  const accepted = await respond(token)
  assert.deepEqual(
    [accepted.status, await accepted.json()],
    [200, { userId: User.id, name: username }],
  )
  const inboxOnly = await service.producer.users.issueToken({ id: User.id })
  for (const wrong of [undefined, inboxOnly.token, `${token}x`, 'x'])
    assert.equal((await respond(wrong)).status, 401)
  await service.stop()
  assert.equal((await respond(token)).status, 200)
})

test('each example names the packages of this checkout in their versions, and has a README', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const own = ['carillon-client', 'carillon-inbox'].map((name) => [
    name,
    `file:../../dist/${name}-${version}.tgz`,
  ])
  const used = ['server', 'client', 'element', '.'].flatMap((folder) =>
    packagesOf(join(root, folder)),
  )
  const versions = Object.fromEntries([...used, ...own])
  const folders = globSync('examples/*/package.json', { cwd: root }).map((file) =>
    join(root, file, '..'),
  )
  assert.equal(folders.length, 8)
  for (const folder of folders) {
    for (const [name, named] of packagesOf(folder))
      assert.equal(named, versions[name], `${folder}: ${name}`)
    assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /npm install\nnpm start/)
  }
})
