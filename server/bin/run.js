// Runs Carillon in this process, whose Node is new enough: the bundle (tools/bundle.js) while it is the same as the sources, otherwise
// the sources. Plain JavaScript, because launch.js loads it. It imports nothing: an `import` of a built-in module reads all its exports,
// and some of them load further modules, 6 ms of each start.

const { existsSync, readFileSync, renameSync, statSync, writeFileSync } = process.getBuiltinModule('node:fs')
const { enableCompileCache } = process.getBuiltinModule('node:module')
const { fileURLToPath } = process.getBuiltinModule('node:url')

const bundle = fileURLToPath(new URL('../bundle/', import.meta.url))
const manifest = `${bundle}manifest.json`
const source = new URL('../carillon.ts', import.meta.url)

/** Compiled code is cached on the disk: a later start needs less time and memory. A failure of the cache costs only that. */
export async function run() {
  const cache = fileURLToPath(new URL('../.compile-cache', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= cache // for the writer thread
  enableCompileCache?.(cache)
  // The published package contains JavaScript, because Node strips no types in node_modules.
  const unbundled = existsSync(source) ? source : new URL('../carillon.js', import.meta.url)
  await import(isBundleCurrent() ? new URL('../bundle/carillon.js', import.meta.url).href : unbundled.href)
}

/** Whether every file that the bundle was made of is as it was: since that time, or, in a copy, in its content. */
export function isBundleCurrent() {
  try {
    const files = JSON.parse(readFileSync(manifest, 'utf8'))
    let isCopy = false
    for (const [file, stamp] of Object.entries(files)) {
      const { ctimeMs } = statSync(bundle + file)
      if (ctimeMs === stamp.changedAt) continue
      const content = process.getBuiltinModule('node:crypto').hash('sha256', readFileSync(bundle + file), 'base64')
      if (content !== stamp.content) return false
      stamp.changedAt = ctimeMs
      isCopy = true
    }
    if (isCopy) remember(files)
    return true
  } catch {
    // There is no bundle, or a file of it is gone.
    return false
  }
}

/** A package has been unpacked, or a checkout was copied: the next start need not read the files (20 ms). @param {object} files */
function remember(files) {
  try {
    const unfinished = `${manifest}.${process.pid}`
    writeFileSync(unfinished, JSON.stringify(files))
    renameSync(unfinished, manifest)
  } catch {
    // A read-only folder.
  }
}
