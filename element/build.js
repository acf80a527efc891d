// Bundles the scripts that the service serves: carillon-inbox.js (both elements, with Lit and the client) and
// carillon-client.js (the client alone). `npm ci` and `npm run build` write them to server/public. Plain JavaScript, so that any
// version of Node that can install Carillon can run it.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

/** @typedef {{ name: string, code: string, imports: string[] }} Script `imports`: what the browser loads with it, at once. */

const root = fileURLToPath(new URL('..', import.meta.url))
/** Where the service looks for them; git ignores it. */
export const servedFolder = join(root, 'server', 'public')

const entries = {
  'carillon-inbox': join(root, 'element', 'carillon-inbox.ts'),
  'carillon-client': join(root, 'client', 'carillon-client.ts'),
}

/**
 * Bundles both scripts, each with the chunks that it loads on demand. The first script of a list is the entry. Each name
 * has a hash of the content, so equal names are equal files.
 * @returns {Promise<Record<string, Script[]>>} by the name without a hash: `carillon-inbox.js`
 */
export async function bundleAll() {
  /** @type {Record<string, Script[]>} */
  const scripts = {}
  for (const [name, input] of Object.entries(entries))
    if (existsSync(input)) scripts[`${name}.js`] = await bundle({ [name]: input })
  return scripts
}

/** @param {Record<string, string>} input @returns {Promise<Script[]>} */
async function bundle(input) {
  const bundled = await rolldown({ input, platform: 'browser', cwd: root, logLevel: 'silent' })
  try {
    const { output } = await bundled.generate({
      format: 'esm',
      minify: true,
      hashCharacters: 'hex',
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: 'carillon-[name]-[hash].js',
    })
    return output.flatMap((file) =>
      file.type === 'chunk' ? [{ name: file.fileName, code: file.code, imports: file.imports }] : [],
    )
  } finally {
    await bundled.close()
  }
}

/**
 * Writes the scripts, each also compressed, and `manifest.json`: the name of each entry with its hash. The manifest is replaced last and
 * every file in one step, so a build that is interrupted, or that runs twice at once, leaves a complete folder.
 * @param {string} folder
 */
export async function build(folder) {
  const scripts = await bundleAll()
  mkdirSync(folder, { recursive: true })
  const kept = new Set(['manifest.json'])
  for (const { name, code } of Object.values(scripts).flat()) {
    const bytes = Buffer.from(code)
    put(folder, name, bytes, kept)
    put(folder, `${name}.gz`, gzipSync(bytes, { level: 9 }), kept)
    put(folder, `${name}.br`, brotliCompressSync(bytes), kept)
  }
  const names = Object.entries(scripts).map(([name, [entry]]) => [name, entry?.name])
  put(folder, 'manifest.json', Buffer.from(`${JSON.stringify(Object.fromEntries(names), null, 2)}\n`), kept)
  removeOld(folder, kept)
}

/** Files of the last minute may belong to a build that runs at the same time. @param {string} folder @param {Set<string>} kept */
function removeOld(folder, kept) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (!kept.has(name) && Date.now() - mtimeMs > 60_000) rmSync(path, { force: true })
  }
}

/** Leaves an equal file as it is. @param {string} folder @param {string} name @param {Buffer} bytes @param {Set<string>} kept */
function put(folder, name, bytes, kept) {
  const path = join(folder, name)
  kept.add(name)
  if (existsSync(path) && readFileSync(path).equals(bytes)) return
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, bytes)
  renameSync(unfinished, path)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(process.argv[2] ?? servedFolder)
