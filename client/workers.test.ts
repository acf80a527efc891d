// workerd is the runtime of Cloudflare Workers.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { freePort } from '../tests/support/network/free-port.ts'
import { startTestService } from '../tests/support/service.ts'

const app = await startTestService()
const folder = mkdtempSync(join(tmpdir(), 'carillon-workerd-'))
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await app.stop()
})

const script = `
import { createCarillon, createProducer } from ${JSON.stringify(fileURLToPath(new URL('./carillon-client.ts', import.meta.url)))}
export default {
  async fetch(request) {
    const { baseUrl, key, username, password } = await request.json()
    const found = {}
    try {
      const carillon = createCarillon({
        baseUrl,
        auth: async () => (await carillon.login({ username, password, variant: 'stateless' })).token,
      })
      const producer = createProducer({ baseUrl, key })
      found.results = (await producer.send({ recipients: [{ username }], title: 'One' })).results.length
      for await (const event of carillon.inbox.subscribe()) {
        if (event.type === 'hello') await producer.send({ recipients: [{ username }], title: 'Two' })
        if (event.type !== 'created') continue
        found.event = event.notification.title
        break
      }
      found.titles = (await carillon.inbox.list()).items.map(({ title }) => title)
    } catch (error) {
      found.error = error.code ?? String(error)
    }
    return Response.json(found)
  },
}
`

/** workerd's own start script is a second process, which would outlive the test. */
function program(): string {
  const cpu = process.arch === 'x64' ? '64' : process.arch
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return createRequire(import.meta.url).resolve(`@cloudflare/workerd-${system}-${cpu}/bin/workerd`)
}

async function startWorker(): Promise<{ url: string; stop: () => Promise<unknown> }> {
  writeFileSync(join(folder, 'worker.js'), script)
  const bundle = await rolldown({ input: join(folder, 'worker.js'), treeshake: true })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  writeFileSync(join(folder, 'bundle.js'), output[0].code)
  const port = await freePort()
  writeFileSync(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "bundle.js", esModule = embed "bundle.js")],
      compatibilityDate = "2026-01-01",
      globalOutbound = "network"
    )),
    (name = "network", network = (allow = ["private", "public"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);`,
  )
  const child = spawn(program(), ['serve', '--control-fd=3', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const ended = once(child, 'exit')
  const listens = once(child.stdio[3] as NodeJS.ReadableStream, 'data')
  await Promise.race([listens, ended.then(() => assert.fail('workerd does not start'))])
  const stop = () => {
    child.kill()
    return ended
  }
  return { url: `http://127.0.0.1:${port}/`, stop }
}

test('in Workers the client sends, signs in, follows a stream and lists; a redirect is UNREADABLE', async () => {
  const { username, password } = await app.user()
  const { key } = await app.producerKey()
  const redirecting = createServer((_, response) =>
    response.writeHead(307, { location: app.url }).end(),
  )
  await once(redirecting.listen(0, '127.0.0.1'), 'listening')
  const { port } = redirecting.address() as { port: number }
  const { url, stop } = await startWorker()
  try {
    const ask = async (baseUrl: string) => {
      const response = await fetch(url, {
        method: 'POST',
        body: JSON.stringify({ baseUrl, key, username, password }),
      })
      return response.json()
    }
    assert.deepEqual(await ask(app.url), { results: 1, event: 'Two', titles: ['Two', 'One'] })
    assert.deepEqual(await ask(`http://127.0.0.1:${port}`), { error: 'UNREADABLE' })
  } finally {
    await stop()
    redirecting.close()
  }
})
