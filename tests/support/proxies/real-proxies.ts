// Runs nginx, Caddy and Traefik with the files of docs/proxies/forward-authentication/, with other
// addresses, names and certificates. None comes from npm: a machine has those that were installed
// on it.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../network/free-port.ts'

export const realProxies = ['nginx', 'caddy', 'traefik'] as const
export type RealProxy = (typeof realProxies)[number]

type Places = { folder: string; carillon: string; application: string; port: number }
type Prepared = { args: string[] }

/** Returns undefined if the program is not on this machine. */
export function versionOf(proxy: RealProxy): string | undefined {
  const { error, stdout, stderr } = spawnSync(proxy, [proxy === 'nginx' ? '-v' : 'version'], {
    encoding: 'utf8',
  })
  if (error !== undefined) return undefined
  const [version] = /\d+\.\d+\.\d+/.exec(`${stdout}${stderr}`) ?? []
  return version ?? 'of an unknown version'
}

/**
 * `carillon`, `application`: the host and port of each. Waits until the proxy accepts connections.
 */
export async function startRealProxy(proxy: RealProxy, places: Omit<Places, 'port'>) {
  const port = await freePort()
  const { args } = prepare[proxy]({ ...places, port })
  // Caddy keeps its last configuration in the home folder.
  const env = { ...process.env, HOME: places.folder }
  const child = spawn(proxy, args, { cwd: places.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${proxy} ended: ${output}`)
    await sleep(20)
  }
  return {
    port,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Traefik responds 404 until it has read its file. `fetch` would send another Host. */
async function accepts(port: number): Promise<boolean> {
  const sent = get({
    host: '127.0.0.1',
    port,
    path: '/livez',
    agent: false,
    headers: { host: 'home.example.org' },
  })
  try {
    const [response] = await once(sent, 'response')
    response.resume()
    return response.statusCode === 200
  } catch {
    return false
  }
}

function fileOf(name: string, { carillon, application }: Places): string {
  const text = readFileSync(join('docs/proxies/forward-authentication', name), 'utf8')
  return text.replaceAll('127.0.0.1:7464', carillon).replaceAll('127.0.0.1:3000', application)
}

function write(folder: string, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const prepare: Record<RealProxy, (places: Places) => Prepared> = {
  nginx(places) {
    const { folder, port } = places
    const server = fileOf('nginx.conf', places)
      .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
      .replaceAll(/^ *ssl_certificate.*$/gm, '')
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder};`,
    )
    const http = `http { access_log off; ${temporary.join(' ')}\n${server}}\n`
    const head = `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\n`
    return { args: ['-e', 'stderr', '-p', folder, '-c', write(folder, 'nginx.conf', head + http)] }
  },
  caddy(places) {
    const { folder, port } = places
    const site = fileOf('Caddyfile', places).replace(
      'home.example.org {',
      `http://home.example.org:${port} {`,
    )
    const head = '{\n\tadmin off\n\tauto_https off\n}\n'
    return {
      args: ['run', '--adapter', 'caddyfile', '--config', write(folder, 'Caddyfile', head + site)],
    }
  },
  traefik(places) {
    const { folder, port } = places
    mkdirSync(join(folder, 'dynamic'))
    write(
      folder,
      'dynamic/home.yml',
      fileOf('traefik.yml', places).replaceAll(/^ *tls: \{\}$/gm, ''),
    )
    const settings = [
      `entryPoints: { web: { address: "127.0.0.1:${port}" } }`,
      `providers: { file: { directory: "${folder}/dynamic", watch: false } }`,
      'global: { checkNewVersion: false, sendAnonymousUsage: false }',
    ]
    return { args: [`--configFile=${write(folder, 'static.yml', settings.join('\n'))}`] }
  },
}
