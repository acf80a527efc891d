// Modules of other commands would make the start of the service slower.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inTurns } from '../../tests/support/soak.ts'

const program = fileURLToPath(new URL('../carillon.ts', import.meta.url))
const folders = {
  service: ['serve', 'audit', 'doctor'],
  user: ['user'],
  keys: ['key', 'keys', 'secret'],
  notifications: ['explain', 'retention', 'send', 'tail'],
  database: ['migrate', 'backup', 'restore', 'move'],
}
const places = Object.entries(folders).flatMap(([folder, inFolder]) =>
  inFolder.map((name) => [name, `commands/${folder}/${name}.ts`] as const),
)
const files = new Map(places)
const names = [...files.keys()]
const fileOf = (name: string) => files.get(name) ?? ''
const reporter = `
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context) } })`

const preload = `data:text/javascript,${encodeURIComponent(reporter)}`

function run(args: readonly string[]): { stdout: string; loaded: string[] } {
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, program, ...args], {
    encoding: 'utf8',
  })
  const loaded = [...stderr.matchAll(/^loads .*\/server\/(.*)$/gm)].map(([, file = '']) => file)
  return { stdout, loaded }
}

/** On an existing database. */
async function loadedByServe(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-loading-'))
  const env = { CARILLON_DATABASE_URL: `sqlite:${join(folder, 'carillon.db')}`, CARILLON_PORT: '0' }
  try {
    await listening([], env)
    return [...(await listening(['--import', preload], env)).matchAll(/^loads (.*)$/gm)].map(
      ([, url = '']) => url,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function listening(options: readonly string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [...options, program, 'serve'], { env })
  let errors = ''
  child.stderr.on('data', (text: Buffer) => {
    errors += text
  })
  child.stdout.on('data', (text: Buffer) => {
    if (text.includes('is listening')) child.kill()
  })
  await once(child, 'close')
  return errors
}

const isCommand = (file: string) => names.some((name) => file === fileOf(name))

test('a command loads no other command, and only serve loads the routes', () => {
  for (const name of inTurns(names, { every: 4 })) {
    const { stdout, loaded } = run([name, '--help'])
    assert.match(stdout, new RegExp(`^Usage: carillon ${name} `))
    assert.deepEqual(loaded.filter(isCommand), [fileOf(name)])
    assert.equal(loaded.includes('http/app.ts'), name === 'serve', name)
  }
})

test('--help and an unknown name load every command, to list them or to suggest one', () => {
  const { stdout, loaded } = run(['--help'])
  for (const name of names) assert.match(stdout, new RegExp(`^  ${name} .*\\S`, 'm'))
  assert.deepEqual(loaded.filter(isCommand).sort(), names.map(fileOf).sort())
  assert.equal(run(['srve']).loaded.filter(isCommand).length, names.length)
  for (const name of ['constructor', ''])
    assert.equal(run([name]).loaded.filter(isCommand).length, names.length, name)
})

test('serve loads what only some requests need with the first of them', async () => {
  const loaded = await loadedByServe()
  assert.ok(loaded.some((url) => url.endsWith('/server/http/app.ts')))
  const onDemand =
    /\/node_modules\/(@node-rs|ajv|nodemailer|openid-client|pg|request-filtering-agent)\//
  assert.deepEqual(
    loaded.filter((url) => onDemand.test(url)),
    [],
  )
})
