// Builds a package for npm: JavaScript without comments, declarations with comments, and a manifest
// that names both, because Node strips no types below node_modules. Plain JavaScript, so that any
// Node can run it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const client = fileURLToPath(new URL('.', import.meta.url))
const root = join(client, '..')

/**
 * Replaces the content of a folder by a package: what the manifest in `source` exports. `paths`: of the declarations of imports.
 * @param {string} folder @param {string} source @param {Record<string, string[]>} paths
 */
export function build(folder, source = client, paths = {}) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const sources = Object.entries(manifest.exports).filter(([, file]) =>
    String(file).endsWith('.ts'),
  )
  const files = sources.map(([, file]) => join(source, String(file)))
  const project = {
    extends: join(source, 'tsconfig.build.json'),
    compilerOptions: { paths },
    files,
  }
  compile(folder, project, '--removeComments')
  compile(folder, project, '--declaration', '--emitDeclarationOnly')
  const built = (/** @type {string} */ file) => ({
    types: file.replace(/ts$/, 'd.ts'),
    default: file.replace(/ts$/, 'js'),
  })
  /** @type {Record<string, unknown>} */
  const exports = Object.fromEntries(sources.map(([path, file]) => [path, built(String(file))]))
  // A script that is no module: the service worker.
  for (const [path, file] of Object.entries(manifest.exports)) {
    if (path in exports) continue
    exports[path] = file
    const script = {
      paths,
      moduleDetection: 'legacy',
      allowJs: true,
      checkJs: false,
      rootDir: source,
    }
    compile(
      folder,
      { ...project, compilerOptions: script, files: [join(source, file)] },
      '--removeComments',
    )
  }
  // The bundler is a dependency of the checkout only.
  const dependencies = manifest.dependencies && { ...manifest.dependencies, rolldown: undefined }
  const content = {
    ...manifest,
    scripts: undefined,
    devDependencies: undefined,
    dependencies,
    exports,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
  copyFileSync(join(source, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/**
 * The same for the package `carillon-inbox`. Lit and the client stay imports, so that an application has each of them once.
 * @param {string} folder @param {string} built the package of the client, for its declarations: its source would be compiled too
 */
export function buildElement(folder, built) {
  build(folder, join(root, 'element'), { 'carillon-client': [join(built, 'carillon-client.d.ts')] })
}

/** @param {string} folder @param {object} project the configuration of the compiler @param {string[]} options */
function compile(folder, project, ...options) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const configuration = join(folder, 'tsconfig.json')
  writeFileSync(configuration, JSON.stringify(project))
  const args = [compiler, '--project', configuration, '--outDir', folder, ...options]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  rmSync(configuration)
  if (status !== 0) throw new Error(`The package does not compile:\n${stdout}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build(join(client, 'dist'))
