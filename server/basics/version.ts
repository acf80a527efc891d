import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

type Manifest = { version: string; description: string; gitHead?: string }
const manifest = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as Manifest

export const { version, description } = manifest

export function commit(): string {
  manifest.gitHead ??= commitOfCheckout()
  return manifest.gitHead.slice(0, 12)
}

function commitOfCheckout(): string {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  // Elsewhere git could find an application's repository.
  if (!existsSync(`${root}.git`)) return 'unknown'
  const { status, stdout } = spawnSync('git', ['-C', root, 'rev-parse', 'HEAD'], {
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : 'unknown'
}

export function displayVersion(): string {
  return `${version} (${commit()})`
}
