// Runs Carillon in this process, whose Node is new enough. Plain JavaScript, because launch.js loads it.

import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const source = new URL('../carillon.ts', import.meta.url)
// A checkout runs its source. The published package contains JavaScript, because Node strips no types in node_modules.
const entry = existsSync(source) ? source : new URL('../carillon.js', import.meta.url)

/** Compiled code is cached on the disk: a later start needs 100 ms and 40 MB less. A failure of the cache costs only that. */
export async function run() {
  const cache = fileURLToPath(new URL('../.compile-cache', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache // for the writer thread
  module.enableCompileCache?.(cache)
  await import(entry.href)
}
