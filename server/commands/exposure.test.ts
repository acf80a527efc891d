import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Environment, Folder } from '../../tests/support/processes/carillon-process.ts'
import { CommandLine } from '../../tests/support/processes/command-line.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(new Folder())
const commandLine = opened.use(new CommandLine())
const carillon = (args: readonly string[], env: Environment = {}) =>
  commandLine.run(folder, args, { env })

const backup = folder.file('b')
const here = `sqlite:${folder.file('carillon.db')}`
/**
 * The name resolves nowhere (RFC 6761, section 6.4): an attempt to connect would fail with another
 * message.
 */
const exposed = 'postgres://carillon@db.invalid/carillon'

const connecting: [args: string[], setting: string, env?: Record<string, string>][] = [
  [['serve', '--database-url', exposed], 'CARILLON_DATABASE_URL'],
  [['serve'], 'CARILLON_DATABASE_URL', { CARILLON_DATABASE_URL: exposed }],
  [['migrate', '--database-url', exposed], 'CARILLON_DATABASE_URL'],
  [['backup', backup, '--database-url', exposed], 'CARILLON_DATABASE_URL'],
  [['user', 'list', '--database-url', exposed], 'CARILLON_DATABASE_URL'],
  [['key', 'list', '--database-url', exposed], 'CARILLON_DATABASE_URL'],
  [['restore', backup, '--to', exposed], 'CARILLON_DATABASE_URL'],
  [['move', '--from', here, '--to', exposed], 'CARILLON_TARGET_URL'],
  [['move', '--from', exposed, '--to', here], 'CARILLON_DATABASE_URL'],
  [['move', '--give-up', '--from', exposed], 'CARILLON_DATABASE_URL'],
]

for (const [args, setting, env] of connecting)
  test(`"${args.slice(0, 2).join(' ')}" refuses ${setting} without TLS on another machine (L4)`, async () => {
    const { status, stderr } = await carillon(args, env)
    assert.equal(status, 2, stderr)
    assert.match(
      stderr,
      new RegExp(
        `${setting} names a PostgreSQL server on another machine and does not require TLS`,
      ),
    )
    assert.match(stderr, /add sslmode=verify-full to the URL, or set CARILLON_INSECURE_DATABASE=on/)
  })

test('CARILLON_INSECURE_DATABASE=on lets a command try to connect (L4)', async () => {
  const { status, stderr } = await carillon(['migrate', '--database-url', exposed], {
    CARILLON_INSECURE_DATABASE: 'on',
  })
  assert.equal(status, 1)
  assert.match(stderr, /The host of CARILLON_DATABASE_URL/)
})

test('doctor reports every exposed setting in one run, and does not connect to an exposed database (L3, L4)', async () => {
  const env = {
    CARILLON_HOST: '0.0.0.0',
    CARILLON_PORT: '1',
    CARILLON_PUBLIC_URL: 'https://bell.localhost:1',
    CARILLON_ALLOWED_ORIGINS: 'http://a.example,http://b.example',
  }
  const { status, stdout } = await carillon(['doctor', '--json'], {
    ...env,
    CARILLON_DATABASE_URL: exposed,
  })
  assert.equal(status, 1)
  type Found = { area: string; check: string; state: string; change: string }
  const { findings }: { findings: Found[] } = JSON.parse(stdout)
  const settings = findings.filter(({ area }) => area === 'Settings')
  assert.deepEqual(
    settings.map(({ state, change }) => [state, change.split(':')[0]]),
    ['HOST', 'ALLOWED_ORIGINS', 'ALLOWED_ORIGINS', 'DATABASE_URL'].map((name) => [
      'fault',
      `CARILLON_${name}`,
    ]),
  )
  assert.ok(!findings.some(({ area }) => area === 'Database'))
  const beside = await carillon(['doctor', '--json'], { ...env, CARILLON_DATABASE_URL: here })
  assert.match(
    beside.stdout,
    /There is no database/,
    'a refused setting hides no finding about the database',
  )
})

const passwords: [args: string[], setting: string][] = [
  [['move', '--to', 'postgres://ann:secret@127.0.0.1:1/c'], 'CARILLON_TARGET_URL'],
  [['move', '--to', 'postgres://ann@127.0.0.1:1/c?p%61ssword=secret'], 'CARILLON_TARGET_URL'],
  [
    ['move', '--from', 'postgres://ann:secret@127.0.0.1:1/c', '--to', here],
    'CARILLON_DATABASE_URL',
  ],
  [
    ['move', '--give-up', '--from', 'postgres://ann:s%65cret@127.0.0.1:1/c'],
    'CARILLON_DATABASE_URL',
  ],
  [['restore', backup, '--to', 'postgres://ann:secret@127.0.0.1:1/c'], 'CARILLON_DATABASE_URL'],
  [['doctor', '--database-url', 'postgres://ann:secret@127.0.0.1:1/c'], 'CARILLON_DATABASE_URL'],
  [['tail', '--url', 'http://ann:secret@127.0.0.1:1'], 'CARILLON_URL'],
]

for (const [args, setting] of passwords)
  test(`"${args.join(' ').replace(`${folder.path}/`, '')}" refuses the password in an option (L5)`, async () => {
    const { status, stderr, stdout } = await carillon(args)
    assert.equal(status, 2, stderr)
    const sentence = `can be seen in the list of processes; set ${setting} in the environment, or ${setting}_FILE`
    assert.ok(stderr.includes(sentence), stderr)
    assert.doesNotMatch(stderr + stdout, /secret/)
  })

test('the address that doctor is given is not shown with its password (L5)', async () => {
  const { status, stderr } = await carillon(['doctor', 'https://ann:secret@bell.example'])
  assert.equal(status, 2)
  assert.doesNotMatch(stderr, /secret/)
})
