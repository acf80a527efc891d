// For tests: an application of examples/, copied to an empty folder and started there. Its packages are those of this checkout, in the
// same versions, and the client is the package that a release publishes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from '../../../client/build.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export type ExampleApplication = { url: string } & AsyncDisposable

/** Runs `npm start` of the example on a free port, or on `env.PORT`. */
export async function startExample(name: string, env: Record<string, string>): Promise<ExampleApplication> {
  const folder = mkdtempSync(join(tmpdir(), `carillon-${name}-`))
  cpSync(join(root, 'examples', name), folder, { recursive: true })
  linkPackages(folder)
  const path = [join(root, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH].join(delimiter)
  const { scripts } = manifestOf(folder)
  if (scripts.build) spawnSync(scripts.build, { cwd: folder, shell: true, env: { PATH: path } })
  const [program = '', ...args] = (scripts.start ?? '').replace(/^.*&& /, '').split(' ')
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: folder,
    env: { PATH: path, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url = ''] = await once(createInterface({ input: child.stdout }), 'line')
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Manifest = { scripts: Record<string, string>; dependencies: Record<string, string> }

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function linkPackages(folder: string): void {
  for (const name of Object.keys(manifestOf(folder).dependencies)) {
    const target = join(folder, 'node_modules', name)
    mkdirSync(dirname(target), { recursive: true })
    if (name === 'carillon-client') build(target)
    else symlinkSync(join(root, 'node_modules', name), target)
  }
}
