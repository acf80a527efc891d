// Copies the service of this commit into a folder, as it is or turned into a next version.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Folder } from './carillon-process.ts'

/** `files`: the text of each file that only the copy has, by its path in `server/`. */
type Changes = { version?: string; files?: Readonly<Record<string, string>> }

export function copyOfProgram(folder: Folder, { version, files = {} }: Changes = {}): string {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  cpSync(`${root}server`, folder.file('server'), {
    recursive: true,
    filter: (path) => !/\.test\.ts$|\/(bundle|node_modules|\.compile-cache)$/.test(path),
  })
  cpSync(`${root}package.json`, folder.file('package.json'))
  symlinkSync(`${root}node_modules`, folder.file('node_modules'))
  for (const [name, text] of Object.entries(files))
    writeFileSync(folder.file(`server/${name}`), text)
  if (version !== undefined) {
    const manifest = JSON.parse(readFileSync(folder.file('server/package.json'), 'utf8'))
    writeFileSync(folder.file('server/package.json'), JSON.stringify({ ...manifest, version }))
  }
  return folder.file('server/bin/launch.js')
}

/** The migration of a next version changes nothing on the other engine. */
export function migrationFiles(
  engine: 'sqlite' | 'postgres',
  text: string,
): Record<string, string> {
  return { 'store/schema/9999-invented.sql': `-- ${engine}:\n${text}\n` }
}
