// Does a command load only its own modules? Loading those of other commands would make the start of the service slower and use
// more memory.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../carillon.ts', import.meta.url))
const names = [
  ...['serve', 'user', 'key', 'keys', 'secret', 'audit', 'send', 'tail'],
  ...['migrate', 'doctor', 'backup', 'restore', 'move'],
]
const fileOf = (name: string) => (name === 'user' ? 'commands/user/user.ts' : `commands/${name}.ts`)
const reporter = `
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context) } })`

function run(args: readonly string[]): { stdout: string; loaded: string[] } {
  const preload = `data:text/javascript,${encodeURIComponent(reporter)}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, program, ...args], { encoding: 'utf8' })
  const loaded = [...stderr.matchAll(/^loads .*\/server\/(.*)$/gm)].map(([, file = '']) => file)
  return { stdout, loaded }
}

const isCommand = (file: string) => names.some((name) => file === fileOf(name))

test('a command loads no other command, and only serve loads the routes', () => {
  for (const name of names) {
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
  for (const name of ['constructor', '']) assert.equal(run([name]).loaded.filter(isCommand).length, names.length, name)
})
