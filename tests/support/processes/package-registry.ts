// A registry for npm has the packages of a folder, as after a release, and passes requests for
// others to npm's own.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'

const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })
  .trim()
  .replace(/\/?$/, '/')

export async function startPackageRegistry(folder: string): Promise<{ url: string; stop(): void }> {
  const server = createServer(({ url: path = '' }, response) => {
    const name = basename(path)
    const known = packumentOf(folder, name, url())
    if (name.endsWith('.tgz')) response.end(readFileSync(join(folder, name)))
    else if (known === undefined)
      response.writeHead(302, { location: upstream + path.slice(1) }).end()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(known))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url: url(), stop: () => server.close() }
}

function packumentOf(folder: string, name: string, url: string): object | undefined {
  const [file] = globSync(`${name}-[0-9]*.tgz`, { cwd: folder })
  if (file === undefined) return undefined
  const path = join(folder, file)
  const manifest = JSON.parse(
    execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' }),
  )
  const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
  const versions = { [manifest.version]: { ...manifest, dist: { tarball: url + file, integrity } } }
  return { name, 'dist-tags': { latest: manifest.version }, versions }
}
