// Copies an application of examples/ to a temporary folder, builds and starts it. Its packages are
// those of this checkout; client and element are the packages that a release publishes. The
// examples of one process share them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build as buildClient, buildElement } from '../../../client/build.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'carillon-examples-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))

const path = [join(root, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH].join(
  delimiter,
)
const packages = join(place, 'node_modules')
const ownPackages: Record<string, (folder: string) => void> = {
  'carillon-client': buildClient,
  'carillon-inbox': (folder) => buildElement(folder, join(packages, 'carillon-client')),
}

export type ExampleApplication = { url: string } & AsyncDisposable

/** Listens on a free port, or on `env.PORT`. */
export async function startExample(
  name: string,
  env: Record<string, string>,
): Promise<ExampleApplication> {
  const folder = join(place, name)
  if (!existsSync(folder)) await prepare(name, folder)
  const [program = '', ...args] = (manifestOf(folder).scripts.start ?? '')
    .replace(/^.*&& /, '')
    .split(' ')
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: folder,
    env: { PATH: path, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return {
    url: await addressIn(child.stdout),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

type Manifest = { scripts: Record<string, string> } & Record<
  'dependencies' | 'devDependencies' | 'peerDependencies',
  Record<string, string> | undefined
>

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

export function packagesOf(folder: string): [name: string, version: string][] {
  const { dependencies, devDependencies, peerDependencies } = manifestOf(folder)
  return Object.entries({ ...dependencies, ...devDependencies, ...peerDependencies })
}

async function prepare(name: string, folder: string): Promise<void> {
  cpSync(join(root, 'examples', name), folder, {
    recursive: true,
    filter: (source) => !/\/(node_modules|dist)$/.test(source),
  })
  for (const [needed] of packagesOf(folder)) link(needed)
  const { build } = manifestOf(folder).scripts
  if (build === undefined) return
  const child = spawn(build, {
    cwd: folder,
    shell: true,
    env: { PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [[status], ...output] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ])
  if (status !== 0) throw new Error(`The example ${name} cannot be built:\n${output.join('')}`)
}

function link(name: string): void {
  const target = join(packages, name)
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  const build = ownPackages[name]
  if (build === undefined) {
    symlinkSync(join(root, 'node_modules', name), target)
    return
  }
  build(target)
  for (const [needed] of packagesOf(target)) link(needed)
}

async function addressIn(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address === undefined) continue
    stdout.resume()
    return address
  }
  throw new Error('The example ended before it listened')
}
