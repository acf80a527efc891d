// When it is our own fault: a store that is damaged, or changed by somebody, under a service that runs. The caller is told
// that it failed and nothing of the inside, and the log has all of it under the same request id (E1-E3, R6, Z7).
import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Refusal, refusalIn } from '../../support/http/envelope.ts'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

/** The log has one line for a refusal, and in it what happened inside. */
async function isLogged(running: CarillonProcess, { requestId }: Refusal, inside: RegExp): Promise<void> {
  const logged = () => running.lines.filter((line) => line.requestId === requestId)
  // It comes through a pipe, so the answer may be here first.
  for (let waits = 0; logged().length === 0 && waits < 500; waits++) await sleep(10)
  const lines = logged()
  assert.equal(lines.length, 1, running.stdout)
  assert.equal(lines[0]?.level, 50)
  assert.match(JSON.stringify(lines), inside)
  assert.match(JSON.stringify(lines), /stack/)
}

test('E2: an error that nobody foresaw is 500 without its reason, and the log has it whole under the request id', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const [cookie, token] = [await user.signIn('stateful'), await user.signIn('stateless')]
  const file = new SqliteBehind(folder.path)
  await file.change('alter table notification rename to mislaid')

  for (const headers of [cookie, token]) {
    const reading = await user.request({ path: '/api/notifications?page=1&limit=7', headers })
    const refusal = refusalIn(reading)
    assert.deepEqual([refusal.code, refusal.status], ['INTERNAL', 500])
    assert.doesNotMatch(reading.text, /mislaid|notification"/)
    await isLogged(running, refusal, /no such table: .*notification/)
  }
  const writing = refusalIn(await user.deliver('Lost?'))
  assert.equal(writing.code, 'INTERNAL')
  await isLogged(running, writing, /no such table: .*notification/)
  assert.equal((await user.request({ path: '/routeRestreinte', headers: cookie })).status, 200)

  await file.change('alter table mislaid rename to notification')
  assert.equal((await user.deliver('Found')).status, 201)
  const titles = (await user.inbox(cookie)).map(({ title }) => title)
  assert.deepEqual(titles, ['Found', 'Welcome to Carillon'])
  user.close()
  await file.close()
})

test('E3, R6, Z7: a store that is damaged under it is 503 with Retry-After, never 200, and it is not ready', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const cookie = await user.signIn('stateful')
  for (let n = 0; n < 20; n++) assert.equal((await user.deliver(`No. ${n}`)).status, 201)
  const file = new SqliteBehind(folder.path)
  await file.change('pragma wal_checkpoint(truncate)')
  overwrite(folder.file('carillon.db'))

  const asks: [string, Proof][] = [
    ['/api/notifications', cookie],
    ['/api/notifications/counts', cookie],
    ['/routeRestreinte', cookie],
    ['/readyz', {}],
  ]
  for (const [path, headers] of asks) {
    const response = await user.request({ path, headers })
    const refusal = refusalIn(response)
    assert.deepEqual([refusal.code, refusal.status], ['UNAVAILABLE', 503], path)
    await isLogged(running, refusal, /malformed|not a database/)
  }
  assert.equal(refusalIn(await user.deliver('Lost')).status, 503)
  assert.equal((await user.request({ path: '/livez' })).status, 200)
  user.close()
  await file.close()
})

/** Every page, as a disk does that forgets what it was given. */
function overwrite(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(statSync(path).size, 0xaa), 0, undefined, 0)
  closeSync(file)
}
