// Bundles what the service serves to browsers, into server/public. Plain JavaScript, so that any
// Node that can install Carillon can run it.
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build as rolldown } from 'rolldown'

/** @typedef {{ name: string, code: string, imports: string[] }} Script `imports`: what the browser loads with it, at once. */

const root = fileURLToPath(new URL('..', import.meta.url))
export const servedFolder = join(root, 'server', 'public')

/** Lit has this comment in each of its files. */
const licence = '/*! Lit: Copyright Google LLC, SPDX-License-Identifier: BSD-3-Clause */'

/** Bundled together, so that a browser loads once what two pages need. */
const pages = {
  'page-account': 'pages/account/account-frame.ts',
  'page-password': 'pages/password/password-page.ts',
  'page-inbox': 'pages/inbox/inbox-page.ts',
  'page-operator': 'pages/operator/operator-page.ts',
  'page-sign-in': 'pages/sign-in/sign-in-page.ts',
  'page-docs': 'pages/docs/docs-page.ts',
  'every-page': 'pages/look/every-page.ts',
  'page-demonstration': 'demonstration/page/demonstration-page.ts',
}

/** Files of the pages that need no bundler. @returns {Script[]} */
function assets() {
  const files = ['pages', 'demonstration/page'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(root, folder, path),
    ),
  )
  const ofPlots = join(root, 'node_modules', 'uplot', 'dist', 'uPlot.min.css')
  return [...files.filter((path) => /\.(css|svg)$/.test(path)), ofPlots].map(asset)
}

/**
 * Bundles all scripts, each with the chunks that it may load, the entry first.
 * @returns {Promise<Record<string, Script[]>>} by the name without a hash: `carillon-inbox.js`,
 * `page.css`
 */
export async function bundleAll() {
  /** @type {Record<string, Script[]>} */
  const scripts = {
    'carillon-inbox.js': await bundle({ 'carillon-inbox': 'element/carillon-inbox.ts' }),
    'carillon-client.js': await bundle({ 'carillon-client': 'client/carillon-client.ts' }),
    'carillon-push.js': await bundle({ 'carillon-push': 'client/push/carillon-push.js' }),
  }
  const ofPages = await bundle(pages)
  for (const name of Object.keys(pages)) {
    const entry = ofPages.filter((one) => one.name.startsWith(`${name}-`))
    scripts[`${name}.js`] = [...new Set([...entry, ...ofPages])]
  }
  for (const one of assets()) scripts[one.name.replace(/-[\da-f]{8}/, '')] = [one]
  return scripts
}

/** @param {string} path @returns {Script} */
function asset(path) {
  const text = readFileSync(path, 'utf8')
  const code = path.endsWith('.css') ? smallCss(text) : text.trim()
  const hash = createHash('sha256').update(code).digest('hex').slice(0, 8)
  return { name: basename(path).replace('.', `-${hash}.`), code, imports: [] }
}

/** The entry comes first, then its chunks. @param {Record<string, string>} input names with files, from the root of the project @returns {Promise<Script[]>} */
export async function bundle(input) {
  const { output } = await rolldown({
    input,
    external: /\/texts\/..\/service\.ts$/,
    platform: 'browser',
    cwd: root,
    logLevel: 'silent',
    plugins: [smallStyles],
    write: false,
    output: {
      minify: true,
      comments: false,
      postBanner: ({ name }) => (name === 'carillon-inbox' ? licence : ''),
      hashCharacters: 'hex',
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: 'carillon-[name]-[hash].js',
    },
  })
  const chunks = output.filter((file) => file.type === 'chunk')
  return chunks.map(({ fileName, code, imports }) => ({ name: fileName, code, imports }))
}

/** Removes the white space of styles, which the bundler leaves in their template literals. */
const smallStyles = {
  name: 'small-styles',
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.startsWith(join(root, 'element'))) return
    return code.replaceAll(/\bcss`[^`]*`/g, smallCss)
  },
}

/** @param {string} style */
function smallCss(style) {
  return style
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) |(:) /g, '$1$2')
    .trim()
}

/**
 * Writes the scripts, also compressed, and `manifest.json`: the names with hashes. Each file is
 * replaced in one step and the manifest last, so that an interrupted build, or two at once, leave
 * a complete folder.
 * @param {string} folder
 */
export async function build(folder) {
  const scripts = await bundleAll()
  /** @type {Map<string, Buffer>} */
  const files = new Map()
  for (const { name, code } of Object.values(scripts).flat()) {
    // Pages share files, and to compress one takes long.
    if (files.has(name)) continue
    files.set(name, Buffer.from(code))
    files.set(`${name}.gz`, gzipSync(code, { level: 9 }))
    files.set(`${name}.br`, brotliCompressSync(code))
  }
  const names = Object.entries(scripts).map(([entry, chunks]) => [
    entry,
    chunks.map(({ name }) => name),
  ])
  files.set('manifest.json', Buffer.from(`${JSON.stringify(Object.fromEntries(names), null, 2)}\n`))
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of files) {
    const path = join(folder, name)
    const unfinished = `${path}.${process.pid}`
    writeFileSync(unfinished, bytes)
    renameSync(unfinished, path)
  }
  for (const name of readdirSync(folder)) if (!files.has(name)) removeOld(join(folder, name))
}

/** A file of the last minute may belong to a build that runs at the same time. @param {string} path */
function removeOld(path) {
  const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (Date.now() - mtimeMs > 60_000) rmSync(path, { force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(process.argv[2] ?? servedFolder)
