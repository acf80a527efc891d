// The compiler checks each example of client/README.md, and they run unchanged, in their order.
// Each must print the output below it.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readPages } from '../tests/support/http/pages.ts'
import { startTestService } from '../tests/support/service.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const printedAddress = 'https://bell.example'
const page =
  readPages(root).find(({ file }) => file === 'client/README.md') ??
  assert.fail('client/README.md is missing')
const components = page.blocks.filter(({ language }) => language === 'tsx')
const examples = page.blocks.flatMap(({ language, text, line }, i) => {
  const below = page.blocks[i + 1]
  return language === 'ts'
    ? [{ line, code: text, shown: below?.language === 'text' ? below.text : undefined }]
    : []
})

function newFolder(address: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-readme-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(root, 'client'), join(folder, 'node_modules', 'carillon-client'))
  symlinkSync(join(root, 'node_modules', '@types'), join(folder, 'node_modules', '@types'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const { line, code } of examples) {
    assert.match(
      code,
      new RegExp(printedAddress),
      `line ${line} does not name the address of the service`,
    )
    writeFileSync(join(folder, `line-${line}.ts`), code.replaceAll(printedAddress, address))
  }
  for (const { line, text } of components) writeFileSync(join(folder, `line-${line}.tsx`), text)
  return folder
}

test('the examples of client/README.md print the output that the page shows', async (t) => {
  assert.ok(
    examples.length >= 5 && components.length >= 2,
    'the page has fewer examples than before',
  )
  const service = await startTestService()
  t.after(() => service.stop())
  await service.user('ann', 'plum orchard gate 41')
  const { key } = await service.producerKey(['send', 'users'])
  const folder = newFolder(service.url)
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const cookies = new URL('./testing/browser-cookies.ts', import.meta.url).href
  const run = promisify(execFile)
  for (const { line, shown } of examples)
    await t.test(`line ${line}`, async () => {
      const { stdout } = await run(process.execPath, ['--import', cookies, `line-${line}.ts`], {
        cwd: folder,
        env: { ...process.env, CARILLON_PRODUCER_KEY: key },
      })
      assert.equal(stdout, shown)
    })
})

test('every example of client/README.md compiles', (t) => {
  const folder = newFolder('http://127.0.0.1')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const files = [
    ...examples.map(({ line }) => `line-${line}.ts`),
    ...components.map(({ line }) => `line-${line}.tsx`),
  ]
  const options =
    '--ignoreConfig --noEmit --strict --module nodenext --target esnext --types node'.split(' ')
  const imports = ['--allowImportingTsExtensions', '--skipLibCheck', '--jsx', 'react-jsx']
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...imports, ...files],
    { cwd: folder, encoding: 'utf8' },
  )
  assert.equal(status, 0, stdout)
})
