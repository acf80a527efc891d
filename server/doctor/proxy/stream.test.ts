import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { type Spoil, startProxy } from '../../../tests/support/proxies/proxy.ts'
import { startTestService } from '../../../tests/support/service.ts'
import { probeToken } from '../../tokens/key-material.ts'
import { signingKeys } from '../../tokens/signing-keys.store.ts'
import { findUser } from '../../users/users.store.ts'
import { examineStream } from './stream.ts'

const service = await startTestService()
after(() => service.stop())
const { now } = service
const token = async () =>
  await probeToken({
    signingKeys: await service.store.read(signingKeys),
    secrets: { current: service.sealingSecret },
    issuer: service.url,
    now,
  })
/** What must arrive has all the time of a slow machine. */
const silentMs = 500
const patientMs = 60_000

async function through(spoil: Spoil, timeoutMs: number) {
  const proxy = await startProxy(service.url, spoil)
  try {
    return await examineStream(proxy.url, await token(), timeoutMs)
  } finally {
    await proxy.stop()
  }
}

test('accepts a proxy that passes a live stream on, and finds one that delays it', async () => {
  const good = await through({}, patientMs)
  assert.deepEqual([good.check, good.state], ['stream', 'ok'], JSON.stringify(good))
  const held = await through({ buffers: true }, silentMs)
  assert.deepEqual([held.check, held.state], ['stream', 'fault'])
  assert.match(held.found, /^nothing of a live stream arrived in 0\.5 s: the proxy delays it/)
  assert.match(held.change ?? '', /^nginx: proxy_buffering off;/)
})

test('finds a proxy that compresses a stream and so delays it', async () => {
  const header = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
  const server = createServer((_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      .write(header)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const compressed = await examineStream(`http://127.0.0.1:${port}`, 'any', silentMs)
    assert.deepEqual([compressed.check, compressed.state], ['stream', 'fault'])
    assert.match(compressed.found, /nothing of a live stream arrived/)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('warns if a stream cannot be checked, and says how to check it', async () => {
  const unproved = await examineStream(service.url, undefined)
  assert.deepEqual(
    [unproved.state, unproved.change?.startsWith('run doctor where the service runs')],
    ['warning', true],
  )
  const refused = await examineStream(service.url, 'nonsense', patientMs)
  assert.deepEqual(
    [refused.state, refused.change?.includes('CARILLON_PUBLIC_URL')],
    ['warning', true],
  )
  assert.doesNotMatch(
    refused.change ?? '',
    /proxy_set_header/,
    'no proxy is on the way to this machine',
  )
  const away = await examineStream(
    service.url.replace('127.0.0.1', '0.0.0.0'),
    'nonsense',
    patientMs,
  )
  assert.match(away.change ?? '', /; or nginx: proxy_set_header Authorization/)
})

test('the token of doctor opens no user’s inbox, lives for a minute, and cannot be renewed (T22)', async () => {
  const proof = { authorization: `Bearer ${await token()}` }
  const request = async (path: string, method = 'GET') =>
    await fetch(service.url + path, { method, headers: proof })
  const { sub } = JSON.parse(
    Buffer.from(proof.authorization.split('.')[1] ?? '', 'base64url').toString(),
  )
  assert.equal(await service.store.read(findUser, sub), undefined)
  const list = (await (await request('/api/notifications')).json()) as { data: { total: number } }
  assert.equal(list.data.total, 0)
  assert.equal((await request('/token/renew', 'POST')).status, 401)
  service.pass(61_000)
  assert.equal((await request('/api/notifications')).status, 401)
})
