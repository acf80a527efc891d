// A start that is refused: one sentence on stderr that says what to do, exit status 1 or 2, and no file changed (R4-R6, and
// invalid settings).
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { after, suite, test } from 'node:test'
import { listening } from '../../support/network/free-port.ts'
import {
  CarillonProcess,
  carillon,
  Folder,
  hasFirstSignIn,
} from '../../support/processes/carillon-process.ts'
import { soakTest } from '../../support/soak.ts'

/** Our closed database at rest, to be copied. */
const model = new Folder()
after(() => model[Symbol.dispose]())
const migrated = await carillon(model, ['migrate'])
assert.equal(migrated.status, 0, migrated.stderr)

function withDatabase(): Folder {
  const folder = new Folder()
  copyFileSync(model.file('carillon.db'), folder.file('carillon.db'))
  return folder
}

function stateOf(folder: Folder): Record<string, string> {
  const entries = readdirSync(folder.path).filter((name) => statSync(folder.file(name)).isFile())
  return Object.fromEntries(
    entries.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(folder.file(name)))
        .digest('hex'),
    ]),
  )
}

type Refusal = { env?: Record<string, string>; under?: string[]; status?: number }

/** The sentence must have a form that people can act on, and stdout stays empty. */
async function refuses(
  folder: Folder,
  sentence: RegExp,
  { status = 1, ...options }: Refusal = {},
): Promise<void> {
  const before = stateOf(folder)
  const ended = await carillon(folder, ['serve'], options)
  assert.equal(ended.status, status, ended.stderr + ended.stdout)
  assert.match(ended.stderr, sentence)
  assert.match(ended.stderr, /^carillon: /)
  assert.equal(ended.stderr.trimEnd().split('\n').length, 1, ended.stderr)
  assert.doesNotMatch(ended.stderr, /\n\s+at |Error:|node:/)
  assert.equal(ended.stdout, '')
  assert.deepEqual(stateOf(folder), before)
}

suite('a database that cannot be used', { concurrency: 2 }, () => {
  test('the error names a file that is not a database, and the file is unchanged (R6)', async () => {
    using folder = new Folder()
    writeFileSync(folder.file('carillon.db'), 'Dear diary, '.repeat(1_000))
    await refuses(
      folder,
      /carillon\.db is not a Carillon database and was left as it is\. Name another file/,
    )
  })

  test('the error names a database that this user cannot write (R4)', async () => {
    using folder = withDatabase()
    chmodSync(folder.file('carillon.db'), 0o444)
    await refuses(
      folder,
      /carillon\.db cannot be written\. Make the file and its folder writable/,
      asOrdinaryUser(),
    )
  })
})

/** Root may write everything, so this takes that right from it; others never had it. */
function asOrdinaryUser(): { under?: string[] } {
  return process.getuid?.() === 0
    ? { under: ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] }
    : {}
}

test('one error names every invalid setting and a valid form, with exit status 2', async () => {
  using folder = new Folder()
  const { status, stdout, stderr } = await carillon(folder, ['serve'], {
    env: {
      CARILLON_PORT: 'banana',
      CARILLON_PROT: '7464',
      CARILLON_SECRET: 'too short to be one',
    },
  })
  assert.equal(status, 2)
  assert.equal(stdout, '')
  const [head, ...faults] = stderr.trimEnd().split('\n')
  assert.match(head ?? '', /^carillon: 3 settings are wrong:$/)
  for (const fault of [
    /^ {2}CARILLON_PROT is not a setting; correct or remove the name; docs\/config\.md lists all settings$/,
    /^ {2}CARILLON_PORT is "banana"; write a whole number from 0 to 65535$/,
    /^ {2}CARILLON_SECRET has a value that is not displayed here; write at least 32/,
  ])
    assert.equal(faults.filter((line) => fault.test(line)).length, 1, `${fault} in\n${stderr}`)
  assert.doesNotMatch(stderr, /too short to be one/)
  assert.deepEqual(readdirSync(folder.path), [])
})

test('the error names a port in use, and the next start still creates the first sign-in', async () => {
  using folder = new Folder()
  const other = createServer()
  const port = await listening(other)
  const { status, stderr } = await carillon(folder, ['serve'], {
    env: { CARILLON_PORT: String(port) },
  })
  other.close()
  assert.equal(status, 1)
  assert.equal(
    stderr,
    `carillon: 127.0.0.1:${port} is taken by another program. Stop that one, or set CARILLON_PORT to a free port, and start again: nothing is lost.\n`,
  )
  assert.equal(hasFirstSignIn(folder), false)
  await using running = await CarillonProcess.ready(folder)
  assert.equal(hasFirstSignIn(folder), true)
  assert.equal((await running.end('SIGTERM')).status, 0)
})

test('the error names an address that does not belong to this machine', async () => {
  using folder = new Folder()
  // TEST-NET-1 (RFC 5737): belongs to no machine.
  const env = { CARILLON_HOST: '192.0.2.1', CARILLON_INSECURE_HTTP: 'on' }
  const { status, stderr } = await carillon(folder, ['serve'], { env })
  assert.equal(status, 1)
  assert.equal(
    stderr,
    'carillon: 192.0.2.1 is not an address of this machine. Set CARILLON_HOST to one that is.\n',
  )
})

test('no empty database is created in place of a lost one (R6)', async () => {
  using folder = new Folder()
  await (await CarillonProcess.ready(folder)).end('SIGTERM')
  renameSync(folder.file('carillon.db'), folder.file('mislaid'))
  await refuses(
    folder,
    /carillon\.db is gone, but .*carillon\.secret is still there\. Restore the database/,
  )
  renameSync(folder.file('mislaid'), folder.file('carillon.db'))
  await using running = await CarillonProcess.ready(folder)
  assert.equal((await running.end('SIGTERM')).status, 0)
})

soakTest('no command takes an emptied or truncated database for a first start (R6)', async () => {
  using folder = new Folder()
  await (await CarillonProcess.ready(folder)).end('SIGTERM')
  const whole = readFileSync(folder.file('carillon.db'))
  const lost = /carillon\.db is empty, but .*carillon\.secret is still there\. Restore the database/
  for (const [size, sentence, finding] of [
    [0, lost, /Restore the database; to start with an empty one/],
    [4_096, /carillon\.db is damaged and was left as it is/, /is damaged/],
  ] as const) {
    writeFileSync(folder.file('carillon.db'), whole.subarray(0, size))
    await refuses(folder, sentence)
    const before = stateOf(folder)
    for (const args of [
      ['migrate'],
      ['user', 'list'],
      ['user', 'add', 'ann'],
      ['backup', folder.file('new')],
      ['doctor'],
    ]) {
      const { status, stdout, stderr } = await carillon(folder, args)
      assert.equal(status, 1, args.join(' '))
      assert.match(stdout + stderr, args[0] === 'doctor' ? finding : sentence, args.join(' '))
      assert.deepEqual(stateOf(folder), before, args.join(' '))
    }
  }
  writeFileSync(folder.file('carillon.db'), whole)
  await using running = await CarillonProcess.ready(folder)
  assert.equal((await running.end('SIGTERM')).status, 0)
})

test('the error names an empty secret file, and no new secret is created (R1)', async () => {
  using folder = new Folder()
  await (await CarillonProcess.ready(folder)).end('SIGTERM')
  writeFileSync(folder.file('carillon.secret'), '')
  await refuses(
    folder,
    /carillon\.secret is empty; .*Put the secret back from your copy; without a copy, remove the file/,
  )
})

test('the error names a lost secret and a wrong one, and no new secret is created (R6)', async () => {
  using folder = new Folder()
  await (await CarillonProcess.ready(folder)).end('SIGTERM')
  const kept = readFileSync(folder.file('carillon.secret'))
  writeFileSync(folder.file('carillon.secret'), 'x'.repeat(43))
  await refuses(folder, /sealed with another secret\. Set CARILLON_SECRET/)
  using moved = new Folder()
  copyFileSync(folder.file('carillon.db'), moved.file('carillon.db'))
  await refuses(
    moved,
    /carillon\.secret is gone, .* Set CARILLON_SECRET .* to the secret that these signing keys were sealed with/,
  )
  assert.equal(existsSync(moved.file('carillon.secret')), false)
  writeFileSync(moved.file('carillon.secret'), kept)
  await using running = await CarillonProcess.ready(moved)
  assert.equal((await running.end('SIGTERM')).status, 0)
})

test('the error names a database URL of an unknown engine', async () => {
  using folder = new Folder()
  for (const url of ['mysql://a/b', 'sqlite:'])
    assert.match(
      (await carillon(folder, ['serve'], { env: { CARILLON_DATABASE_URL: url } })).stderr,
      /^carillon: .*CARILLON_DATABASE_URL.*sqlite:/s,
    )
})
