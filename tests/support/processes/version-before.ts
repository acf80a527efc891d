// For tests: the service of the version before, so that its nodes can run beside the current ones on one database. Its files
// are packed in version-before.json.br, not taken from git: a shallow clone or an exported tree has no earlier commit, and a
// test must not skip there. It uses this checkout's packages. tools/pack-version-before.ts writes the file.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import type { Folder } from './carillon-process.ts'

export const versionBefore = new URL('./version-before.json.br', import.meta.url)

/** Unpacks it into the folder and returns the path of its launcher. */
export function unpackVersionBefore(folder: Folder): string {
  const { files } = JSON.parse(brotliDecompressSync(readFileSync(versionBefore)).toString()) as {
    files: Record<string, string>
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(folder.file(name)), { recursive: true })
    writeFileSync(folder.file(name), text)
  }
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), folder.file('node_modules'))
  const launcher = Object.keys(files).find((name) => name.endsWith('/launch.js'))
  return join(folder.path, launcher ?? '')
}
