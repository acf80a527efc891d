// Runs after an install, prints nothing and never fails it: links the Node from npm into node_modules/.bin, bundles the scripts that the
// service serves and the service itself, and fills the compile cache.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformNode } from '../server/bin/platform-node.js'

const link = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const found = platformNode()
const node = found && runs(found) ? found : undefined

// On Windows npm creates command files, not links.
if (node && process.platform !== 'win32' && !existsSync(link)) createLink(node)
build('element/build.js')
build('tools/bundle.js')
if (node) await compile(node)

/**
 * Puts the Node from npm first in the PATH of every npm script. npm before 11.12 drops the link that several optional
 * packages offer (npm/cli#4362). Without it scripts run under the machine's Node, and server/bin/launch.js finds the newer one.
 * @param {string} binary
 */
function createLink(binary) {
  try {
    rmSync(link, { force: true })
    symlinkSync(relative(dirname(link), binary), link)
  } catch {
    // A read-only or shared folder.
  }
}

/**
 * Fills server/.compile-cache (decision 0056). It keeps the functions that the first process compiled: those of a start. --help loads
 * every command. @param {string} binary
 */
async function compile(binary) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  const launcher = fileURLToPath(new URL('../server/bin/launch.js', import.meta.url))
  const env = { CARILLON_DATABASE_URL: `sqlite:${join(folder, 'carillon.db')}`, CARILLON_PORT: '0' }
  const service = spawn(binary, [launcher, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 30_000,
  })
  service.stdout.on('data', (text) => String(text).includes('is listening') && service.kill())
  await once(service, 'close').catch(() => {})
  spawnSync(binary, [launcher, '--help'], { env: {} })
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Fills server/public (decision 0038) or server/bundle (decision 0056), with the Node that installs. In a process of its own: the
 * bundler is native code. @param {string} script
 */
function build(script) {
  spawnSync(process.execPath, [fileURLToPath(new URL(`../${script}`, import.meta.url))], {
    timeout: 60_000,
  })
}

/** The packages are built for glibc: under musl the binary exists but does not start. @param {string} binary */
function runs(binary) {
  return spawnSync(binary, ['--version']).status === 0
}
