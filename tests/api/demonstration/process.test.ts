import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../../server/basics/log.ts'
import { Demonstration } from '../../../server/demonstration/child.ts'
import { demonstrationHere } from '../../support/demonstration/demonstration-here.ts'
import { CarillonProcess, Folder } from '../../support/processes/carillon-process.ts'

function childOf({ child: { pid } }: CarillonProcess): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
  return child === undefined ? undefined : Number(child)
}

async function visit({ url }: CarillonProcess): Promise<void> {
  const response = await fetch(`${url}/demonstration/visits`, { method: 'POST' })
  assert.equal(response.status, 201, await response.text())
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const from = performance.now()
  while (!isSo()) {
    assert.ok(performance.now() - from < 60_000, what)
    await sleep(20)
  }
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('it starts with the first request, has no setting and no secret of the service, and ends with it, even if that is killed (S16)', async () => {
  using folder = new Folder()
  using temporary = new Folder()
  const secret = 'a sealing secret that only the service has'
  const env = { TMPDIR: temporary.path, CARILLON_SECRET: secret }
  const left = () =>
    readdirSync(temporary.path).filter((one) => one.startsWith('carillon-demonstration-'))
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await using service = await CarillonProcess.ready(folder, { env })
    assert.equal((await fetch(`${service.url}/demonstration`)).status, 200)
    assert.equal(childOf(service), undefined)
    await visit(service)
    const child = childOf(service) ?? 0
    const known = ['environ', 'cmdline']
      .map((name) => readFileSync(`/proc/${child}/${name}`, 'utf8'))
      .join('\0')
    assert.doesNotMatch(known, /CARILLON|sealing/)
    assert.equal(left().length, 1)
    await service.end(signal)
    await until(() => !isRunning(child), `it ends after ${signal}`)
    assert.deepEqual(left(), [])
  }
})

test('if it is killed, the service goes on and starts another one, which removes what was left (S16)', async () => {
  using folder = new Folder()
  using temporary = new Folder()
  await using service = await CarillonProcess.ready(folder, { env: { TMPDIR: temporary.path } })
  await visit(service)
  const child = childOf(service) ?? 0
  process.kill(child, 'SIGKILL')
  await until(() => childOf(service) === undefined, 'it ends')
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
  await visit(service)
  const names = readdirSync(temporary.path).filter((name) =>
    name.startsWith('carillon-demonstration-'),
  )
  assert.equal(names.length, 1)
  assert.ok(!names[0]?.includes(`-${child}-`))
})

test('its listener refuses every request that does not come from the service (S14)', async (t) => {
  const demonstration = await demonstrationHere()
  t.after(() => demonstration.stop())
  const visitor = await demonstration.from('192.0.2.1').again()
  const headers = { cookie: visitor.cookie, 'carillon-visit': visitor.id }
  for (const facts of [undefined, '', 'wrong 192.0.2.1', 'undefined 192.0.2.1'])
    for (const path of [
      'visit',
      'exchanges/1',
      'service/routeRestreinte',
      'other-server/me',
      'other-site?visit=a',
    ]) {
      const response = await demonstration.send(`/demonstration/${path}`, facts, { headers })
      assert.deepEqual([response.status, response.headers.get('set-cookie')], [403, null], path)
    }
  assert.equal((await visitor.send('visit')).status, 200)
})

test('it does not end the connections that the service keeps for the next request', async (t) => {
  const demonstration = await demonstrationHere()
  t.after(() => demonstration.stop())
  const { headers } = await demonstration.from('192.0.2.1').start()
  assert.equal(headers.get('connection'), 'keep-alive')
  assert.equal(headers.get('keep-alive'), null, 'an idle connection would end after this time')
})

test('it ends after ten minutes without a request, and a later one starts it again', async () => {
  const settings = {
    url: 'http://127.0.0.1:7464',
    prefix: '',
    hosts: [],
    hstsSubdomains: false,
    places: 10,
  }
  const log = await createLog({ level: 'silent', isTerminal: false })
  const demonstration = new Demonstration(() => settings, log)
  mock.timers.enable({ apis: ['setTimeout'] })
  const first = await demonstration.whenRunning()
  mock.timers.tick(599_000)
  assert.equal((await demonstration.whenRunning()).child, first.child)
  mock.timers.tick(599_000)
  assert.equal(first.child.exitCode, null)
  mock.timers.tick(1_000)
  mock.timers.reset()
  await until(() => first.child.exitCode !== null, 'it ends')
  const second = await demonstration.whenRunning()
  assert.notEqual(second.child.pid, first.child.pid)
  await demonstration.end()
  assert.notEqual(second.child.exitCode, null)
  await assert.rejects(demonstration.whenRunning(), { code: 'UNAVAILABLE' })
})
