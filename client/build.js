// Builds the package: JavaScript without comments, declarations with comments, and a manifest that names both, because Node
// does not strip types below node_modules. This file is plain JavaScript, so that any version of Node can run it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const client = fileURLToPath(new URL('.', import.meta.url))
const root = join(client, '..')

/** Replaces the content of a folder by the package. @param {string} folder */
export function build(folder) {
  rmSync(folder, { recursive: true, force: true })
  compile(folder, '--removeComments')
  compile(folder, '--declaration', '--emitDeclarationOnly')
  const manifest = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'))
  const exports = Object.fromEntries(Object.entries(manifest.exports).map(([path, source]) => [path, built(source)]))
  const published = { ...manifest, scripts: undefined, devDependencies: undefined, exports }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  copyFileSync(join(client, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** @param {string} source */
function built(source) {
  return { types: source.replace(/ts$/, 'd.ts'), default: source.replace(/ts$/, 'js') }
}

/** @param {string} folder @param {string[]} options */
function compile(folder, ...options) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const project = join(client, 'tsconfig.build.json')
  const args = [compiler, '--project', project, '--outDir', folder, ...options]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The client does not compile:\n${stdout}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build(join(client, 'dist'))
