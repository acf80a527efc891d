// Runs the bundle if it equals the sources, else the sources. An import of a built-in would cost
// each start 6 ms.

const { existsSync, readFileSync, renameSync, statSync, writeFileSync } =
  process.getBuiltinModule('node:fs')
const { enableCompileCache } = process.getBuiltinModule('node:module')
const { fileURLToPath } = process.getBuiltinModule('node:url')

const bundle = fileURLToPath(new URL('../bundle/', import.meta.url))
const manifest = `${bundle}manifest.json`
const source = new URL('../carillon.ts', import.meta.url)

export async function run() {
  const cache = fileURLToPath(new URL('../.compile-cache', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache // for the writer thread
  enableCompileCache?.(cache)
  // Node strips no types in node_modules.
  const unbundled = existsSync(source) ? source : new URL('../carillon.js', import.meta.url)
  await import(
    isBundleCurrent() ? new URL('../bundle/carillon.js', import.meta.url).href : unbundled.href
  )
}

/** Compares times of files, or their content in a copy. */
export function isBundleCurrent() {
  try {
    const files = JSON.parse(readFileSync(manifest, 'utf8'))
    let isCopy = false
    for (const [file, stamp] of Object.entries(files)) {
      const { ctimeMs } = statSync(bundle + file)
      if (ctimeMs === stamp.changedAt) continue
      const content = process
        .getBuiltinModule('node:crypto')
        .hash('sha256', readFileSync(bundle + file), 'base64')
      if (content !== stamp.content) return false
      stamp.changedAt = ctimeMs
      isCopy = true
    }
    if (isCopy) remember(files)
    return true
  } catch {
    return false
  }
}

/** After a copy, the next start need not read the files (20 ms). @param {object} files */
function remember(files) {
  try {
    const unfinished = `${manifest}.${process.pid}`
    writeFileSync(unfinished, JSON.stringify(files))
    renameSync(unfinished, manifest)
  } catch {
    // A read-only folder.
  }
}
