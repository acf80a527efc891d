// `npm run pack`: builds the packages that a release publishes, the client, the element and the service, as files in dist/. npm installs
// them from there into any folder. docs/release.md has the steps of a release.
import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as buildClient } from '../client/build.js'
import { build as buildScripts } from '../element/build.js'
import { buildPackage as buildElement } from '../element/build-package.js'
import { bundle } from './bundle.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const server = join(root, 'server')

/** Returns the paths of the files. Replaces files of the same version. */
export async function pack(folder: string): Promise<string[]> {
  const staging = mkdtempSync(join(tmpdir(), 'carillon-pack-'))
  try {
    mkdirSync(folder, { recursive: true })
    buildClient(join(staging, 'client'))
    buildElement(join(staging, 'element'), join(staging, 'client'))
    await buildServer(join(staging, 'server'))
    return ['client', 'element', 'server'].map((name) => packed(join(staging, name), folder))
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** The client is inside the package of the service, so that one file is enough to install the service; the scripts of pages too. */
async function buildServer(folder: string): Promise<void> {
  run(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(server, 'tsconfig.build.json'),
    '--outDir',
    folder,
  ])
  for (const file of globSync('**/*.js', { cwd: folder })) nameWorkers(join(folder, file))
  for (const file of globSync('{bin/*.js,**/*.{sql,css}}', {
    cwd: server,
    // public/ and bundle/ may come from an earlier build. The next steps build both again.
    exclude: (name) => ['node_modules', 'public', 'bundle'].includes(name),
  })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(server, file), join(folder, file))
  }
  await bundle(join(folder, 'bundle'), folder)
  await buildScripts(join(folder, 'public'))
  buildClient(join(folder, 'node_modules', 'carillon-client'))
  const { optionalDependencies } = manifestOf(root)
  const published = {
    ...manifestOf(server),
    scripts: undefined,
    // What installs it and starts its launcher; the launcher starts the Node of the optional dependencies.
    engines: manifestOf(root).engines,
    optionalDependencies,
    bundleDependencies: ['carillon-client'],
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  copyFileSync(join(server, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The compiler rewrites imports, and not the file names of worker threads and processes. The demonstration is in the bundle alone. */
function nameWorkers(file: string): void {
  const code = readFileSync(file, 'utf8')
  const named = code
    .replaceAll(/(new URL\('[^']+)\.ts(', import\.meta\.url\))/g, '$1.js$2')
    .replace('../../demonstration/server/main.js', '../bundle/demonstration.js')
  if (named !== code) writeFileSync(file, named)
}

function packed(source: string, folder: string): string {
  const listed = run('npm', ['pack', source, '--pack-destination', folder, '--json', '--loglevel', 'error'])
  // npm 12 lists the packages by name.
  const [{ filename } = { filename: '' }] = Object.values(JSON.parse(listed) as Record<string, { filename: string }>)
  return join(folder, filename)
}

function manifestOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function run(program: string, args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${error ?? stdout + stderr}`)
  return stdout
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const file of await pack(join(root, 'dist'))) console.log(relative(process.cwd(), file))
