// Runs Carillon in this process, whose Node is new enough. Plain JavaScript, as launch.js loads it.

import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const source = new URL('../carillon.ts', import.meta.url)
// A checkout runs its source; what is published holds JavaScript, since Node strips no types under node_modules.
const entry = existsSync(source) ? source : new URL('../carillon.js', import.meta.url)

/** Compiled code is kept: a later start takes 100 ms and 40 MB less. If it cannot be kept, only that time is lost. */
export async function run() {
  const cache = fileURLToPath(new URL('../.compile-cache', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache // for the writer thread
  module.enableCompileCache?.(cache)
  await import(entry.href)
}
