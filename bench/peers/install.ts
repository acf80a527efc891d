// Installs the packages of a peer into data/peers/, once, with the versions that the peer names. They are no dependencies of Carillon.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Peer } from './peer.ts'

const peersFolder = fileURLToPath(new URL('../../data/peers/', import.meta.url))

/** Returns the folder. Throws if npm fails, with its last lines. */
export async function install(peer: Peer, progress: (text: string) => void): Promise<string> {
  const folder = join(peersFolder, peer.folder)
  const { packages: dependencies, overrides } = peer
  const manifest = `${JSON.stringify({ private: true, type: 'module', dependencies, overrides }, null, 2)}\n`
  const installed = join(folder, 'installed.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === manifest) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), manifest)
  progress(`installing ${peer.name} into data/peers/${peer.folder}, which takes a minute or more`)
  await npmInstall(folder, progress)
  writeFileSync(installed, manifest)
  return folder
}

/** Native packages without a prebuilt binary are built with the headers beside this Node. */
function npmInstall(folder: string, progress: (text: string) => void): Promise<void> {
  const headers = join(dirname(process.execPath), '..')
  const child = spawn('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'], {
    cwd: folder,
    env: { ...process.env, npm_config_nodedir: headers },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (text: Buffer) => {
    complaint = (complaint + text).slice(-2_000)
  })
  const startedAt = performance.now()
  const ticking = setInterval(() => progress(`npm install: ${seconds(startedAt)} s`), 15_000)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => {
      clearInterval(ticking)
      if (status === 0) resolve()
      else reject(new Error(`npm install in ${folder} ended with status ${status}\n${complaint}`))
    })
  })
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(0)
}
