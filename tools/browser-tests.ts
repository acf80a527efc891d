// Finds the test files that start the packaged Chromium, which is for Linux on x64 only: those that import it, also through other files.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const browser = resolve('tests/support/chromium.ts')
const known = new Map<string, string[]>()

/** `file` is relative to the root of the checkout. */
export function startsBrowser(file: string): boolean {
  const found = new Set([resolve(file)])
  // A set also goes through what is added meanwhile.
  for (const path of found) for (const imported of importsOf(path)) found.add(imported)
  return found.has(browser)
}

/** The files of this checkout from which a file imports values. */
function importsOf(path: string): string[] {
  const imports = known.get(path) ?? readImports(path)
  known.set(path, imports)
  return imports
}

function readImports(path: string): string[] {
  if (!path.endsWith('.ts')) return []
  const code = readFileSync(path, 'utf8')
  const names = [...code.matchAll(/^(?:import|export) (?!type )[^'"`;]*?from '(\.[^']+)'/gm)]
  return names.map(([, name = '']) => join(path, '..', name))
}
