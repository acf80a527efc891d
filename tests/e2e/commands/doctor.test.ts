// `carillon doctor` as a user types it, beside a running service: what it prints, its exit status, and that it changes nothing.
// The findings are tested in server/doctor/.
import assert from 'node:assert/strict'
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { freePort } from '../../support/network/free-port.ts'
import { CarillonProcess, carillon, Folder } from '../../support/processes/carillon-process.ts'
import { certificate, type Spoil, startProxy } from '../../support/proxies/proxy.ts'

type Run = Awaited<ReturnType<typeof carillon>>
type Found = { area: string; check: string; state: string; found: string; change?: string }

const folderOf = (folder: Folder) =>
  readdirSync(folder.path).map((name) => {
    const { size, mode, mtimeMs } = statSync(folder.file(name))
    return { name, size, mode, mtimeMs }
  })

/** Runs it, and makes sure that no file came, went or was written. */
async function doctor(
  folder: Folder,
  args: string[] = [],
  { env = {} }: { env?: NodeJS.ProcessEnv } = {},
): Promise<Run> {
  const before = folderOf(folder)
  // Any machine allows so many open files.
  const run = await carillon(folder, ['doctor', ...args], {
    env: { CARILLON_STREAMS: '100', ...env },
  })
  assert.deepEqual(folderOf(folder), before)
  return run
}

const wrong = ({ stdout }: Run): Found[] =>
  (JSON.parse(stdout) as { findings: Found[] }).findings.filter(({ state }) => state !== 'ok')

async function standing(folder: Folder, spoil: Spoil = {}) {
  const port = await freePort()
  const onTheWay: Spoil['onTheWay'] = (passing) => {
    Object.assign(passing.headers, { 'x-forwarded-for': '127.0.0.1', forwarded: undefined })
    spoil.onTheWay?.(passing)
  }
  const proxy = await startProxy(`http://127.0.0.1:${port}`, { tls: true, ...spoil, onTheWay })
  const settings = {
    CARILLON_PORT: String(port),
    CARILLON_PUBLIC_URL: proxy.url,
    CARILLON_TRUSTED_PROXIES: '127.0.0.1',
  }
  const service = await CarillonProcess.ready(folder, { env: settings })
  rmSync(folder.file('first-sign-in.txt'))
  const authority = folder.file('authority.pem')
  writeFileSync(authority, certificate.cert)
  return {
    env: { ...settings, NODE_EXTRA_CA_CERTS: authority },
    proxy,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await proxy.stop()
    },
  }
}

suite('carillon doctor', { concurrency: 2 }, () => {
  test('finds nothing wrong behind a TLS proxy, and prints text or JSON', async () => {
    using folder = new Folder()
    await using place = await standing(folder)
    const { env, proxy } = place
    const run = await doctor(folder, [], { env })
    assert.deepEqual([run.status, run.stderr], [0, ''], run.stdout)
    const lines = run.stdout.split('\n')
    for (const area of ['This machine', 'Settings', 'Database', proxy.url])
      assert.ok(lines.includes(area), area)
    assert.ok(lines.includes('  ✔ stream      events arrive at once'), run.stdout)
    assert.match(run.stdout, /\n\d+ findings: no faults, no warnings\n$/)
    assert.doesNotMatch(run.stdout, /->|[!✖]/)
    assert.ok(!run.stdout.includes('\u001b'))

    const machine = await doctor(folder, ['--json'], { env })
    assert.equal(machine.status, 0)
    assert.deepEqual(wrong(machine), [])
    assert.equal(JSON.parse(machine.stdout).healthy, true)
  })

  test('exits with status 1 if there is a fault, and prints what to change, as text or JSON', async () => {
    using folder = new Folder()
    await using place = await standing(folder, {
      onTheWay: ({ headers }) => Object.assign(headers, { host: 'inner' }),
    })
    chmodSync(folder.file('carillon.db'), 0o644)
    const run = await doctor(folder, [place.proxy.url], { env: place.env })
    assert.deepEqual([run.status, run.stderr], [1, ''])
    assert.match(
      run.stdout,
      /^ {2}✖ database file {2,}every user of this machine may read \S+ \(mode 0644\)\n +-> chmod 600 /m,
    )
    assert.match(run.stdout, /^ {2}✖ Host .*\n +-> nginx: proxy_set_header Host \$http_host;/m)
    assert.match(run.stdout, / 2 faults, no warnings\n$/)
    const machine = await doctor(folder, ['--json'], { env: place.env })
    assert.equal(machine.status, 1)
    assert.deepEqual(
      wrong(machine).map(({ area, check, state }) => [area, check, state]),
      [
        ['Database', 'database file', 'fault'],
        [place.proxy.url, 'Host', 'fault'],
      ],
    )
  })

  test('checks the service itself if the proxy does not reach it, and finds a certificate that is not trusted', async () => {
    using folder = new Folder()
    await using place = await standing(folder)
    const { NODE_EXTRA_CA_CERTS: _, ...settings } = place.env
    const untrusted = await doctor(folder, ['--json'], { env: settings })
    assert.match(wrong(untrusted)[0]?.change ?? '', /^NODE_EXTRA_CA_CERTS=/)
    await place.proxy.stop()
    const { findings } = JSON.parse((await doctor(folder, ['--json'], { env: place.env })).stdout)
    const reached = findings.filter(({ check }: Found) => check === 'reached')
    assert.deepEqual(
      reached.map(({ state }: Found) => state),
      ['fault', 'ok'],
    )
    assert.match(reached[1].area, /^Without the proxy, http:\/\/127\.0\.0\.1:\d+$/)
  })

  test('reports invalid settings among its findings, and creates no database if it is missing', async () => {
    using folder = new Folder()
    const run = await doctor(folder, ['--json'], { env: { CARILLON_DATABSE_URL: 'sqlite:x.db' } })
    assert.equal(run.status, 1)
    assert.deepEqual(
      wrong(run).map(({ area, check, change }) => [area, check, change]),
      [
        [
          'Settings',
          'setting',
          'CARILLON_DATABSE_URL: correct or remove the name; docs/config.md lists all settings',
        ],
        [
          'Database',
          'database',
          'It may be in another folder: run the command there, or correct CARILLON_DATABASE_URL. To create one: carillon migrate',
        ],
      ],
    )
    const alone = await doctor(folder, ['--json', '--port', String(await freePort())])
    assert.equal(alone.status, 1)
    assert.deepEqual(
      wrong(alone).map(({ check, state }) => [check, state]),
      [
        ['database', 'fault'],
        ['reached', 'fault'],
      ],
    )
    assert.deepEqual(readdirSync(folder.path), [])
  })

  test('finds settings with which the service does not start, although each is valid', async () => {
    using folder = new Folder()
    const env = {
      CARILLON_SECOND_FACTOR: 'passkey',
      CARILLON_PUBLIC_URL: 'https://192.0.2.7',
      CARILLON_LOGO: 'none.svg',
    }
    const run = await doctor(folder, [`http://127.0.0.1:${await freePort()}`, '--json'], { env })
    assert.deepEqual(
      wrong(run).flatMap(({ area, check }) => (area === 'Settings' ? [check] : [])),
      ['second factor', 'logo'],
    )
  })

  test('refuses a URL with a query, with status 2', async () => {
    using folder = new Folder()
    const { status, stdout, stderr } = await doctor(folder, ['https://bell.example/inbox?page=2'])
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(
      stderr,
      /^carillon: The URL is "https:\/\/bell\.example\/inbox\?page=2"; write only scheme, host and port/,
    )
  })
})
