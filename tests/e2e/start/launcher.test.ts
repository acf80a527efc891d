// The service ends after its launcher is killed, and no signal opens a debugger. A preloaded module
// makes the launcher believe that this Node is too old, so that it starts a second process, as
// under Node 20.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/network/free-port.ts'
import {
  CarillonProcess,
  carillon,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import { soakTest } from '../../support/soak.ts'

const old =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })"
const relayed = ['--import', `data:text/javascript,${encodeURIComponent(old)}`]
const ways: [name: string, nodeOptions: readonly string[]][] = [
  ['under this Node', []],
  ['under an old Node', relayed],
]

/**
 * An old Node relays what it receives to a new one, so one test covers both; the other way is for
 * the soak.
 */
function testOf(way: string, script = 'carillon serve'): typeof test {
  return way === 'under an old Node' && script === 'carillon serve' ? test : soakTest
}

function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

for (const [name, nodeOptions] of ways)
  testOf(name)(`a killed launcher leaves no process and no port in use (${name})`, async () => {
    using folder = new Folder()
    const port = String(await freePort())
    const env = { CARILLON_PORT: port }
    const running = await CarillonProcess.ready(folder, { nodeOptions, env })
    await using _ = running
    // `end` waits until the output is closed, which both processes hold.
    await running.end('SIGKILL')
    await using again = await CarillonProcess.ready(folder, { env })
    assert.equal((await again.end('SIGTERM')).status, 0)
  })

test('the service of a killed launcher drains: it responds to a request in progress and closes the store', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, { nodeOptions: relayed })
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const headers = await user.signIn()
  const { version } = (await user.request({ path: '/api/notifications', headers })).json().data
  const held = user.request({
    path: `/api/notifications/changes?since=${version}&wait=25`,
    headers,
  })
  await sleep(300)
  await running.end('SIGKILL')
  assert.equal((await held).status, 200)
  user.close()
  const stopped = running.lines.find(({ msg }) => msg === 'stopped')
  assert.equal(stopped?.reason, 'SIGTERM', running.stdout)
})

/** npm runs a command in a shell that waits for it, gets npm's signals and passes none on. */
const shell = ['sh', '-c', '"$@"; exit', 'sh']

for (const [name, nodeOptions] of ways)
  for (const script of ["'carillon'", 'carillon serve'])
    testOf(name, script)(
      `the service of "${script}" drains if npm ends its shell (${name})`,
      async () => {
        using folder = new Folder()
        const env = { npm_lifecycle_script: script, CARILLON_PORT: String(await freePort()) }
        await using running = await CarillonProcess.ready(folder, {
          under: shell,
          nodeOptions,
          env,
        })
        // `end` waits until the output is closed, which the shell and the service hold.
        await running.end('SIGTERM')
        assert.equal(
          running.lines.find(({ msg }) => msg === 'stopped')?.reason,
          'SIGTERM',
          running.stdout,
        )
        await using again = await CarillonProcess.ready(folder, { env })
        assert.equal((await again.end('SIGTERM')).status, 0)
      },
    )

test('a service that no npm started goes on if its parent ends, as under nohup', async () => {
  using folder = new Folder()
  const env = { npm_lifecycle_script: 'nohup carillon serve &' }
  await using running = await CarillonProcess.ready(folder, { under: shell, env })
  const [service = 0] = childrenOf(running.child.pid as number)
  running.child.kill('SIGTERM')
  await once(running.child, 'exit')
  await sleep(2_000)
  assert.equal((await fetch(`${running.url}/readyz`)).status, 200)
  process.kill(service, 'SIGTERM')
  await running.isGone()
})

test('a launcher exits with the status of the command, and neither process waits for the other', async () => {
  using folder = new Folder()
  const migrated = await carillon(folder, ['migrate'], { nodeOptions: relayed })
  assert.deepEqual([migrated.status, migrated.signal], [0, null], migrated.stderr)
  const wrong = await carillon(folder, ['user', 'disable', 'nobody'], { nodeOptions: relayed })
  assert.equal(wrong.status, 1)
  assert.match(wrong.stderr, /nobody/)
  assert.equal(
    (await carillon(folder, ['serve', '--port', 'x'], { nodeOptions: relayed })).status,
    2,
  )
})

test('the process that a launcher starts uses the compile cache of the checkout', async () => {
  using folder = new Folder()
  const report = `import module from 'node:module'
    process.on('exit', () => process.stderr.write('cache: ' + module.getCompileCacheDir() + '\\n'))`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` }
  const { stdout, stderr } = await carillon(folder, ['--version'], { nodeOptions: relayed, env })
  assert.match(stdout, /^\d+\.\d+\.\d+ \(\w+\)$/m)
  assert.match(stderr, /^cache: .*[\\/]server[\\/]\.compile-cache[\\/]/m)
})

test('a launcher drains on SIGTERM and SIGINT under an old Node, too', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    using folder = new Folder()
    await using running = await CarillonProcess.ready(folder, { nodeOptions: relayed })
    assert.deepEqual((await running.end(signal)).status, 0)
    assert.ok(running.lines.some(({ msg, reason }) => msg === 'stopped' && reason === signal))
  }
})

for (const [name, nodeOptions] of ways)
  testOf(name)(`without a terminal, SIGHUP changes nothing (${name})`, async () => {
    using folder = new Folder()
    await using running = await CarillonProcess.ready(folder, { nodeOptions })
    const pids = [running.child.pid as number, ...childrenOf(running.child.pid as number)]
    for (const pid of pids) process.kill(pid, 'SIGHUP')
    await sleep(500)
    assert.equal((await fetch(`${running.url}/readyz`)).status, 200)
    assert.equal((await running.end('SIGTERM')).status, 0)
    assert.equal(running.lines.findLast(({ msg }) => msg === 'stopped')?.reason, 'SIGTERM')
  })

for (const [name, nodeOptions] of ways)
  testOf(name)(`SIGUSR1 opens no debugger and ends no process (${name}, Z11)`, async () => {
    using folder = new Folder()
    await using running = await CarillonProcess.ready(folder, { nodeOptions })
    const pids = [running.child.pid as number, ...childrenOf(running.child.pid as number)]
    assert.equal(pids.length, nodeOptions.length === 0 ? 1 : 2)
    for (const pid of pids) process.kill(pid, 'SIGUSR1')
    await sleep(500)
    assert.equal((await fetch(`${running.url}/readyz`)).status, 200)
    assert.deepEqual(pids.filter(isRunning), pids)
    assert.doesNotMatch(running.stderr, /Debugger/)
    assert.equal((await running.end('SIGTERM')).status, 0)
  })
