// When the writer thread dies, no request waits for ever, nothing unwritten is acknowledged, reads
// still work, and the process ends so that its supervisor restarts it (R1, E3).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { refusalIn } from '../../support/http/envelope.ts'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import type { HttpResponse } from '../../support/service.ts'

const tap = fileURLToPath(new URL('../../support/processes/tapped-writer.ts', import.meta.url))

function isUnavailable(response: HttpResponse): void {
  assert.equal(refusalIn(response).code, 'UNAVAILABLE', response.text)
  assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
}

test('when the writer thread dies, waiting and later writes are 503, reads still work, and the process ends (E3)', async () => {
  let tries = 1
  while (!(await outlivesItsWriter({ isLast: tries === 5 }))) tries++
})

/**
 * Returns false if this process was too slow: the service responds for half a second after the
 * failure, and then closes its port.
 */
async function outlivesItsWriter({ isLast }: { isLast: boolean }): Promise<boolean> {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, { nodeOptions: ['--import', tap] })
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const cookie = await user.signIn('stateful')
  const token = await user.signIn('stateless')
  const ended = await user.signIn('stateless')
  const acknowledged: string[] = []
  for (let n = 0; n < 20; n++) {
    assert.equal((await user.deliver(`Kept ${n}`, `kept-${n}`)).status, 201)
    acknowledged.push(`Kept ${n}`)
  }
  const path = `/api/notifications/${(await user.inbox(cookie))[0]?.id}`

  // Another connection holds the lock, so new writes wait, in the thread or in front of it.
  const file = new SqliteBehind(folder.path)
  const letGo = await file.holdWrites()
  const waiting = Array.from({ length: 20 }, (_, n) => user.deliver(`Waiting ${n}`, `waiting-${n}`))
  const signingOut = user.request({ method: 'POST', path: '/logout', headers: ended })
  await sleep(300)
  const killedAt = performance.now()
  running.child.kill('SIGUSR2')
  await untilSo(async () => running.stderr.includes('terminated'))
  await letGo()
  for (const response of await Promise.all([...waiting, signingOut])) isUnavailable(response)

  // The service closes the open connections within a second, so all are sent at the same time.
  const sentAfterMs = performance.now() - killedAt
  const writes = [
    user.deliver('Too late'),
    user.request({ method: 'PATCH', path: `${path}/read`, headers: cookie }),
    user.request({ method: 'POST', path: '/api/notifications/read-all', headers: token }),
    user.request({ method: 'POST', path: '/logout', headers: cookie }),
    user.request({ path: '/readyz' }),
  ]
  const readable = [
    '/api/notifications',
    '/api/notifications/counts',
    path,
    '/api/me',
    '/routeRestreinte',
  ]
  const reads = readable.flatMap((one) =>
    [cookie, token].map((headers) => user.request({ path: one, headers })),
  )
  const responses = await Promise.all([
    ...writes,
    ...reads,
    user.request({ path: '/livez' }),
  ]).catch((error) => {
    if (sentAfterMs < 400 || isLast) throw error
  })
  user.close()
  if (responses === undefined) {
    await file.close()
    return false
  }
  for (const response of responses.slice(0, writes.length)) isUnavailable(response)
  for (const response of responses.slice(writes.length))
    assert.equal(response.status, 200, response.text)

  const { status, signal } = await running.isGone()
  assert.deepEqual([status, signal], [1, null])
  const fatal = running.lines.filter(({ level }) => level === 60)
  assert.equal(fatal.length, 1, running.stdout)
  assert.match(JSON.stringify(fatal), /writer thread/)
  await file.close()

  await using again = await CarillonProcess.ready(folder)
  const later = new UserOfService(again.url, firstSignInOf(folder))
  const titles = new Set((await later.inbox(cookie)).map(({ title }) => title))
  assert.deepEqual(
    acknowledged.filter((title) => !titles.has(title)),
    [],
  )
  // Each delivery with an unknown outcome is sent again, and is there once.
  for (let n = 0; n < 20; n++)
    assert.equal((await later.deliver(`Waiting ${n}`, `waiting-${n}`)).status, 201)
  const all = (await later.inbox(cookie)).map(({ title }) => title)
  assert.equal(all.length, new Set(all).size)
  assert.equal(all.length, 1 + 20 + 20)
  assert.equal((await later.request({ path: '/readyz' })).status, 200)
  later.close()
  return true
}

test('the process also ends if the writer thread dies while no write is waiting (E3)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, { nodeOptions: ['--import', tap] })
  running.child.kill('SIGUSR2')
  const { status } = await running.isGone()
  assert.equal(status, 1)
})
