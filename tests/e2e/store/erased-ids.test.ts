// A service remembers erased external ids after a new secret, a backup and a restore, for commands
// too (U7).
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  CarillonProcess,
  carillon,
  carillonJson,
  Folder,
} from '../../support/processes/carillon-process.ts'

test('an erased external id is still recognised after a rotation of the secret and in a restored backup (U7)', async () => {
  using folder = new Folder()
  const command = async (...args: string[]) => {
    const { status, stdout, stderr } = await carillon(folder, args)
    assert.equal(status, 0, stderr)
    return stdout
  }
  const first = await CarillonProcess.ready(folder)
  const adding = ['key', 'add', 'shop', '--scope', 'send,users']
  const { key } = await carillonJson(folder, adding)
  const off = await carillonJson(folder, [...adding, '--creates-users', 'off'])
  assert.equal(off.createsUsers, false)
  const callOf =
    (url: string) =>
    async (method: string, path: string, body?: object, of: string = key) => {
      const headers = { authorization: `Bearer ${of}`, 'content-type': 'application/json' }
      const response = await fetch(url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return response.status
    }
  const letter = (externalId: string) => ({ recipients: [{ externalId }], title: 'Hi' })
  const call = callOf(first.url)

  assert.equal(await call('POST', '/api/notifications', letter('typo'), off.key), 422)
  assert.equal(await call('PUT', '/api/users/external/careful', {}, off.key), 201)
  assert.equal(await call('POST', '/api/notifications', letter('careful'), off.key), 201)

  for (const id of ['by-route', 'by-command'])
    assert.equal(await call('PUT', `/api/users/external/${id}`, {}), 201)
  assert.equal(await call('DELETE', '/api/users/external/by-route'), 204)
  await command('backup', 'before.gz')
  await command('user', 'delete', '--external-id', 'by-command', '--yes')
  await command('secret', 'rotate')
  const again = async (url: string) => {
    const statuses = ['by-route', 'by-command'].map((id) =>
      callOf(url)('POST', '/api/notifications', letter(id)),
    )
    return Promise.all(statuses)
  }
  assert.deepEqual(await again(first.url), [422, 422])
  await command('backup', 'after.gz')
  assert.equal((await first.end('SIGTERM')).status, 0)

  await using second = await CarillonProcess.ready(folder)
  assert.deepEqual(await again(second.url), [422, 422])
  assert.equal((await second.end('SIGTERM')).status, 0)

  mkdirSync(folder.file('restored'))
  const restored = 'sqlite:restored/carillon.db'
  assert.match(
    await command('restore', 'after.gz', '--to', restored),
    /A user who was erased after the backup was made/,
  )
  copyFileSync(folder.file('carillon.secret'), folder.file('restored/carillon.secret'))
  await using third = await CarillonProcess.ready(folder, {
    env: { CARILLON_DATABASE_URL: restored },
  })
  assert.deepEqual(await again(third.url), [422, 422])

  writeFileSync(folder.file('users.jsonl'), '{"externalId":"by-route"}\n{"externalId":"new"}\n')
  const importing = ['user', 'import', 'users.jsonl', '--database-url', restored]
  const imported = await carillonJson(folder, importing)
  assert.deepEqual(imported, { imported: 2, created: 2, updated: 0, erased: true })
  assert.deepEqual(await again(third.url), [201, 422])
})

test('with CARILLON_ERASED_FOR=0 no erased external id is remembered (U7)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, { env: { CARILLON_ERASED_FOR: '0' } })
  const { key } = await carillonJson(folder, ['key', 'add', 'shop', '--scope', 'send,users'])
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
  }
  const call = async (method: string, path: string, text = '{}') =>
    (
      await fetch(running.url + path, {
        method,
        headers,
        ...(method !== 'DELETE' && { body: text }),
      })
    ).status
  assert.equal(await call('PUT', '/api/users/external/gone'), 201)
  assert.equal(await call('DELETE', '/api/users/external/gone'), 204)
  const body = JSON.stringify({ recipients: [{ externalId: 'gone' }], title: 'Hi' })
  assert.equal(await call('POST', '/api/notifications', body), 201)
})
