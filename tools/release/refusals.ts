// What a release refuses, each as a sentence.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.ts'
import { sectionOf } from './changelog.ts'
import { type Manifest, placesOfOwner, withBadges } from './owner.ts'
import { unpinned } from './pins.ts'

const fill = 'npm run release -- --owner NAME'

/** `root`: a checkout with git. `isWorkflow`: this process runs in release.yml. */
export function refusals(root: string, isWorkflow: boolean): string[] {
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
  const manifest: Manifest = JSON.parse(textOf('package.json'))
  const { version } = manifest
  const tags = run('git', ['-C', root, 'tag', '--points-at', 'HEAD']).split('\n')
  const checks: [boolean, string][] = [
    [!tags.includes(`v${version}`), `this commit has no tag v${version}`],
    [run('git', ['-C', root, 'status', '--porcelain']) !== '', 'files differ from the commit'],
    [
      !sectionOf(textOf('CHANGELOG.md'), version)?.isDated,
      `CHANGELOG.md has no section ${version} with a date`,
    ],
    [!isWorkflow, 'this is not the workflow: registries give provenance only to what it built'],
    [
      !hasBadges(textOf('README.md'), manifest),
      `README.md has not the badges of package.json: ${fill}`,
    ],
  ]
  const wrong = ['server', 'client', 'element'].filter((folder) =>
    versionsIn(textOf(`${folder}/package.json`)).some((one) => one !== version),
  )
  return [
    ...checks.flatMap(([isRefused, reason]) => (isRefused ? [reason] : [])),
    ...wrong.map((folder) => `${folder}/package.json names another version than ${version}`),
    ...placeholders(placesOfOwner(root)),
    ...unpinned(root).map((place) => `not pinned: ${place}`),
  ]
}

function placeholders(files: readonly string[]): string[] {
  if (files.length === 0) return []
  return [
    `OWNER, or a text that is true before a release only, is left in ${files.join(', ')}: ${fill}`,
  ]
}

function hasBadges(readme: string, manifest: Manifest): boolean {
  return readme.includes('<!-- badges -->') && withBadges(readme, manifest) === readme
}

function versionsIn(manifest: string): string[] {
  const { version, dependencies } = JSON.parse(manifest)
  return [version, dependencies?.['carillon-client'] ?? version]
}
