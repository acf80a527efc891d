// Does a start run the bundle of tools/bundle.js, or the sources? The test changes files in a copy
// of server/.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../../tools/bundle.js'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const reporter = `
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context) } })`
const preload = ['--import', `data:text/javascript,${encodeURIComponent(reporter)}`]

const copy = new Folder()
after(() => copy[Symbol.dispose]())
const server = copy.file('server')
const launcher = join(server, 'bin', 'launch.js')
const generated = ['node_modules', 'bundle', '.compile-cache']
const isSource = (path: string) => !generated.includes(basename(path))

/** The service has its demonstration beside it. */
function copySources(to: string): void {
  for (const name of ['server', 'demonstration'])
    cpSync(join(root, name), join(to, name), { recursive: true, filter: isSource })
}

copySources(copy.path)
symlinkSync(join(root, 'node_modules'), copy.file('node_modules'))
await bundle(join(server, 'bundle'))

function loaded(): string[] {
  const { stdout, stderr } = spawnSync(process.execPath, [...preload, launcher, '--version'], {
    encoding: 'utf8',
  })
  assert.match(stdout, /^\d+\.\d+\.\d+ \(\w+\)$/m, stderr)
  const urls = [...stderr.matchAll(/^loads (.*)$/gm)].map(([, url = '']) => url)
  return urls.flatMap((url) => /\/server\/(.*)$/.exec(url)?.[1] ?? [])
}

test('a checkout runs the bundle, and no source, while the sources are those it was made of', () => {
  const files = loaded()
  assert.ok(files.includes('bundle/carillon.js'), files.join(' '))
  assert.deepEqual(
    files.filter((file) => file.endsWith('.ts')),
    [],
  )
})

test('the bundle serves sign-in, a list, a page and its style, with the writer thread of the bundle', async () => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, { launcher })
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const headers = await user.signIn()
  assert.equal((await user.request({ path: '/api/notifications', headers })).json().data.total, 1)
  assert.equal((await fetch(`${running.url}/sign-in`)).status, 200)
  assert.match(await (await fetch(`${running.url}/docs/style.css`)).text(), /\{/)
  user.close()
  assert.equal((await running.end('SIGTERM')).status, 0)
})

test('the bundle is ASCII, which V8 keeps in half the memory, and no String.raw has a character that is escaped for that', () => {
  const notAscii = /[^\0-\x7f]/
  for (const name of readdirSync(join(server, 'bundle')).filter((file) => file.endsWith('.js')))
    assert.doesNotMatch(readFileSync(join(server, 'bundle', name), 'utf8'), notAscii, name)
  const sources = Object.keys(
    JSON.parse(readFileSync(join(server, 'bundle', 'manifest.json'), 'utf8')),
  )
  const raw = sources.flatMap(
    (file) => readFileSync(join(server, 'bundle', file), 'utf8').match(/String\.raw`[^`]*`/g) ?? [],
  )
  assert.ok(raw.length > 5)
  for (const text of raw) assert.doesNotMatch(text, notAscii)
})

test('a checkout runs the sources as soon as one of them has another content, or is gone', () => {
  appendFileSync(join(server, 'inbox', 'inbox.ts'), '\n// changed\n')
  const files = loaded()
  assert.ok(files.includes('carillon.ts'), files.join(' '))
  assert.deepEqual(
    files.filter((file) => file.startsWith('bundle/')),
    [],
  )
  cpSync(join(root, 'server', 'inbox', 'inbox.ts'), join(server, 'inbox', 'inbox.ts'))
  assert.ok(loaded().includes('bundle/carillon.js'))
  rmSync(join(server, 'bundle', 'manifest.json'))
  assert.ok(loaded().includes('carillon.ts'))
})

test('a checkout below a folder whose name has node_modules in it has a bundle of all its sources', () => {
  const checkout = copy.file('my-node_modules/checkout')
  mkdirSync(join(checkout, 'tools'), { recursive: true })
  cpSync(join(root, 'tools', 'bundle.js'), join(checkout, 'tools', 'bundle.js'))
  cpSync(join(root, 'package.json'), join(checkout, 'package.json'))
  copySources(checkout)
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'tools', 'bundle.js')], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  const sources = JSON.parse(
    readFileSync(join(checkout, 'server', 'bundle', 'manifest.json'), 'utf8'),
  )
  for (const source of ['carillon.ts', 'http/app.ts', 'store/sqlite/writer-thread.ts'])
    assert.ok(`../${source}` in sources, source)
})

test('the bundle has the licence of every package in it', () => {
  const licences = readFileSync(join(server, 'bundle', 'LICENSES.txt'), 'utf8')
  for (const name of ['fastify', 'jose', 'pino', 'find-my-way'])
    assert.match(licences, new RegExp(`^${name} \\d[^]*?Copyright`, 'm'))
})
