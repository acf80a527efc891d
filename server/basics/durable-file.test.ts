// The calls of node:fs show the order (R1): after a power failure there is the old file, the new
// one or none.
import assert from 'node:assert/strict'
import fs, {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readDatabaseUrl } from '../config/database-url.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { sealingSecrets } from '../tokens/sealing-secret.ts'
import { signingKeys } from '../tokens/signing-keys.store.ts'
import { createDurably, makeFolder, replaceDurably } from './durable-file.ts'

const recorded = ['openSync', 'writeSync', 'fsyncSync', 'linkSync', 'renameSync'] as const

/** Each with the kind of its file. */
async function callsOf(t: TestContext, folder: string, work: () => unknown): Promise<string[]> {
  const calls: string[] = []
  const opened = new Map<number, string>()
  const kindOf = (target: unknown) => {
    const path = typeof target === 'number' ? (opened.get(target) ?? '') : String(target)
    if (path === folder) return 'folder'
    return path.endsWith('.part') ? 'draft' : 'file'
  }
  const mocks = recorded.map((name) => {
    const original = fs[name] as (...args: unknown[]) => unknown
    return t.mock.method(fs, name, (...args: unknown[]) => {
      if (name !== 'openSync') calls.push(`${name} ${kindOf(args[0])}`)
      const result = original.apply(fs, args)
      if (name === 'openSync') opened.set(result as number, String(args[0]))
      return result
    })
  })
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    for (const { mock } of mocks) mock.restore()
    syncBuiltinESMExports()
  }
  return calls
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a file is on the disk before it gets its name, and the name is on the disk before the call returns (R1)', async (t) => {
  const folder = newFolder(t)
  const path = join(folder, 'secret')
  assert.deepEqual(await callsOf(t, folder, () => createDurably(path, 'one')), [
    'writeSync draft',
    'fsyncSync draft',
    'linkSync draft',
    'fsyncSync folder',
  ])
  assert.deepEqual(await callsOf(t, folder, () => replaceDurably(path, 'two')), [
    'writeSync draft',
    'fsyncSync draft',
    'renameSync draft',
    'fsyncSync folder',
  ])
  assert.equal(readFileSync(path, 'utf8'), 'two')
  assert.equal(modeOf(path), '600')
  assert.deepEqual(readdirSync(folder), ['secret'])
})

test('the secret that seals the signing keys is on the disk before it gets its name (R1)', async (t) => {
  const folder = newFolder(t)
  const database = readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`)
  const store = stubStore()
  replaceOperation(store, signingKeys, async () => [])
  const calls = await callsOf(t, folder, () => sealingSecrets({ database }, store))
  assert.deepEqual(calls, [
    'writeSync draft',
    'fsyncSync draft',
    'linkSync draft',
    'fsyncSync folder',
  ])
})

test('creating never replaces a file, and replacing never writes through a link', (t) => {
  const folder = newFolder(t)
  const path = join(folder, 'file')
  const link = join(folder, 'link')
  assert.equal(createDurably(path, 'first'), true)
  assert.equal(createDurably(path, 'second'), false)
  assert.equal(readFileSync(path, 'utf8'), 'first')
  symlinkSync(path, link)
  replaceDurably(link, 'new')
  assert.equal(readFileSync(path, 'utf8'), 'first')
  assert.equal(readFileSync(link, 'utf8'), 'new')
  writeFileSync(path, 'open to all', { mode: 0o644 })
  replaceDurably(path, 'closed')
  assert.equal(modeOf(path), '600')
  assert.deepEqual(readdirSync(folder).sort(), ['file', 'link'])
})

test('a file that cannot be written leaves no draft', (t) => {
  const folder = newFolder(t)
  fs.mkdirSync(join(folder, 'taken'))
  assert.throws(() => replaceDurably(join(folder, 'taken'), 'text'))
  assert.deepEqual(readdirSync(folder), ['taken'])
})

test('a file or folder that root makes belongs to the owner of the folder around it (R17)', {
  skip: process.geteuid?.() !== 0,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-owner-'))
  const ownerOf = (path: string) => statSync(path).uid
  try {
    makeFolder(join(folder, 'of root'))
    assert.equal(ownerOf(join(folder, 'of root')), 0)
    chownSync(folder, 65_534, 65_534)
    const inner = join(folder, 'restored', 'inner')
    makeFolder(inner)
    createDurably(join(inner, 'file'), 'text')
    for (const made of [join(folder, 'restored'), inner, join(inner, 'file')])
      assert.equal(ownerOf(made), 65_534, made)
    assert.equal(modeOf(inner), '700')
    // A folder that is there already keeps its owner.
    makeFolder(join(folder, 'of root'))
    assert.equal(ownerOf(join(folder, 'of root')), 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
