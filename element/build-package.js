// Builds the package `carillon-inbox`: JavaScript without comments, declarations with comments, and a manifest that names both.
// Lit and the client stay imports, so that an application has each of them once. client/build.js does the same for the client.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const element = fileURLToPath(new URL('.', import.meta.url))
const root = join(element, '..')

/**
 * Replaces the content of a folder by the package.
 * @param {string} folder @param {string} client the package of the client, for its declarations: its source would be compiled too
 */
export function buildPackage(folder, client) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const project = join(folder, 'tsconfig.json')
  const manifest = JSON.parse(readFileSync(join(element, 'package.json'), 'utf8'))
  writeFileSync(project, JSON.stringify(projectOf(manifest, client)))
  compile(project, folder, '--removeComments')
  compile(project, folder, '--declaration', '--emitDeclarationOnly')
  rmSync(project)
  // The bundler of build.js is a dependency of the checkout only.
  const { rolldown: _, ...dependencies } = manifest.dependencies
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([path, source]) => {
      const name = String(source).replace(/\.ts$/, '')
      return [path, { types: `${name}.d.ts`, default: `${name}.js` }]
    }),
  )
  const published = { ...manifest, scripts: undefined, devDependencies: undefined, dependencies, exports }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  copyFileSync(join(element, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** @param {{ exports: Record<string, string> }} manifest @param {string} client */
function projectOf(manifest, client) {
  return {
    extends: join(element, 'tsconfig.build.json'),
    compilerOptions: { paths: { 'carillon-client': [join(client, 'carillon-client.d.ts')] } },
    files: Object.values(manifest.exports).map((source) => join(element, String(source))),
  }
}

/** @param {string} project @param {string} folder @param {string[]} options */
function compile(project, folder, ...options) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [compiler, '--project', project, '--outDir', folder, ...options]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The element does not compile:\n${stdout}`)
}
