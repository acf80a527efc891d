// `npm run release` refuses what, and fills in what, in a small checkout?
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { run } from '../run.ts'
import { sectionOf } from './changelog.ts'
import { checksumsOf, refuseChanged } from './checksums.ts'
import { fillOwner, isOwner } from './owner.ts'
import { refusals } from './refusals.ts'

const repository = (owner: string) => `https://github.com/${owner}/carillon`
const manifest = { name: 'carillon-root', version: '0.1.0', license: 'MIT' }
const before: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    ...manifest,
    repository: { url: `git+${repository('OWNER')}.git` },
  }),
  'server/package.json': '{ "version": "0.1.0", "dependencies": { "carillon-client": "0.1.0" } }',
  'client/package.json': '{ "version": "0.1.0" }',
  'element/package.json': '{ "version": "0.1.0", "dependencies": { "carillon-client": "0.1.0" } }',
  'README.md':
    '# Carillon\n\n<!-- badges -->\n<!-- /badges -->\n\n<!-- unpublished -->\nNot published yet.\n<!-- /unpublished -->\nA bell.\n',
  'SECURITY.md': `${repository('OWNER')}/security/advisories/new, once OWNER is a name; https://OWNER.github.io/carillon/\n`,
  'CHANGELOG.md':
    '# Changelog\n\n## 0.1.0 (2026-12-24)\n\nThe first one.\n\n## 0.0.9\n\nAn older one.\n',
  'packaging/compose.yaml': 'image: ghcr.io/OWNER/carillon:0.1.0\n',
  'docs/other.md': 'No address.\n',
}

function checkout(t: TestContext, files: Readonly<Record<string, string>> = before): string {
  const root = mkdtempSync(join(tmpdir(), 'carillon-release-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(files)) write(root, file, text)
  git(root, 'init', '--quiet')
  commit(root)
  return root
}

function write(root: string, file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}

function git(root: string, ...args: string[]): void {
  const author = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.org',
    '-c',
    'commit.gpgsign=false',
    '-c',
    'tag.gpgsign=false',
  ]
  run('git', ['-C', root, ...author, ...args])
}

function commit(root: string): void {
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '--message', 'a')
  git(root, 'tag', '--force', 'v0.1.0')
}

const textOf = (root: string, file: string) => readFileSync(join(root, file), 'utf8')

test('the name of the owner takes the place of OWNER in every address, in small letters where an address has no others', (t) => {
  const root = checkout(t)
  const changed = fillOwner(root, 'Bell-Makers')
  assert.deepEqual(changed.sort(), [
    'README.md',
    'SECURITY.md',
    'package.json',
    'packaging/compose.yaml',
  ])
  assert.equal(
    JSON.parse(textOf(root, 'package.json')).repository.url,
    `git+${repository('Bell-Makers')}.git`,
  )
  assert.equal(
    textOf(root, 'SECURITY.md'),
    `${repository('Bell-Makers')}/security/advisories/new, once OWNER is a name; https://bell-makers.github.io/carillon/\n`,
  )
  assert.equal(
    textOf(root, 'packaging/compose.yaml'),
    'image: ghcr.io/bell-makers/carillon:0.1.0\n',
  )
})

test('README.md gets the badges of package.json, once, and loses what is true before the first release only', (t) => {
  const root = checkout(t)
  fillOwner(root, 'bell')
  const readme = textOf(root, 'README.md')
  assert.match(
    readme,
    /<!-- badges -->\n\[!\[Tests\]\(https:\/\/github\.com\/bell\/carillon\/actions\/workflows\/ci\.yml/,
  )
  assert.match(readme, /licence-MIT-blue\)\]\(LICENSE\)\n/)
  assert.match(readme, /<!-- \/badges -->\n\nA bell\.\n$/)
  fillOwner(root, 'bell')
  assert.equal(textOf(root, 'README.md'), readme)
})

test('nothing is changed if README.md has no place for the badges', (t) => {
  const root = checkout(t, { ...before, 'README.md': '# Carillon\n' })
  assert.throws(() => fillOwner(root, 'bell'), /README\.md needs <!-- badges -->/)
  assert.equal(textOf(root, 'package.json'), before['package.json'])
})

test('a name of GitHub has letters, digits and single hyphens', () => {
  assert.deepEqual(['a', 'Bell-Makers', 'a1'].map(isOwner), [true, true, true])
  assert.deepEqual(
    ['', 'OWNER', '-a', 'a-', 'a--b', 'a/b', 'a b', 'a'.repeat(40)].filter(isOwner),
    [],
  )
})

test('a release is refused where the placeholder or a text about the time before it is left', (t) => {
  const root = checkout(t)
  const left = refusals(root, true).filter((reason) => reason.startsWith('OWNER'))
  const files = 'README.md, SECURITY.md, package.json, packaging/compose.yaml'
  assert.deepEqual(left, [
    `OWNER, or a text that is true before a release only, is left in ${files}: npm run release -- --owner NAME`,
  ])
})

/** A maintainer leaves the checkout so. */
function ready(t: TestContext): string {
  const root = checkout(t)
  fillOwner(root, 'bell')
  commit(root)
  return root
}

test('nothing is refused in the workflow at the tag of a checkout that is ready', (t) => {
  assert.deepEqual(refusals(ready(t), true), [])
})

for (const [name, file, text, reason] of [
  [
    'another version in a package',
    'client/package.json',
    '{ "version": "0.2.0" }',
    /^client\/package\.json names another version/,
  ],
  [
    'an old client in a package',
    'element/package.json',
    '{ "version": "0.1.0", "dependencies": { "carillon-client": "0.0.9" } }',
    /^element\//,
  ],
  [
    'a section without a date',
    'CHANGELOG.md',
    '## 0.1.0 (not tagged yet)\n',
    /^CHANGELOG\.md has no section 0\.1\.0 with a date$/,
  ],
  [
    'other badges',
    'README.md',
    '<!-- badges --><!-- /badges -->\n',
    /^README\.md has not the badges/,
  ],
  [
    'an action without a hash',
    '.github/workflows/a.yml',
    'steps:\n  - uses: a/b@v1 # unpinned: no snapshot\n',
    /^not pinned: \.github\/workflows\/a\.yml:2: no snapshot$/,
  ],
  [
    'an image without a digest',
    'packaging/Dockerfile',
    '# unpinned: its digest\nFROM node:24\n',
    /^not pinned: packaging\/Dockerfile:1: its digest$/,
  ],
] as const)
  test(`a release refuses ${name}`, (t) => {
    const root = ready(t)
    write(root, file, text)
    commit(root)
    const [refusal = '', another] = refusals(root, true)
    assert.match(refusal, reason)
    assert.equal(another, undefined)
  })

test('a release refuses a commit without the tag, files that differ from it, and any place but the workflow', (t) => {
  const root = ready(t)
  git(root, 'tag', '--delete', 'v0.1.0')
  write(root, 'new.txt', 'new')
  const reasons = [
    /^this commit has no tag v0\.1\.0$/,
    /^files differ/,
    /^this is not the workflow/,
  ]
  const refused = refusals(root, false)
  assert.equal(refused.length, reasons.length)
  for (const [i, reason] of reasons.entries()) assert.match(refused[i] ?? '', reason)
})

test('the notes of a release are the section of its version', () => {
  const changelog = before['CHANGELOG.md'] ?? ''
  assert.equal(sectionOf(changelog, '0.1.0')?.text, 'The first one.\n\n')
  assert.equal(sectionOf(changelog, '0.1'), undefined)
})

test('a release refuses a file that a tool changed or removed after it was built, and accepts new files', (t) => {
  const dist = mkdtempSync(join(tmpdir(), 'carillon-dist-'))
  t.after(() => rmSync(dist, { recursive: true }))
  write(dist, 'carillon-0.1.0.tgz', 'built')
  write(dist, 'carillon-client-0.1.0.tgz', 'built')
  const built = checksumsOf(dist)
  write(dist, 'carillon-0.1.0.cdx.json', '{}')
  refuseChanged(built, checksumsOf(dist))
  write(dist, 'carillon-0.1.0.tgz', 'changed')
  rmSync(join(dist, 'carillon-client-0.1.0.tgz'))
  assert.throws(
    () => refuseChanged(built, checksumsOf(dist)),
    /: carillon-0\.1\.0\.tgz, carillon-client-0\.1\.0\.tgz$/,
  )
})
