// The scripts are complete even if a build is interrupted, and as small as the documentation says.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { soakTest } from '../tests/support/soak.ts'
import { build, bundle, bundleAll, servedFolder } from './build.js'

const place = mkdtempSync(join(tmpdir(), 'carillon-build-'))
after(() => rmSync(place, { recursive: true }))
const bundled = await bundleAll()

const root = fileURLToPath(new URL('..', import.meta.url))
const program = join(root, 'element', 'build.js')
const contentOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))

/** By gzip: an entry with its static imports. */
function initialSize(
  scripts: readonly { name: string; code: string; imports: string[] }[],
): number {
  const loaded = new Set(scripts.slice(0, 1))
  for (const { imports } of loaded)
    for (const one of scripts) if (imports.includes(one.name)) loaded.add(one)
  return [...loaded].reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0)
}

function isComplete(folder: string): void {
  const manifest: Record<string, string[]> = JSON.parse(
    readFileSync(join(folder, 'manifest.json'), 'utf8'),
  )
  assert.deepEqual(Object.keys(manifest), Object.keys(bundled))
  const codes = new Map(
    Object.values(bundled)
      .flat()
      .map(({ name, code }) => [name, code]),
  )
  for (const name of Object.values(manifest).flat()) {
    const read = (ending: string) => readFileSync(join(folder, `${name}${ending}`))
    assert.equal(read('').toString(), codes.get(name), name)
    assert.equal(gunzipSync(read('.gz')).toString(), codes.get(name), name)
    assert.equal(brotliDecompressSync(read('.br')).toString(), codes.get(name), name)
  }
}

test('the scripts that are served were built from this source', async () => {
  isComplete(servedFolder)
})

soakTest(
  'a build twice at once, and after one that was killed at any moment, leaves complete files',
  async () => {
    const folder = join(place, 'at-once')
    await Promise.all([build(folder), build(folder), build(folder)])
    isComplete(folder)
    const killed = join(place, 'killed')
    for (let ms = 100; ms < 600; ms += 50) {
      const child = spawn(process.execPath, [program, killed], { stdio: 'ignore' })
      const timer = setTimeout(() => child.kill('SIGKILL'), ms)
      await once(child, 'exit')
      clearTimeout(timer)
      if (readdirSync(place).includes('killed') && readdirSync(killed).includes('manifest.json'))
        isComplete(killed)
    }
    await build(killed)
    isComplete(killed)
  },
)

test('a build removes the files of earlier builds', async () => {
  const folder = join(place, 'again')
  cpSync(servedFolder, folder, { recursive: true })
  const before = contentOf(folder)
  const old = 'carillon-inbox-00000000.js'
  const recent = 'carillon-inbox-11111111.js'
  writeFileSync(join(folder, old), 'old')
  const minuteAgo = new Date(Date.now() - 120_000)
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), minuteAgo, minuteAgo)
  // It may belong to a build at the same time.
  writeFileSync(join(folder, recent), 'recent')
  await build(folder)
  assert.deepEqual(contentOf(folder), { ...before, [recent]: Buffer.from('recent') })
})

test('the entry of a page is one request, and nothing loads an entry a second time under its name with a hash', () => {
  for (const one of ['carillon-inbox.js', 'carillon-client.js']) {
    const [entry, ...chunks] = bundled[one] ?? []
    assert.deepEqual(entry?.imports, [])
    for (const { name, imports } of chunks) assert.ok(!imports.includes(entry?.name ?? ''), name)
  }
})

/** In kilobytes of 1,000 bytes. */
function limitOn(page: string, form: RegExp): number {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/\s+/g, ' ')
  const found = form.exec(text)?.[1]
  assert.ok(found, `${page} says no size`)
  return Number(found) * 1_000
}

test('a page that loads the bell, or only the client, receives no more than the documentation says', async (t) => {
  const module = join(place, 'page.js')
  writeFileSync(
    module,
    `export { createCarillon } from ${JSON.stringify(join(root, 'client', 'carillon-client.ts'))}`,
  )
  const sizes = {
    inbox: initialSize(bundled['carillon-inbox.js'] ?? []),
    client: initialSize(bundled['carillon-client.js'] ?? []),
    reader: initialSize(await bundle({ page: module })),
  }
  t.diagnostic(
    `carillon-inbox.js: ${sizes.inbox} bytes, the client: ${sizes.client}, without its producer: ${sizes.reader}`,
  )
  const inbox = /`carillon-inbox\.js` has at most (\d+) KB/
  for (const [size, page, form] of [
    [sizes.inbox, 'element/README.md', inbox],
    [sizes.inbox, 'docs/operations/network.md', inbox],
    [sizes.client, 'docs/operations/network.md', /`carillon-client\.js` has at most (\d+) KB/],
    [sizes.reader, 'client/README.md', /at most (\d+) KB in a page/],
    [sizes.reader, 'README.md', /adds at most (\d+) KB to a page/],
  ] as const) {
    const limit = limitOn(page, form)
    assert.ok(size <= limit && limit <= size + 2_500, `${page} says ${limit}, measured are ${size}`)
  }
})

// The operator's page has plots, and few open it.
test("all pages but the operator's have together at most 130 KB of script by gzip", (t) => {
  const scripts = Object.entries(bundled).flatMap(([entry, files]) =>
    entry.endsWith('.js') ? files.filter(({ name }) => !name.includes('operator')) : [],
  )
  const sizes = new Map(
    scripts.map(({ name, code }) => [name, gzipSync(code, { level: 9 }).length]),
  )
  const client = bundled['carillon-client.js'] ?? []
  // No page of the service loads the client alone.
  for (const { name } of client) sizes.delete(name)
  const size = [...sizes.values()].reduce((sum, one) => sum + one, 0)
  t.diagnostic(`${size} bytes in ${sizes.size} files`)
  assert.ok(size <= 130_000, `${size} bytes`)
})
