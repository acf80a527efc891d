import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { boundedFetch } from './bounded-fetch.ts'

test('a redirect is returned and not followed (P3)', async (t) => {
  const listening = async (listener: RequestListener) => {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const trapped: string[] = []
  const trap = await listening((request, response) => {
    trapped.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  const provider = await listening((_, response) =>
    response.writeHead(307, { location: `${trap}/token` }).end(),
  )
  const exchange = { method: 'POST', body: 'client_secret=x', headers: {} }
  const { status } = await boundedFetch(`${provider}/token`, exchange, { fault: assert.fail })
  assert.deepEqual([status, trapped], [307, []])
})
