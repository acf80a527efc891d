// Follows the README as a new user: clones the last commit into an empty folder, installs and starts it with the machine's own
// Node and npm, and uses the service by curl. No step may print a warning.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const usualPort = 7464
const startsWithinMs = 30_000
const stopsWithinMs = 15_000

const folder = mkdtempSync(join(tmpdir(), 'carillon-clone-'))
const clone = join(folder, 'carillon')
const cookies = join(folder, 'cookies')
const port = (await isFree(usualPort)) ? usualPort : await freePort()
const url = `http://127.0.0.1:${port}`
const env = newUserEnvironment()

try {
  step(`clone to ${clone}`)
  execFileSync('git', ['clone', '--quiet', process.cwd(), clone])

  step(`npm ci, with Node ${versionOf('node')} and npm ${versionOf('npm')}`)
  const install = spawnSync('npm', ['ci'], { cwd: clone, env, encoding: 'utf8' })
  assert.equal(install.status, 0, `npm ci failed:\n${install.stdout}${install.stderr}`)
  isQuiet('npm ci', install.stdout + install.stderr)

  step(`npm start, on port ${port}`)
  await whileServing('npm', ['start'], () => useTheService())

  step('carillon serve, by its launcher, on the same data')
  await whileServing(join(clone, 'node_modules', '.bin', 'carillon'), ['serve'], () => {
    expect(200, ['-b', cookies, `${url}/api/me`])
  })
  step('passed')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Signs in by both variants, calls the restricted route, sends, lists and reads notifications, all by curl. */
function useTheService(): void {
  const { username, password, key } = firstSignIn()
  const credentials = { username, password }

  expect(401, [`${url}/routeRestreinte`])
  expect(401, post('/login', { ...credentials, password: 'not the passphrase' }))
  expect(200, ['-c', cookies, ...post('/login', { ...credentials, variant: 'stateful' })])
  const { token } = expect(200, post('/login', { ...credentials, variant: 'stateless' }))
  const proofs = [
    ['-b', cookies],
    ['-H', `authorization: Bearer ${token}`],
  ]
  const [session = [], accessToken = []] = proofs
  for (const proof of proofs) {
    const { data } = expect(200, [...proof, `${url}/routeRestreinte`])
    assert.equal(data.username, username)
  }

  const welcome = list(session)
  const send = ['-H', `authorization: Bearer ${key}`]
  expect(201, [...send, ...post('/api/notifications', { recipients: [{ username }], title: 'Hi' })])
  expect(201, [...send, ...post('/api/notifications', { recipients: [{ username }], title: 'Hi again' })])
  for (const proof of proofs) {
    const names = ['hello', 'created', 'created']
    assert.deepEqual(eventsSince(welcome.version, proof), names, 'the stream sends every delivery')
  }
  const [last, hello] = tail(username ?? '', password ?? '')
  assert.deepEqual([last.type, hello.type], ['listed', 'hello'])
  const { items, unread, total } = list(accessToken)
  const titles = items.slice(0, 3).map(({ title }: { title: string }) => title)
  const notice = 'New sign-in from carillon'
  assert.deepEqual(titles, [notice, 'Hi again', 'Hi'], 'the newest notification comes first')
  assert.equal(last.notification.title, notice, 'the user is notified of a device that was not used before')
  assert.equal(total, welcome.total + 3)

  expect(204, [...session, '-X', 'PATCH', `${url}/api/notifications/${items[0].id}/read`])
  assert.equal(list(accessToken).unread, unread - 1, 'one read notification is one unread less')
  expect(204, [...accessToken, '-X', 'POST', `${url}/api/notifications/read-all`])
  assert.equal(list(session).unread, 0, 'nothing is unread after read-all')
}

// biome-ignore lint/suspicious/noExplicitAny: this script checks responses by assertions, not by types.
type HttpResponse = any

function list(proof: string[]): HttpResponse {
  return expect(200, [...proof, `${url}/api/notifications`]).data
}

function post(path: string, body: object): string[] {
  return ['-H', 'content-type: application/json', '--data', JSON.stringify(body), url + path]
}

/** Calls curl as the README does, and returns the JSON of the response. */
function expect(status: number, args: string[]): HttpResponse {
  const output = execFileSync('curl', ['-s', '--max-time', '10', '-w', '\n%{http_code}', ...args], { encoding: 'utf8' })
  const end = output.lastIndexOf('\n')
  const [body, actual] = [output.slice(0, end), Number(output.slice(end))]
  assert.equal(actual, status, `curl ${args.at(-1)} got ${actual}, not ${status}: ${body}`)
  return body ? JSON.parse(body) : undefined
}

/** The names of the events that arrive within a second. */
function eventsSince(version: number, proof: string[]): string[] {
  const args = ['-sN', '--max-time', '1', ...proof, `${url}/api/notifications/stream?since=${version}`]
  const { stdout } = spawnSync('curl', args, { encoding: 'utf8' })
  return [...stdout.matchAll(/^event: (.+)$/gm)].map(([, name = '']) => name)
}

/** The events that `carillon tail` prints until it is stopped. */
function tail(username: string, password: string): HttpResponse[] {
  const carillon = join(clone, 'node_modules', '.bin', 'carillon')
  const { stdout } = spawnSync(carillon, ['tail', '--user', username, '--password-stdin', '--last', '1'], {
    cwd: clone,
    env: { ...env, CARILLON_URL: url },
    input: password,
    encoding: 'utf8',
    timeout: 4_000,
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Starts a command in the clone, runs `work` when it is ready, and checks that SIGTERM ends it with status 0. */
async function whileServing(command: string, args: string[], work: () => void): Promise<void> {
  const startedAt = performance.now()
  // In a process group, so that every process of it can be ended.
  const service = spawn(command, args, { cwd: clone, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [service.stdout, service.stderr]) stream.on('data', (data) => (printed += data))
  try {
    await ready(service)
    step(`ready after ${(performance.now() - startedAt).toFixed(0)} ms`)
    work()
    service.kill('SIGTERM')
    const [status] = await once(service, 'exit', { signal: AbortSignal.timeout(stopsWithinMs) })
    assert.equal(status, 0, `SIGTERM ended it with status ${status}`)
    isQuiet(command, printed)
  } catch (error) {
    console.error(`What ${command} printed:\n${printed}`)
    throw error
  } finally {
    endGroup(service)
  }
}

async function ready(service: ChildProcess): Promise<void> {
  const givesUpAt = performance.now() + startsWithinMs
  while (performance.now() < givesUpAt) {
    assert.equal(service.exitCode, null, `it ended with status ${service.exitCode} before it was ready`)
    if (spawnSync('curl', ['-sf', '--max-time', '2', `${url}/readyz`]).status === 0) return
    await sleep(25)
  }
  assert.fail(`${url}/readyz did not respond 200 within ${startsWithinMs} ms`)
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}

/** The sign-in that the first start wrote for the operator, in lines of `name: value`. */
function firstSignIn(): Record<string, string> {
  const text = readFileSync(join(clone, 'data', 'first-sign-in.txt'), 'utf8')
  const found = Object.fromEntries([...text.matchAll(/^(username|password|key): (.+)$/gm)].map(([, ...pair]) => pair))
  assert.deepEqual(Object.keys(found), ['username', 'password', 'key'], 'data/first-sign-in.txt lacks a line')
  return found
}

function isQuiet(what: string, printed: string): void {
  const warnings = printed
    .split('\n')
    .filter((line) => /^npm (warn|error)|Warning:|deprecated|vulnerabilit/i.test(line))
  assert.deepEqual(warnings, [], `${what} printed warnings`)
}

/** Without this checkout's node_modules in the PATH, and without variables of Carillon or of an npm that runs this script. */
function newUserEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(CARILLON_|npm_(package|lifecycle)_)/.test(name))
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
  const clean: NodeJS.ProcessEnv = { ...Object.fromEntries(own), PATH: path.join(delimiter) }
  return port === usualPort ? clean : { ...clean, CARILLON_PORT: String(port) }
}

function versionOf(program: string): string {
  return execFileSync(program, ['--version'], { env, encoding: 'utf8' }).trim().replace(/^v/, '')
}

async function isFree(candidate: number): Promise<boolean> {
  const server = createServer().listen(candidate, '127.0.0.1')
  const free = await Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)])
  server.close()
  return free
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : assert.fail('no free port')
}

function step(name: string): void {
  console.log(`  ${name}`)
}
