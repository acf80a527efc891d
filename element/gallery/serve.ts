// `npm run gallery`: serves the gallery on this machine. A reload shows a change.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { bundle } from '../build.js'

const place = (path: string) => new URL(path, import.meta.url)
const font = (path: string) => new URL(import.meta.resolve(`@fontsource-variable/${path}`))
export const files: Record<string, readonly [type: string, url: URL]> = {
  '/': ['text/html; charset=utf-8', place('gallery.html')],
  '/gallery.css': ['text/css; charset=utf-8', place('gallery.css')],
  '/ada-okafor.svg': ['image/svg+xml', place('ada-okafor.svg')],
  '/jonas-weber.svg': ['image/svg+xml', place('jonas-weber.svg')],
  '/inter.woff2': ['font/woff2', font('inter/files/inter-latin-wght-normal.woff2')],
  '/arabic.woff2': [
    'font/woff2',
    font('noto-sans-arabic/files/noto-sans-arabic-arabic-wght-normal.woff2'),
  ],
}
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'"
const usualPort = 7480

export async function startGallery(port = 0): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    respond(new URL(request.url ?? '/', 'http://gallery').pathname, response).catch(
      (error: unknown) => {
        response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(String(error))
      },
    )
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server }
}

async function respond(path: string, response: ServerResponse): Promise<void> {
  const [type = 'text/javascript; charset=utf-8', url] = files[path] ?? []
  const content = url ? readFileSync(url) : (await scripts()).get(path)
  const fields = {
    'content-type': type,
    'content-security-policy': policy,
    'cache-control': 'no-store',
  }
  response.writeHead(content ? 200 : 404, fields).end(content)
}

export async function scripts(): Promise<Map<string, string>> {
  const bundled = await bundle({ gallery: fileURLToPath(place('gallery.ts')) })
  return new Map(bundled.map(({ name, code }, at) => [at === 0 ? '/gallery.js' : `/${name}`, code]))
}

if (import.meta.main) {
  const { url } = await startGallery(usualPort).catch(() => startGallery())
  console.log(`The gallery is at ${url}`)
}
