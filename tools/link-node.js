// After an install: is the Node from npm first in the PATH of every npm script? npm before 11.12 drops the link that
// several optional packages offer (npm/cli#4362), so this lays it again. Silent, and no install fails for its sake:
// without the link, scripts run under the machine's Node and server/launch.js finds the newer one.

import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformNode } from '../server/platform-node.js'

const link = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const node = platformNode()

// On Windows npm lays command files, not links.
if (node && process.platform !== 'win32' && !existsSync(link) && runs(node)) {
  try {
    rmSync(link, { force: true })
    symlinkSync(relative(dirname(link), node), link)
  } catch {
    // A read-only or shared folder: see above.
  }
}

/** The packages are built for glibc: under musl the binary is there and does not start. @param {string} binary */
function runs(binary) {
  return spawnSync(binary, ['--version']).status === 0
}
