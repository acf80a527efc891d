// The users of an application on the command line: added by external id, renamed, enabled, and imported with the hashes of their
// passwords while the service runs.
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CarillonProcess, Folder } from '../../support/processes/carillon-process.ts'
import { CommandLine } from '../../support/processes/command-line.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())
const carillon: CommandLine['run'] = (...args) => commandLine.run(...args)

const passwordHash = '$2b$04$kar19022FZikZ1QluB359u1HH/a5S0sSuf3kGyuhU3GXIF6CjAe1O'
const password = 'plum orchard gate 41'
const jsonBody = { 'content-type': 'application/json' }

async function migrated(): Promise<Folder> {
  const folder = new Folder()
  assert.equal((await carillon(folder, ['migrate'])).status, 0)
  return folder
}

function userOf(folder: Folder) {
  return async (...args: string[]) => {
    const { status, stdout, stderr } = await carillon(folder, ['user', ...args, '--json'])
    assert.equal(status, 0, stderr)
    return JSON.parse(stdout)
  }
}

test('a user without a name is added by external id, gets a name, and is disabled and enabled by either', async () => {
  using folder = await migrated()
  const user = userOf(folder)
  const profile = ['--display-name', 'Kim Park', '--locale', 'de-ch', '--email', 'kim@example.org']
  const { id, ...added } = await user('add', '--external-id', 'customer/42', ...profile)
  assert.deepEqual(added, { externalId: 'customer/42' })
  const [listed] = await user('list', '--external-id', 'customer/42')
  assert.deepEqual(
    [listed.id, listed.username, listed.displayName, listed.locale, listed.email],
    [id, null, 'Kim Park', 'de-CH', 'kim@example.org'],
  )
  assert.match(listed.createdAt, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
  const fields =
    'createdAt disabled displayName email emailVerified externalId id locale role username'
  assert.equal(Object.keys(listed).toSorted().join(' '), fields)
  assert.deepEqual(await user('rename', '--external-id', 'customer/42', 'Kim'), {
    id,
    username: 'kim',
  })
  assert.deepEqual(await user('rename', 'kim', 'kit'), { id, username: 'kit' })
  const named = { id, username: 'kit', externalId: 'customer/42' }
  assert.deepEqual(await user('disable', '--id', id), { ...named, disabled: true })
  assert.deepEqual(await user('enable', 'kit'), { ...named, disabled: false })
  assert.equal((await user('list', '--search', 'KIT')).length, 1)
  assert.deepEqual(await user('list', '--search', 'nobody'), [])
})

test('an import of 3,000 users while the service runs is a few lines of its log, which count them all (L1)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const users = Array.from({ length: 3_000 }, (_, n) => JSON.stringify({ externalId: `c${n}` }))
  writeFileSync(folder.file('users.jsonl'), users.join('\n'))
  assert.equal((await userOf(folder)('import', folder.file('users.jsonl'))).created, 3_000)
  const lines = () =>
    running.lines.filter(({ event, actor }) => event === 'user-created' && actor === 'operator')
  const counted = () => lines().reduce((sum, { count = 1 }) => sum + Number(count), 0)
  while (counted() < 3_000) await sleep(50)
  assert.equal(counted(), 3_000)
  assert.ok(lines().length < 100, String(lines().length))
  await running.end('SIGTERM')
})

test('--application names the application of an external id, and a user of another one is not found (U6)', async () => {
  using folder = await migrated()
  const user = userOf(folder)
  const external = ['--external-id', 'customer-42']
  const shop = await user('add', ...external, '--application', 'shop')
  const none = await user('add', ...external)
  assert.notEqual(shop.id, none.id)
  writeFileSync(
    folder.file('users.jsonl'),
    '{"externalId":"customer-42","displayName":"Kim"}\n{"externalId":"43"}\n',
  )
  const imported = await user('import', folder.file('users.jsonl'), '--application', 'shop')
  assert.deepEqual(imported, { imported: 2, created: 1, updated: 1 })
  const listed = await user('list', '--application', 'shop')
  assert.deepEqual(
    listed.map((one: Record<string, unknown>) => [
      one.externalId,
      one.displayName,
      one.application,
    ]),
    [
      ['customer-42', 'Kim', 'shop'],
      ['43', null, 'shop'],
    ],
  )
  assert.equal((await user('list')).length, 3)
  assert.equal((await user('rename', ...external, '--application', 'shop', 'kim')).id, shop.id)
  assert.equal((await user('disable', ...external)).id, none.id)
  const other = await carillon(folder, [
    'user',
    'delete',
    '--id',
    shop.id,
    '--application',
    'club',
    '--yes',
  ])
  assert.deepEqual([other.status, other.stderr], [1, 'carillon: There is no user with this id\n'])
  writeFileSync(folder.file('users.jsonl'), '{"username":"kim","displayName":"Not Kim"}\n')
  const foreign = await carillon(folder, [
    'user',
    'import',
    folder.file('users.jsonl'),
    '--application',
    'club',
  ])
  assert.deepEqual(
    [foreign.status, foreign.stderr.split('\n')[0]],
    [1, 'line 1: username: is taken'],
  )
  assert.equal((await user('delete', ...external, '--application', 'shop', '--yes')).id, shop.id)
})

test('a user is deleted only with --yes if there is no terminal to ask on, and is gone afterwards', async () => {
  using folder = await migrated()
  const user = userOf(folder)
  const { id } = await user('add', '--external-id', 'customer-42')
  const refused = await carillon(folder, ['user', 'delete', '--external-id', 'customer-42'])
  assert.equal(refused.status, 2)
  assert.match(refused.stderr, /^carillon: This cannot be undone\. Add --yes/)
  assert.equal((await user('list')).length, 1)
  const deleted = { id, username: null, externalId: 'customer-42', deleted: true }
  assert.deepEqual(await user('delete', '--external-id', 'customer-42', '--yes'), deleted)
  assert.deepEqual(await user('list'), [])
  const again = await carillon(folder, ['user', 'delete', '--id', id, '--yes'])
  assert.deepEqual([again.status, again.stderr], [1, 'carillon: There is no user with this id\n'])
})

test('user sign-out ends the sign-ins of a user by name or external id, and of all users, beside the running service (S22)', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const user = userOf(folder)
  await carillon(folder, ['user', 'add', 'ann', '--password-stdin'], { stdin: password })
  await user('add', '--external-id', 'customer-42')
  const signIn = async (variant: string) => {
    const body = JSON.stringify({ username: 'ann', password, variant })
    const response = await fetch(`${running.url}/login`, {
      method: 'POST',
      headers: jsonBody,
      body,
    })
    const { token } = (await response.json()) as { token?: string }
    const [cookie = ''] = response.headers.getSetCookie()
    return token === undefined
      ? { cookie: cookie.split(';')[0] ?? '' }
      : { authorization: `Bearer ${token}` }
  }
  const isRefused = async (proof: Record<string, string>) => {
    while ((await fetch(`${running.url}/api/me`, { headers: proof })).status !== 401)
      await sleep(20)
  }
  const first = [await signIn('stateful'), await signIn('stateless')]
  assert.equal((await user('sign-out', 'ann')).signedOut, true)
  assert.equal((await user('sign-out', '--external-id', 'customer-42')).externalId, 'customer-42')
  await Promise.all(first.map(isRefused))
  const session = await signIn('stateful')
  const token = await signIn('stateless')
  assert.equal((await carillon(folder, ['user', 'sign-out', '--all'])).status, 2)
  const { sessions, except } = await user('sign-out', '--all', '--except', 'ann', '--yes')
  assert.deepEqual([sessions, except === null], [0, false])
  await isRefused(token)
  assert.equal((await fetch(`${running.url}/api/me`, { headers: session })).status, 200)
  assert.equal((await user('sign-out', '--all', '--yes')).sessions, 1)
  await isRefused(session)
  await running.end('SIGTERM')
})

test('the data of a user are lines on stdout, or in a new file that only its owner can read', async () => {
  using folder = await migrated()
  const user = userOf(folder)
  const { id } = await user('add', '--external-id', 'customer-42', '--display-name', 'Kim Park')
  const { status, stdout, stderr } = await carillon(folder, [
    'user',
    'export',
    '--external-id',
    'customer-42',
  ])
  assert.deepEqual([status, stderr], [0, ''])
  const [first, ...others] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([first.type, first.id, first.displayName], ['user', id, 'Kim Park'])
  assert.deepEqual(
    others.map(({ type, event, actor }) => [type, event, actor]),
    [['activity', 'user-created', 'operator']],
  )
  const out = folder.file('kim.jsonl')
  const named = { id, username: null, externalId: 'customer-42' }
  assert.deepEqual(await user('export', '--id', id, '--out', out), { ...named, file: out })
  assert.equal(readFileSync(out, 'utf8'), stdout)
  assert.equal(statSync(out).mode & 0o777, 0o600)
  const again = await carillon(folder, ['user', 'export', '--id', id, '--out', out])
  assert.deepEqual(
    [again.status, again.stderr],
    [2, `carillon: ${out} cannot be written: EEXIST\n`],
  )
  assert.equal(readFileSync(out, 'utf8'), stdout, 'the file that was there is unchanged')
  const nobody = await carillon(folder, ['user', 'export', 'nobody'])
  assert.deepEqual([nobody.status, nobody.stderr], [1, 'carillon: There is no user nobody\n'])
})

test('a profile or an id that is not acceptable ends with status 1 and every reason, and adds no user', async () => {
  using folder = await migrated()
  const { status, stdout, stderr } = await carillon(folder, [
    'user',
    'add',
    '--external-id',
    '..',
    '--locale',
    'x_y',
  ])
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(
    stderr,
    /^carillon: The locale is not acceptable: must be a language tag.*external id is not acceptable/,
  )
  assert.deepEqual(await userOf(folder)('list'), [])
})

suite('import', { concurrency: 1 }, () => {
  test('every fault is listed with its line, and nothing is imported', async () => {
    using folder = await migrated()
    const user = userOf(folder)
    await user('add', 'taken')
    const lines = [
      '{"externalId":"1","username":"ann"}',
      '',
      'not json',
      '{"externalId":"2","locale":"x_y","passwordHash":"{SHA}x","username":"ben"}',
      '{"externalId":"3","username":"Taken"}',
      '{"externalId":"1","colour":"red"}',
      '{"displayName":"no id"}',
      `{"externalId":"4","username":"cy","passwordHash":"$2b$31$${'a'.repeat(53)}"}`,
    ]
    writeFileSync(folder.file('users.jsonl'), lines.join('\r\n'))
    const { status, stdout, stderr } = await carillon(folder, [
      'user',
      'import',
      folder.file('users.jsonl'),
    ])
    assert.deepEqual([status, stdout], [1, ''])
    const expected = [
      /^line 3: must be a JSON object$/,
      /^line 4: locale: must be a language tag/,
      /^line 4: passwordHash: has an unknown format; known are bcrypt/,
      /^line 5: username: is taken$/,
      /^line 6: colour: is not a known field$/,
      /^line 6: externalId: is the same as in line 1$/,
      /^line 7: externalId: is missing/,
      /^line 8: passwordHash: costs too much to verify: the bcrypt cost must be at most 13$/,
      /^carillon: Nothing was imported: 6 of 7 lines have faults$/,
    ]
    const printed = stderr.trimEnd().split('\n')
    assert.equal(printed.length, expected.length, stderr)
    for (const [n, line] of expected.entries()) assert.match(printed[n] ?? '', line)
    assert.equal((await user('list')).length, 1)
    const json = await carillon(folder, ['user', 'import', '-', '--json'], {
      stdin: '{"externalId":".."}\n[]',
    })
    assert.equal(json.status, 1)
    assert.deepEqual(
      JSON.parse(json.stdout).faults.map(({ line, field }: Record<string, unknown>) => [
        line,
        field,
      ]),
      [
        [1, 'externalId'],
        [2, ''],
      ],
    )
  })

  test('a missing file is status 2, an empty one status 1', async () => {
    using folder = await migrated()
    const missing = await carillon(folder, ['user', 'import', 'nowhere.jsonl'])
    assert.deepEqual(
      [missing.status, missing.stderr],
      [2, 'carillon: nowhere.jsonl cannot be read: ENOENT\n'],
    )
    const empty = await carillon(folder, ['user', 'import', '-'], { stdin: '\n' })
    assert.deepEqual([empty.status, empty.stderr], [1, 'carillon: stdin has no users\n'])
  })

  test('1,000 users are imported while the service runs, sign in with their old passwords, and the same file changes nothing', async () => {
    using folder = new Folder()
    await using running = await CarillonProcess.ready(folder)
    const users = Array.from({ length: 1000 }, (_, n) => ({
      externalId: `customer-${n}`,
      ...(n % 2 === 0 && { username: `customer.${n}`, passwordHash }),
      displayName: `Customer ${n}`,
      disabled: n === 2,
    }))
    writeFileSync(folder.file('users.jsonl'), users.map((one) => JSON.stringify(one)).join('\n'))
    const user = userOf(folder)
    const file = folder.file('users.jsonl')
    assert.deepEqual(await user('import', file), { imported: 1000, created: 1000, updated: 0 })
    const login = async (username: string) => {
      const body = JSON.stringify({ username, password })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${running.url}/login`, { method: 'POST', headers, body })).status
    }
    assert.deepEqual(
      [await login('customer.0'), await login('customer.998'), await login('customer.2')],
      [200, 200, 401],
    )
    const before = await user('list')
    assert.deepEqual(await user('import', file), { imported: 1000, created: 0, updated: 1000 })
    assert.deepEqual(await user('list'), before)
    assert.equal(await login('customer.0'), 200)
  })
})

test('the role operator is given and taken by a command, the last operator keeps it, and doctor names the command', async () => {
  using folder = await migrated()
  const user = userOf(folder)
  const tried = async (...args: string[]) => (await carillon(folder, ['user', ...args])).stderr
  const advice = async () =>
    (await carillon(folder, ['doctor'])).stdout.includes('carillon user role NAME operator')
  await user('add', 'ann')
  await user('add', 'ben')
  const { id } = await user('add', '--external-id', 'customer-42')
  assert.equal(await advice(), true)
  assert.equal((await user('role', 'ann', 'operator')).role, 'operator')
  const [listed] = await user('list', '--search', 'ann')
  assert.equal(listed.role, 'operator')
  assert.equal(await advice(), false)
  for (const args of [
    ['role', 'ann', 'none'],
    ['disable', 'ann'],
    ['delete', 'ann', '--yes'],
  ])
    assert.match(await tried(...args), /This is the last operator/, args.join(' '))
  assert.match(await tried('role', '--id', id, 'operator'), /An operator signs in with a username/)
  assert.match(await tried('role', 'ann', 'admin'), /The role is operator or none, not "admin"/)
  await user('role', 'ben', 'operator')
  assert.equal((await user('role', 'ann', 'none')).role, 'none')
})
