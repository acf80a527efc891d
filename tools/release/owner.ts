// Who owns the repository, in all files that have an address of it: until the first release, the name is the placeholder OWNER. Also the
// badges of README.md, and the texts that are true before the first release only (docs/release.md).
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.ts'

export type Manifest = { version: string; license: string; repository: { url: string } }

/** Only in an address. Elsewhere the word is a word. */
const placeholder = /(?<=\b(?:github\.com|ghcr\.io)\/)OWNER\b|\bOWNER(?=\.github\.io\b)/g
/** Names of images and of hosts have no capital letters. */
const lowerPlaceholder = /(?<=\bghcr\.io\/)OWNER\b|\bOWNER(?=\.github\.io\b)/g
const unpublished = /<!-- unpublished -->[\s\S]*?<!-- \/unpublished -->\n?/g
const placeOfBadges = /(?<=<!-- badges -->)[\s\S]*?(?=<!-- \/badges -->)/

/** `name`: a user or an organisation of GitHub. */
export function isOwner(name: string): boolean {
  return /^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$/.test(name) && name !== 'OWNER'
}

/** Puts the name into every file of git below `root` that has the placeholder, and the badges into README.md. Returns the changed files. */
export function fillOwner(root: string, name: string): string[] {
  const contentOf = (file: string) => withOwner(readFileSync(join(root, file), 'utf8'), name)
  const readme = withBadges(contentOf('README.md'), JSON.parse(contentOf('package.json')))
  const files = placesOfOwner(root).filter((file) => file !== 'README.md')
  for (const file of files) writeFileSync(join(root, file), contentOf(file))
  writeFileSync(join(root, 'README.md'), readme)
  return ['README.md', ...files]
}

/** The files with the placeholder, or with a text that is true before the first release only. */
export function placesOfOwner(root: string): string[] {
  const files = run('git', ['-C', root, 'ls-files', '-z']).split('\0').filter(Boolean)
  // The files of this folder have both as examples.
  const texts = files.filter(
    (file) => !file.startsWith('tools/release/') && !/\.(png|webp|br|woff2|ico)$/.test(file),
  )
  return texts.filter((file) => isUnfilled(readFileSync(join(root, file), 'utf8')))
}

function isUnfilled(text: string): boolean {
  return text.search(placeholder) >= 0 || text.search(unpublished) >= 0
}

/** Removes what stands between `<!-- unpublished -->` and `<!-- /unpublished -->`. */
function withOwner(text: string, name: string): string {
  return text
    .replace(unpublished, '')
    .replace(lowerPlaceholder, name.toLowerCase())
    .replace(placeholder, name)
}

/** Throws if the page has no place for badges. */
export function withBadges(page: string, manifest: Manifest): string {
  if (!placeOfBadges.test(page))
    throw new Error('README.md needs <!-- badges --> and, below it, <!-- /badges -->')
  return page.replace(placeOfBadges, `\n${badgesOf(manifest)}\n`)
}

function badgesOf({ license, repository }: Manifest): string {
  const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
  const place = address.replace('https://', '')
  const workflow = `${address}/actions/workflows/ci.yml`
  return [
    `[![Tests](${workflow}/badge.svg)](${workflow})`,
    '[![npm](https://img.shields.io/npm/v/carillon)](https://www.npmjs.com/package/carillon)',
    `[![Licence](https://img.shields.io/badge/licence-${license.replaceAll('-', '--')}-blue)](LICENSE)`,
    `[![OpenSSF Scorecard](https://api.scorecard.dev/projects/${place}/badge)](https://scorecard.dev/viewer/?uri=${place})`,
  ].join('\n')
}
