// Under a supervisor: the unit for systemd, what the service tells systemd, a reload, and the health check of a container.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { isInRanges, rangesOf } from '../../../server/basics/ip-addresses.ts'
import { CarillonProcess, carillon, Folder } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'

/** Notes what it was to send: the real program of that name needs the socket of systemd. */
function noteNotices(folder: Folder): { env: Record<string, string>; notices: () => string[] } {
  const program = folder.file('systemd-notify')
  const file = folder.file('notices')
  writeFileSync(program, `#!/bin/sh\necho "$1" >> '${file}'\n`, { mode: 0o755 })
  const env = {
    PATH: `${folder.path}:${process.env.PATH}`,
    NOTIFY_SOCKET: '/run/none',
    WATCHDOG_USEC: '100000',
  }
  return {
    env,
    notices: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  }
}

test('the service tells systemd that it is ready, works and stops; a reload changes nothing and is logged', async () => {
  using folder = new Folder()
  const { env, notices } = noteNotices(folder)
  await using running = await CarillonProcess.ready(folder, { env })
  await untilSo(async () => notices().includes('READY=1') && notices().includes('WATCHDOG=1'))
  running.child.kill('SIGHUP')
  await untilSo(async () => running.lines.some(({ event }) => event === 'reload-ignored'))
  const check = (port: string) => carillon(folder, ['healthcheck', '--port', port])
  const healthy = await check(new URL(running.url).port)
  assert.deepEqual([healthy.status, healthy.stdout], [0, 'ready\n'], healthy.stderr)
  const { version, commit } = (await (await fetch(`${running.url}/livez`)).json()).data
  const printed = await carillon(folder, ['-V'])
  assert.equal(printed.stdout, `${version} (${commit})\n`)
  assert.equal((await running.end('SIGTERM')).status, 0)
  await untilSo(async () => notices().includes('STOPPING=1'))
  const gone = await check(new URL(running.url).port)
  assert.equal(gone.status, 1)
  assert.match(gone.stderr, /^carillon: http:\S+\/readyz is not ready: .+\n$/)
})

test('a start warns of each file with a secret that every user of the machine may read, and of no other', async () => {
  using folder = new Folder()
  const start = async (env: Record<string, string> = {}) => {
    await using running = await CarillonProcess.ready(folder, { env })
    return running.lines.filter(({ event }) => event === 'secret-exposed').map(({ file }) => file)
  }
  assert.deepEqual(await start(), [])
  const beside = folder.file('carillon.secret')
  chmodSync(beside, 0o644)
  assert.deepEqual(await start(), [beside])
  chmodSync(beside, 0o600)
  const secret = folder.file('secret')
  const name = folder.file('name')
  writeFileSync(secret, readFileSync(beside), { mode: 0o644 })
  writeFileSync(name, 'Bell', { mode: 0o644 })
  assert.deepEqual(await start({ CARILLON_SECRET_FILE: secret, CARILLON_NAME_FILE: name }), [
    secret,
  ])
})

test('a unit has the settings of its environment: files as credentials, and no secret in the clear', async () => {
  using folder = new Folder()
  const secret = folder.file('secret')
  writeFileSync(secret, 'x'.repeat(40))
  const env = { CARILLON_SECRET_FILE: secret, CARILLON_NAME: 'A "b" 10%' }
  const { stdout, stderr } = await carillon(
    folder,
    ['install-service', '--print', '--program', '/usr/bin/carillon'],
    {
      env,
    },
  )
  for (const line of [
    'ExecStart=/usr/bin/carillon serve',
    `LoadCredential=CARILLON_SECRET:${secret}`,
    'Environment=CARILLON_SECRET_FILE=%d/CARILLON_SECRET',
    'Environment="CARILLON_NAME=A \\"b\\" 10%%"',
    // Otherwise the limit of the machine may be below the number of streams, of which doctor warns.
    'LimitNOFILE=524288',
    'DynamicUser=yes',
    // Otherwise the process of the demonstration ends at its start.
    'SystemCallFilter=setpriority',
    'TimeoutStopSec=16',
  ])
    assert.ok(stdout.split('\n').includes(line), `${line}\n${stdout}${stderr}`)
  const refused = await carillon(folder, ['install-service', '--print'], {
    env: { CARILLON_SECRET: 'x'.repeat(40) },
  })
  assert.equal(refused.status, 2)
  assert.match(
    refused.stderr,
    /put the value of CARILLON_SECRET into a file, and set CARILLON_SECRET_FILE/,
  )
  assert.equal(refused.stdout, '')
})

test('a unit is not replaced by one without its credentials, and a refusal names the settings to give again', async () => {
  using folder = new Folder()
  const unit = folder.file('carillon.service')
  const files = {
    CARILLON_SECRET_FILE: folder.file('secret'),
    CARILLON_SMTP_URL_FILE: folder.file('smtp'),
  }
  writeFileSync(files.CARILLON_SECRET_FILE, 'x'.repeat(40))
  writeFileSync(files.CARILLON_SMTP_URL_FILE, 'smtps://mail.example.org')
  const install = (env: Record<string, string>) =>
    carillon(folder, ['install-service', '--to', unit], { env })
  const { status, stderr } = await install(files)
  assert.equal(status, 0, stderr)
  const first = readFileSync(unit, 'utf8')
  const refused = await install({ CARILLON_NAME: 'Bell' })
  assert.equal(refused.status, 1)
  assert.match(
    refused.stderr,
    /has credentials of CARILLON_SECRET_FILE and CARILLON_SMTP_URL_FILE\. Set these again, or/,
  )
  const { CARILLON_SECRET_FILE } = files
  assert.match(
    (await install({ CARILLON_SECRET_FILE })).stderr,
    /has credentials of CARILLON_SMTP_URL_FILE\. /,
  )
  assert.equal(readFileSync(unit, 'utf8'), first)
  assert.equal((await install({ ...files, CARILLON_NAME: 'Bell' })).status, 0)
  assert.match(readFileSync(unit, 'utf8'), /^Environment=CARILLON_NAME=Bell$/m)
})

test('containers start again with the machine, and the only trusted proxy is Caddy, whose address no other one gets (A11)', () => {
  const compose = readFileSync('packaging/compose.yaml', 'utf8')
  const restarts = Array.from(compose.matchAll(/^ {4}restart: (\S+)$/gm), ([, policy]) => policy)
  assert.deepEqual(restarts, ['unless-stopped', 'unless-stopped', 'unless-stopped'])
  const [, trusted = ''] = /CARILLON_TRUSTED_PROXIES: (\S+)$/m.exec(compose) ?? []
  const [, caddy = ''] =
    /^ {2}caddy:\n(?: {4}.*\n)* {4}networks: \{ inside: \{ ipv4_address: (\S+) \} \}$/m.exec(
      compose,
    ) ?? []
  assert.equal(trusted, caddy)
  const [, others = ''] = /ip_range: (\S+) \}/.exec(compose) ?? []
  const rangeOfOthers = rangesOf([others])
  assert.deepEqual(
    [isInRanges(caddy, rangeOfOthers), isInRanges('172.30.74.130', rangeOfOthers)],
    [false, true],
  )
})
