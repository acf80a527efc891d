// Another program damages or changes the database of a running service: the response says that the
// request failed, without details; the log has the whole error under the same request id (E1-E3,
// R6, Z7).
import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Refusal, refusalIn } from '../../support/http/envelope.ts'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

async function isLogged(
  running: CarillonProcess,
  { requestId }: Refusal,
  inside: RegExp,
): Promise<void> {
  const logged = () => running.lines.filter((line) => line.requestId === requestId)
  // The response may arrive before the log, which comes through a pipe.
  for (let waits = 0; logged().length === 0 && waits < 6_000; waits++) await sleep(10)
  const lines = logged()
  assert.equal(lines.length, 1, running.stdout)
  assert.equal(lines[0]?.level, 50)
  assert.match(JSON.stringify(lines), inside)
  assert.match(JSON.stringify(lines), /stack/)
}

test('an unexpected error is 500 without its reason, and the log has the whole error under the request id (E2)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const cookie = await user.signIn('stateful')
  const token = await user.signIn('stateless')
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

test('a damaged database is 503 with Retry-After, never 200, and the service is not ready (E3, R6, Z7)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const cookie = await user.signIn('stateful')
  for (let n = 0; n < 20; n++) assert.equal((await user.deliver(`No. ${n}`)).status, 201)
  const file = new SqliteBehind(folder.path)
  await file.change('pragma wal_checkpoint(truncate)')
  overwrite(folder.file('carillon.db'))

  const requests: [string, Proof][] = [
    ['/api/notifications', cookie],
    ['/api/notifications/counts', cookie],
    ['/routeRestreinte', cookie],
    ['/readyz', {}],
  ]
  for (const [path, headers] of requests) {
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

/** Overwrites every page, like a failing disk. */
function overwrite(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(statSync(path).size, 0xaa), 0, undefined, 0)
  closeSync(file)
}
