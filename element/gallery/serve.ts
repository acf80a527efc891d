// `npm run gallery`: serves the gallery on this machine. The page is bundled for each request, so that a reload shows a change of
// the source.
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { bundle } from '../build.js'

const folder = new URL('./', import.meta.url)
const font = (path: string) => new URL(import.meta.resolve(`@fontsource-variable/${path}`))
const files: Record<string, { type: string; url: URL }> = {
  '/': { type: 'text/html; charset=utf-8', url: new URL('gallery.html', folder) },
  '/gallery.css': { type: 'text/css; charset=utf-8', url: new URL('gallery.css', folder) },
  '/ada-okafor.svg': { type: 'image/svg+xml', url: new URL('ada-okafor.svg', folder) },
  '/jonas-weber.svg': { type: 'image/svg+xml', url: new URL('jonas-weber.svg', folder) },
  '/inter.woff2': { type: 'font/woff2', url: font('inter/files/inter-latin-wght-normal.woff2') },
  '/arabic.woff2': {
    type: 'font/woff2',
    url: font('noto-sans-arabic/files/noto-sans-arabic-arabic-wght-normal.woff2'),
  },
}
/** As strict as a page can be: no inline script or style, and nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'"
const usualPort = 7480

/** Port 0: any free one. */
export async function startGallery(port = 0): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    respond(new URL(request.url ?? '/', 'http://gallery').pathname, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(String(error))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server }
}

async function respond(path: string, response: ServerResponse): Promise<void> {
  response.setHeader('content-security-policy', policy)
  response.setHeader('cache-control', 'no-store')
  const file = files[path]
  const script = /^\/[\w-]+\.js$/.test(path) ? (await scripts()).get(path.slice(1)) : undefined
  if (file) response.writeHead(200, { 'content-type': file.type }).end(readFileSync(file.url))
  else if (script) response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script)
  else response.writeHead(404).end()
}

/** The script of the page, and by their names what it loads on demand. */
async function scripts(): Promise<Map<string, string>> {
  const bundled = await bundle({ gallery: fileURLToPath(new URL('gallery.ts', folder)) })
  return new Map(bundled.map(({ name, code }, at) => [at === 0 ? 'gallery.js' : name, code]))
}

if (import.meta.main) {
  const { url } = await startGallery(usualPort).catch(() => startGallery())
  console.log(`The gallery is at ${url}`)
}
