// Builds the package `carillon-inbox`. Lit and the client stay imports, so that an application has each of them once.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from '../client/build.js'

/**
 * Replaces the content of a folder by the package.
 * @param {string} folder @param {string} client the package of the client, for its declarations: its source would be compiled too
 */
export function buildPackage(folder, client) {
  const declarations = join(client, 'carillon-client.d.ts')
  build(folder, fileURLToPath(new URL('.', import.meta.url)), { 'carillon-client': [declarations] })
}
