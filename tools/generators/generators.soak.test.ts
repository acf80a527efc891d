// Two TypeScript generators make clients from the description of a running service; each compiles,
// and runs a sign-in, a list and a delivery (I9, decision 0008).
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypeScript, { astToString } from 'openapi-typescript'
import { startTestService } from '../../tests/support/service.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('.', import.meta.url))
const generated = `${folder}dist`

const app = await startTestService()
after(() => app.stop())
rmSync(generated, { recursive: true, force: true })
mkdirSync(generated)
const description = `${generated}/openapi.json`
writeFileSync(description, (await app.get('/openapi.json')).text)

test('openapi-typescript and @hey-api/openapi-ts generate code from the description (I9)', async () => {
  const types = astToString(await openapiTypeScript(new URL(`file://${description}`)))
  writeFileSync(`${generated}/openapi-typescript.ts`, types)
  await createClient({
    input: description,
    output: { path: `${generated}/hey-api`, importFileExtension: '.ts' },
    plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
    logs: { level: 'silent' },
  })
})

/** npm can install these rows of the table of generators in docs/integrate.md. */
function rowsOfNpm(): { packages: [name: string, version: string][]; command: string[] }[] {
  const page = readFileSync(new URL('../../docs/integrate.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| ([^|]+) \| `npx ([^`]+)` \|/gm)]
  return rows.map(([, names = '', command = '']) => ({
    packages: [...names.matchAll(/([@\w/-]+) (\d[\d.]*\d)/g)].map(([, name = '', version = '']) => [
      name,
      version,
    ]),
    command: command.split(' '),
  }))
}

test('each command of the table in docs/integrate.md generates a client without a warning, with the versions that it names (I9)', async () => {
  const rows = rowsOfNpm()
  assert.equal(rows.length, 2)
  const { devDependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
  for (const { packages, command } of rows) {
    for (const [name, version] of packages) assert.equal(devDependencies[name], version, name)
    const [name = '', ...options] = command
    const output = options.at(-1)
    rmSync(`${generated}/${output}`, { recursive: true, force: true })
    // `npx` would run it in the folder of the workspace.
    const program = `${folder}node_modules/.bin/${name.split('/').at(-1)}`
    const { stdout, stderr } = await run(program, options, { cwd: generated })
    assert.doesNotMatch(stdout + stderr, /warn/i)
    assert.ok(existsSync(`${generated}/${output}`), command.join(' '))
  }
})

for (const { name, tsc } of [
  { name: 'TypeScript 5', tsc: `${folder}node_modules/typescript/bin/tsc` },
  { name: 'the TypeScript of this project', tsc: `${folder}../../node_modules/typescript/bin/tsc` },
])
  test(`the generated code and calls through it compile with ${name} (I9)`, async () => {
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error)
    assert.equal(stdout, '')
  })

for (const { script, title } of [
  { script: 'hey-api', title: 'Through @hey-api/openapi-ts' },
  { script: 'openapi-fetch', title: 'Through openapi-typescript' },
])
  test(`a sign-in, a delivery and a list work: ${title} (I9)`, async () => {
    const { username, password } = await app.user()
    const { key } = await app.producerKey(['send', 'users'])
    const given = JSON.stringify({ url: app.url, username, password, key })
    const { stdout } = await run(process.execPath, [`${folder}calls/${script}.mts`, given])
    assert.deepEqual(JSON.parse(stdout), { status: 'delivered', titles: [title] })
  })
