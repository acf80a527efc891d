// The first start in an empty folder creates what, readable by whom, how often (R4)?
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { freePort } from '../../support/network/free-port.ts'
import { newDatabase } from '../../support/postgres.ts'
import {
  CarillonProcess,
  Folder,
  firstSignInOf,
  firstSignInText,
  hasFirstSignIn,
} from '../../support/processes/carillon-process.ts'
import { idIn, UserOfService } from '../../support/processes/user-of-service.ts'
import { isSoak, soakTest } from '../../support/soak.ts'

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function inStore(folder: Folder) {
  const file = new SqliteBehind(folder.path)
  const users = (await file.rows('select username from user')).map(({ username }) => username)
  const keys = (await file.rows('select name, scopes from producer')).map(
    ({ name, scopes }) => `${name}: ${scopes}`,
  )
  const notifications = await file.titles()
  await file.close()
  return { users, keys, notifications }
}

const made = {
  users: ['operator'],
  keys: ['first start: send'],
  notifications: ['Welcome to Carillon'],
}

test('a first start without a terminal writes the sign-in to a file that only its owner can read, and the log names the file', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const { username, password, key } = firstSignInOf(folder)
  assert.equal(username, 'operator')
  assert.match(password, /^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/)
  assert.match(key, /^crl_[0-9a-f]{16}_[\w-]{43}$/)
  assert.equal(mode(folder.file('first-sign-in.txt')), '600')
  assert.match(firstSignInText(folder), /^If this is a file, save both elsewhere and delete it\.$/m)
  assert.equal(mode(folder.file('carillon.db')), '600')
  assert.equal(mode(folder.file('carillon.secret')), '600')
  assert.deepEqual(await inStore(folder), made)
  assert.ok(running.lines.some(({ file }) => file === folder.file('first-sign-in.txt')))
})

test('requests for /readyz write no line of the log while the service starts', async () => {
  using folder = new Folder()
  const port = await freePort()
  await using running = new CarillonProcess(folder, { env: { CARILLON_PORT: String(port) } })
  const statuses = new Set<number>()
  while (!statuses.has(200)) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (response !== undefined) statuses.add(response.status)
    else await sleep(5)
  }
  await running.isReady()
  const warnings = running.lines.filter(({ level }) => level >= 40)
  assert.deepEqual([warnings, running.stderr], [[], ''])
})

test('the first sign-in names the public URL as it is set, and the log also the address on which the service listens; without a setting, localhost, where browsers have passkeys', async () => {
  using folder = new Folder()
  const port = await freePort()
  const set = `http://127.0.0.1:${port}/bell/`
  const env = { CARILLON_PORT: String(port), CARILLON_PUBLIC_URL: set }
  await using running = await CarillonProcess.ready(folder, { env })
  const started = running.lines.find(({ event }) => event === 'started')
  assert.equal(started?.listensOn, `http://127.0.0.1:${port}`)
  assert.equal(`${started?.url}/`, set)
  const text = firstSignInText(folder)
  assert.ok(text.startsWith(`Open ${set} in a browser`), text)
  assert.ok(text.includes(`: ${set}docs\n`), text)
  using other = new Folder()
  await using _ = await CarillonProcess.ready(other)
  assert.match(firstSignInText(other), /^Open http:\/\/localhost:\d+\/ in a browser/)
})

test('variables that no setting has are one line of the log, with their names and not their values', async () => {
  using folder = new Folder()
  const env = { CARILLON_TAG: 'hunter2', CARILLON_SERVICE_HOST: '10.0.0.1' }
  await using running = await CarillonProcess.ready(folder, { env })
  const warnings = running.lines.filter(({ level }) => level >= 40)
  assert.deepEqual(
    warnings.map(({ level, event }) => [level, event]),
    [[40, 'settings-ignored']],
  )
  assert.match(
    warnings[0]?.msg ?? '',
    /^CARILLON_TAG, CARILLON_SERVICE_HOST: no setting has this name/,
  )
  assert.doesNotMatch(running.stdout, /hunter2|10\.0\.0\.1/)
})

soakTest('on PostgreSQL the first sign-in is written to the folder data, too', async () => {
  using folder = new Folder()
  const database = await newDatabase()
  const env = { CARILLON_DATABASE_URL: database.url, CARILLON_SECRET: 'x'.repeat(40) }
  {
    await using running = await CarillonProcess.ready(folder, { env })
    const file = folder.file('data/first-sign-in.txt')
    assert.equal(running.lines.find(({ event }) => event === 'first-start')?.file, file)
    assert.deepEqual([mode(file), mode(folder.file('data'))], ['600', '700'])
    assert.deepEqual(readdirSync(folder.path), ['data'])
  }
  await database.drop()
})

test('a second start on the same folder creates no sign-in and prints none', async () => {
  using folder = new Folder()
  await (await CarillonProcess.ready(folder)).end('SIGTERM')
  const text = firstSignInText(folder)
  await using again = await CarillonProcess.ready(folder)
  assert.deepEqual(await inStore(folder), made)
  assert.equal(firstSignInText(folder), text)
  assert.ok(!again.stdout.includes('first start'))
  const user = new UserOfService(again.url, firstSignInOf(folder))
  assert.ok((await user.signIn()).cookie)
  user.close()
})

test('CARILLON_FIRST_START=off creates no user, no key and no file', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, {
    env: { CARILLON_FIRST_START: 'off' },
  })
  assert.deepEqual(await inStore(folder), { users: [], keys: [], notifications: [] })
  assert.equal(hasFirstSignIn(folder), false)
  assert.ok(!running.stdout.includes('first'))
})

// Not every machine has a pseudo-terminal, so a preloaded module makes the process believe that its output is one.
const asTerminal = { nodeOptions: ['--import', 'data:text/javascript,process.stdout.isTTY=true'] }

test('on a terminal the first sign-in is printed once, and written to no file', async () => {
  using folder = new Folder()
  await using running = new CarillonProcess(folder, asTerminal)
  const session = await untilPrinted(running, 'Carillon is listening')
  const lines = session.trimEnd().split('\n')
  assert.ok(lines.length <= 12, session)
  assert.match(lines[0] ?? '', /^Open http:\/\/localhost:\d+\/ in a browser/)
  assert.match(lines.at(-1) ?? '', /http:\/\/127\.0\.0\.1:\d+/)
  assert.doesNotMatch(session, /CARILLON_|HTTP/)
  assert.equal(session.match(/^password: [a-z2-9]{5}(-[a-z2-9]{5}){3}$/gm)?.length, 1)
  assert.equal(session.match(/^key: crl_/gm)?.length, 1)
  assert.equal(hasFirstSignIn(folder), false)
  assert.deepEqual(await inStore(folder), made)
  await running.end('SIGTERM')

  await using again = new CarillonProcess(folder, asTerminal)
  await untilPrinted(again, 'Carillon is listening')
  await again.end('SIGTERM')
  assert.doesNotMatch(again.stdout, /password:|crl_/)
})

soakTest(
  'with --json a terminal gets JSON lines too, and the sign-in is written to the file',
  async () => {
    using folder = new Folder()
    await using running = await CarillonProcess.ready(folder, {
      ...asTerminal,
      args: ['serve', '--json'],
    })
    const { password } = firstSignInOf(folder)
    assert.ok(!running.stdout.includes(password))
    for (const line of running.stdout.trim().split('\n')) JSON.parse(line)
  },
)

test('with --json one line on stdout is the address of a free port, at whatever level the log is', async () => {
  using folder = new Folder()
  const env = { CARILLON_LOG: 'silent' }
  await using running = new CarillonProcess(folder, {
    args: ['serve', '--port', '0', '--json'],
    env,
  })
  const [line = '', ...more] = (await untilPrinted(running, '\n')).split('\n')
  const { listensOn, url } = JSON.parse(line)
  assert.match(listensOn, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.deepEqual([url, more], [listensOn, ['']])
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
})

async function untilPrinted(running: CarillonProcess, text: string): Promise<string> {
  const gone = running.ended.then(() => true)
  while (!running.stdout.includes(text))
    assert.ok(!(await Promise.race([gone, sleep(5, false)])), running.stderr)
  return running.stdout
}

test('two processes that start at once on a new folder both listen, and the one sign-in works on both', async () => {
  for (let round = 0; round < (isSoak ? 4 : 1); round++) {
    using folder = new Folder()
    await using one = new CarillonProcess(folder)
    await using two = new CarillonProcess(folder)
    await Promise.all([one.isReady(), two.isReady()])
    const signIn = firstSignInOf(folder)
    assert.deepEqual(await inStore(folder), made)
    const shown = [one, two].filter(({ stdout }) => stdout.includes('first-sign-in.txt'))
    assert.equal(shown.length, 1)
    assert.deepEqual(
      readdirSync(folder.path).filter((name) => /secret/.test(name)),
      ['carillon.secret'],
    )

    const here = new UserOfService(one.url, signIn)
    const there = new UserOfService(two.url, signIn)
    const cookie = await here.signIn()
    const id = idIn(await there.deliver('Through the other'))
    assert.equal((await there.request({ path: '/api/me', headers: cookie })).status, 200)
    assert.equal(
      (await here.request({ path: `/api/notifications/${id}`, headers: cookie })).status,
      200,
    )
    here.close()
    there.close()
  }
})

soakTest(
  'an older first-sign-in.txt that other users can read is replaced by one that they cannot read',
  async () => {
    using folder = new Folder()
    writeFileSync(folder.file('first-sign-in.txt'), 'something older', { mode: 0o644 })
    await using running = await CarillonProcess.ready(folder)
    assert.match(firstSignInText(folder), new RegExp(running.url))
    assert.equal(mode(folder.file('first-sign-in.txt')), '600')
  },
)

test('if the file cannot be written the service starts anyway, and the log says how to get another sign-in', async () => {
  using folder = new Folder()
  mkdirSync(folder.file('first-sign-in.txt'))
  await using running = await CarillonProcess.ready(folder)
  const user = new UserOfService(running.url, { username: '', password: '', key: '' })
  assert.equal((await user.request({ path: '/readyz' })).status, 200)
  user.close()
  assert.match(running.stdout, /carillon user password operator/)
  assert.equal((await running.end('SIGTERM')).status, 0)
})
