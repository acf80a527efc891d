// The command line as a user types it: help, JSON, exit status 0 for success, 1 for failure, 2 for
// wrong use, errors on stderr, and no secret among the arguments.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Folder, carillon as ownProcess } from '../../support/processes/carillon-process.ts'
import { CommandLine, type Run } from '../../support/processes/command-line.ts'

const launcher = fileURLToPath(new URL('../../../server/bin/launch.js', import.meta.url))
const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())
const carillon: CommandLine['run'] = (...args) => commandLine.run(...args)

const commands = [
  'serve',
  'user add',
  'user list',
  'user import',
  'user export',
  'user rename',
  'user disable',
  'user enable',
  'user delete',
  'user sign-out',
  'user password',
  'key add',
  'key list',
  'key revoke',
  'keys list',
  'keys rotate',
  'keys drop',
  'secret rotate',
  'key rotate',
  'audit',
  'explain',
  'retention',
  'stats',
  'send',
  'withdraw',
  'maintenance',
  'tail',
  'migrate',
  'doctor',
]
const words = (command: string) => command.split(' ')

function isDone({ status, stderr, stdout }: Run): string {
  assert.equal(stderr, '')
  assert.equal(status, 0)
  return stdout
}

function isRefused({ status, stderr, stdout }: Run, expected: 1 | 2): string {
  assert.equal(status, expected, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, expected === 1 ? /^carillon: \S/ : /^(carillon|error): \S/)
  assert.doesNotMatch(stderr, /\n\s+at |node:|Error: /)
  return stderr
}

async function migrated(): Promise<Folder> {
  const folder = new Folder()
  isDone(await carillon(folder, ['migrate']))
  return folder
}

suite('help', () => {
  const settings = readFileSync(new URL('../../../docs/config.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `CARILLON_'))
    .map((line) => {
      const [name = '', , , meaning = '', users = ''] = line.slice(2, -2).split(' | ')
      return { name: name.replaceAll('`', ''), meaning, users }
    })

  for (const command of commands)
    test(`carillon ${command} --help shows what it takes, and exactly the settings that the page gives it`, async () => {
      using folder = new Folder()
      const text = isDone(await carillon(folder, [...words(command), '--help'])).replaceAll(
        /\s+/g,
        ' ',
      )
      assert.match(text, new RegExp(`^Usage: carillon ${command} \\[options\\]`))
      assert.match(text, /--json one JSON value on stdout/)
      assert.ok(settings.length > 10)
      for (const { name, meaning, users } of settings) {
        const isUsed = users === 'all' || users.includes(`\`${words(command)[0]}\``)
        const isShown = text.includes(`(${name})`) || text.includes(`(${name};`)
        assert.equal(
          isShown,
          isUsed && !meaning.includes('Secret: never displayed'),
          `${name} in the help of ${command}`,
        )
      }
      assert.deepEqual(readdirSync(folder.path), [])
    })

  test('carillon --help lists every command; carillon without a command prints the same and exits with status 2', async () => {
    using folder = new Folder()
    const help = isDone(await ownProcess(folder, ['--help']))
    for (const command of commands)
      assert.match(help, new RegExp(`^ {2}${words(command)[0]}\\b`, 'm'))
    const alone = await ownProcess(folder, [])
    assert.deepEqual([alone.status, alone.stdout, alone.stderr], [2, '', help])
    const { version } = JSON.parse(
      readFileSync(new URL('../../../server/package.json', import.meta.url), 'utf8'),
    )
    const printed = isDone(await ownProcess(folder, ['--version']))
    assert.match(printed, /^\S+ \((?:[\da-f]{12}|unknown)\)\n$/)
    assert.ok(printed.startsWith(`${version} (`), printed)
  })
})

suite('wrong use', () => {
  const wrong: [string, string[], RegExp][] = [
    ['an unknown command', ['nope'], /unknown command 'nope'/],
    ['no name', ['user', 'add'], /Give the user a name, or an --external-id/],
    [
      'a user that is named twice',
      ['user', 'enable', 'ann', '--external-id', '42'],
      /Name the user once/,
    ],
    ['a user and all users', ['user', 'sign-out', 'ann', '--all'], /Name a user, or set --all/],
    [
      'all users of one application',
      ['user', 'sign-out', '--all', '--application', 'shop'],
      /of every application/,
    ],
    [
      'an exception without all',
      ['user', 'sign-out', 'ann', '--except', 'ben'],
      /--except is for --all/,
    ],
    [
      'a rate that is not one',
      ['key', 'add', 'shop', '--rate', '600'],
      /--rate is "600"; write 1 to 1000000 requests/,
    ],
    ['no new name', ['user', 'rename', 'ann'], /Give the username and the new one/],
    ['a name too many', ['user', 'add', 'ann', 'ben'], /too many arguments/],
    [
      'a password among the arguments',
      ['user', 'add', 'ann', '--password', 'hunter2'],
      /unknown option '--password'/,
    ],
    [
      'a scope that there is not',
      ['key', 'add', 'shop', '--scope', 'send,fly'],
      /--scope is "send,fly"; write send, users/,
    ],
    [
      'no name of an application',
      ['key', 'add', 'shop', '--application', 'Shop'],
      /1 to 64 of the characters a-z/,
    ],
    [
      'a duration in another unit',
      ['key', 'add', 'shop', '--expires', '1y'],
      /--expires is "1y"; write a whole number and its unit/,
    ],
    ['no user of a notification', ['explain', '019a9b3e'], /Name the user once/],
    [
      'two users of a notification',
      ['explain', 'ann', 'ben', '019a9b3e'],
      /one username and the id of one/,
    ],
    ['no title', ['send', '--to', 'ann'], /Give a --title/],
    [
      'an issuer without an external id',
      ['send', '--to', 'ann', '--title', 'Hi', '--issuer', 'x'],
      /needs --external-id/,
    ],
    ['no recipient', ['send', '--title', 'Hi'], /--to, --user-id or --external-id/],
    [
      'a key to update beside a key',
      ['send', '--update', 'k', '--key', 'x'],
      /'--update <key>' cannot be used with option '--key/,
    ],
    [
      'a key to resolve with a title',
      ['send', '--resolve', 'k', '--title', 'T'],
      /cannot be used with option '--title/,
    ],
    [
      'a key to withdraw with data',
      ['send', '--withdraw', 'k', '--data', '{}'],
      /cannot be used with option '--data/,
    ],
    [
      'a key to resolve and a recipient',
      ['send', '--resolve', 'k', '--to', 'ann'],
      /cannot be used with option '--to/,
    ],
    ['no producer key', ['send', '--to', 'ann', '--title', 'Hi'], /Set CARILLON_PRODUCER_KEY/],
    [
      'a password in a URL among the arguments',
      ['user', 'list', '--database-url', 'postgres://ann:hunter2@127.0.0.1/x'],
      /set CARILLON_DATABASE_URL in the environment, or CARILLON_DATABASE_URL_FILE/,
    ],
    ['a port that is none', ['serve', '--port', 'banana'], /CARILLON_PORT is "banana"/],
  ]
  for (const [name, args, reason] of wrong)
    test(`${name} is status 2, with the reason on stderr, and nothing is made`, async () => {
      using folder = new Folder()
      const stderr = isRefused(await carillon(folder, args), 2)
      assert.match(stderr, reason)
      assert.doesNotMatch(stderr, /hunter2|crl_x/)
      assert.deepEqual(readdirSync(folder.path), [])
    })

  test('a name of no setting is one line on stderr, misspelt or not, and stops no command but serve', async () => {
    using folder = new Folder()
    const env = { CARILLON_DATABSE_URL: 'sqlite:x.db', CARILLON_TAG: '7' }
    const { status, stderr } = await carillon(folder, ['migrate'], { env })
    assert.deepEqual([status, stderr.split('\n').length], [0, 2])
    assert.match(stderr, /^carillon: CARILLON_DATABSE_URL, CARILLON_TAG: no setting has this name/)
    const refused = isRefused(await carillon(folder, ['serve'], { env }), 2)
    assert.match(refused, /CARILLON_DATABSE_URL is not a setting; correct or remove the name/)
    assert.doesNotMatch(refused, /CARILLON_TAG/)
  })
})

test('a program that closes the pipe, as head does, causes no error', async () => {
  const command = spawn(process.execPath, [launcher, 'user', '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  command.stdout.destroy()
  const [stderr, [status]] = await Promise.all([textOf(command.stderr), once(command, 'close')])
  assert.deepEqual([status, stderr], [0, ''])
})

test('carillon migrate creates the database once and prints the applied migrations, as text or JSON', async () => {
  using folder = new Folder()
  assert.match(isDone(await ownProcess(folder, ['migrate'])), /^(Applied \d{4}-[\w-]+\n)+$/)
  assert.equal(isDone(await carillon(folder, ['migrate'])), 'The store is up to date\n')
  assert.equal(isDone(await carillon(folder, ['migrate', '--json'])), '{"applied":[]}\n')
  using another = new Folder()
  const { applied } = JSON.parse(isDone(await carillon(another, ['migrate', '--json'])))
  assert.match(applied[0], /^0001-/)
})

test('a command on a missing database exits with status 1, says how to create one, and creates none', async () => {
  using folder = new Folder()
  for (const args of [
    ['user', 'list'],
    ['key', 'add', 'shop'],
  ]) {
    assert.match(
      isRefused(await carillon(folder, args), 1),
      /There is no database .*carillon\.db\. .*carillon migrate/,
    )
    assert.deepEqual(readdirSync(folder.path), [])
  }
})

const passphrase = 'plum orchard gate 41'

test('carillon user adds, lists and disables a user and sets a password, with output as text or JSON', async () => {
  using folder = await migrated()
  const user = (args: string[], stdin = '') => carillon(folder, ['user', ...args], { stdin })
  const json = async (args: string[], stdin = '') =>
    JSON.parse(isDone(await user([...args, '--json'], stdin)))
  assert.equal(
    isDone(await user(['list'])),
    'There are no such users. Add one with: carillon user add NAME\n',
  )
  assert.deepEqual(await json(['list']), [])

  const added = isDone(await user(['add', 'Ann']))
  assert.match(
    added,
    /^Added ann \([\da-f-]{36}\)\npassword: [a-z2-9]{5}(-[a-z2-9]{5}){3}\nIt is displayed once, and works for 7 days: .*\.\n$/,
  )
  const ben = await json(['add', 'ben'])
  assert.deepEqual(Object.keys(ben), ['id', 'username', 'password'])
  assert.notEqual(ben.password, /password: (.+)/.exec(added)?.[1])
  assert.deepEqual(Object.keys(await json(['add', 'cy', '--password-stdin'], `${passphrase}\n`)), [
    'id',
    'username',
  ])

  const [ann] = await json(['list'])
  assert.equal(ann.username, 'ann')
  assert.doesNotMatch(JSON.stringify(await json(['list'])), /argon2|password/i)
  const [head, ...rows] = isDone(await user(['list']))
    .trimEnd()
    .split('\n')
  assert.match(head ?? '', /^username +external id +application +role +id +created +disabled$/)
  assert.deepEqual(
    rows.map((row) => row.split(/ +/)[0]),
    ['ann', 'ben', 'cy'],
  )

  assert.equal(
    isDone(await user(['disable', 'ann'])),
    'Disabled ann; every session and token has ended\n',
  )
  assert.match(isDone(await user(['list'])), /^ann .* \d{4}-\d\d-\d\d$/m)
  assert.deepEqual(await json(['disable', 'ann']), { id: ann.id, username: 'ann', disabled: true })
  assert.match(
    isDone(await user(['password', 'ann'])),
    /^Set the password of ann.*\npassword: .*\nIt is displayed once, and works for 7 days: .*\.\n$/,
  )
  assert.deepEqual(await json(['password', 'ann', '--password-stdin'], passphrase), {
    username: 'ann',
  })
})

test('carillon user exits with status 1 and the reason if it cannot do the work, and never prints a password', async () => {
  using folder = await migrated()
  const user = (args: string[], stdin = '') => carillon(folder, ['user', ...args], { stdin })
  isDone(await user(['add', 'ann']))
  const refused: [string[], string, RegExp][] = [
    [['add', 'ANN', '--json'], '', /The username ann is taken/],
    [['add', 'ben', '--password-stdin'], 'too short', /at least 15 characters/],
    [['password', 'ann', '--password-stdin'], 'annannannannannann', /password/],
    [['password', 'nobody'], '', /There is no user nobody/],
    [['disable', 'nobody'], '', /There is no user nobody/],
  ]
  for (const [args, stdin, reason] of refused) {
    const stderr = isRefused(await user(args, stdin), 1)
    assert.match(stderr, reason)
    if (stdin !== '') assert.ok(!stderr.includes(stdin), stderr)
  }
  const [listed, ...others] = JSON.parse(isDone(await user(['list', '--json'])))
  assert.deepEqual([listed.emailVerified, others.length], [false, 0])
})

test('carillon key shows a new key once, lists keys without their secrets, and revokes a key', async () => {
  using folder = await migrated()
  const key = (...args: string[]) => carillon(folder, ['key', ...args])
  assert.equal(
    isDone(await key('list')),
    'There are no keys yet. Add one with: carillon key add NAME\n',
  )
  assert.deepEqual(JSON.parse(isDone(await key('list', '--json'))), [])

  const shown = isDone(await key('add', 'shop'))
  assert.match(
    shown,
    /^Added the key [\da-f]{16} for shop \(send; expires -\)\nkey: crl_[\da-f]{16}_[\w-]{43}\n/,
  )
  const limited = isDone(await key('add', 'crm', '--scope', 'users,send', '--creates-users', 'off'))
  assert.match(
    limited,
    /^Added the key [\da-f]{16} for crm \(users, send; creates no users; expires -\)\n/,
  )
  const secret = /key: crl_[\da-f]{16}_(.+)/.exec(shown)?.[1] ?? ''
  const made = JSON.parse(
    isDone(await key('add', 'till', '--scope', 'users,send', '--application', 'shop-2', '--json')),
  )
  assert.deepEqual(Object.keys(made), [
    'id',
    'name',
    'application',
    'scopes',
    'expiresAt',
    'rate',
    'key',
  ])

  const text = isDone(await key('list'))
  const lines = [
    /^id .* scopes +creates users +rate +created/,
    / crm .* users,send +off /,
    / till .* users,send +on /,
  ]
  for (const line of lines) assert.match(text, line)
  for (const list of [text, isDone(await key('list', '--json'))]) {
    assert.match(list, /shop/)
    assert.match(list, /till/)
    assert.match(list, /shop-2/)
    assert.ok(!list.includes(secret) && !list.includes(made.key) && !/hash/i.test(list))
  }
  assert.equal(isDone(await key('revoke', made.id)), `Revoked ${made.id}\n`)
  assert.deepEqual(JSON.parse(isDone(await key('revoke', made.id, '--json'))), {
    id: made.id,
    revoked: true,
  })
  const listed = JSON.parse(isDone(await key('list', '--json')))
  assert.deepEqual(
    listed.map(({ revokedAt }: { revokedAt: unknown }) => revokedAt === null),
    [true, true, false],
  )
  assert.match(isRefused(await key('revoke', 'nope'), 1), /There is no key nope/)
})
